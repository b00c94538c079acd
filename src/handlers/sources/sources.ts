/** Which clients and places a command looks at: the named ones, else the settings, else what is found. */
import type { Stats } from "node:fs";
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Adapter, Issue, Place } from "../../adapters/index.ts";
import { clientNamed, clientsOf, placesThatExist } from "../../adapters/registry.ts";
import { errnoOf, PondError, toPondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { nearest } from "../../base/nearest.ts";
import { fromHome } from "../../base/files/folders.ts";
import { describeSource } from "../../config/index.ts";
import type { SourceFilter } from "../../wire/sources.ts";
import type { Context } from "../context/context.ts";

export interface ClientPlaces {
  readonly adapter: Adapter;
  readonly places: readonly Place[];
  /** Where the client itself would keep sessions, there or not; none for one that is not enabled. */
  readonly own: readonly Place[];
  readonly enabled: boolean;
  /** Paths of the settings that cannot be looked at, and an adapter that cannot say where to look. */
  readonly issues: readonly Issue[];
}

export async function findSources(context: Context, filter: SourceFilter = {}): Promise<ClientPlaces[]> {
  const chosen =
    filter.adapters === undefined
      ? clientsOf(context)
      : [...new Set(filter.adapters)].map((name) => requireAdapter(context, name));
  if (filter.paths !== undefined && chosen.length !== 1)
    throw new PondError(
      "validation_failed",
      sentence`${{ field: "paths" }} needs to know whose sessions they are`,
      {
        hint: sentence`name one client with ${{ field: "adapters" }} (${clientsOf(context)
          .map(({ name }) => name)
          .join(", ")})`,
        data: { field: "paths", value: filter.paths },
      },
    );
  for (const { path, source } of context.config.settings)
    if (path[0] === "adapters")
      requireAdapter(context, path[1] ?? "", `${path.join(".")} (${describeSource(source)}): `);
  const sources: ClientPlaces[] = [];
  for (const adapter of chosen) {
    const settings = context.config.values.adapters?.[adapter.name];
    const enabled = filter.adapters !== undefined || settings?.enabled !== false;
    const found = enabled
      ? await placesOf(context, adapter, filter.paths)
      : { own: [], places: [], issues: [] };
    sources.push({ adapter, enabled, ...found });
  }
  return sources;
}

async function placesOf(
  context: Context,
  adapter: Adapter,
  paths: readonly string[] | undefined,
): Promise<Pick<ClientPlaces, "own" | "places" | "issues">> {
  const { own, issues } = ownPlaces(context, adapter);
  const there = await placesThatExist(own);
  if (paths !== undefined) {
    const named = paths.map((path) => requirePath(path, context.machine.home));
    return { own, places: placesAt(named, there, "request"), issues };
  }
  const configured = context.config.values.adapters?.[adapter.name]?.paths;
  if (configured === undefined) return { own, places: there, issues };
  const statuses = configured.map((path) => inspect(path));
  const missing = statuses.filter((status) => !isThere(status));
  return {
    own,
    places: placesAt(statuses.filter(isThere), there, "config"),
    issues: [...issues, ...missing.map((status) => absent(context, adapter, status))],
  };
}

/** One client that cannot say where it keeps sessions holds no other back (spec.md#sync-summary). */
function ownPlaces({ machine }: Context, adapter: Adapter): Pick<ClientPlaces, "own" | "issues"> {
  try {
    return { own: adapter.defaultPlaces(machine), issues: [] };
  } catch (error) {
    const { message } = toPondError(error);
    return { own: [], issues: [{ kind: "unreadable", adapter: adapter.name, path: machine.home, message }] };
  }
}

interface PathStatus {
  readonly path: string;
  readonly stats: Stats | undefined;
  /** Why there are no stats. */
  readonly fault?: string;
}

type Found = PathStatus & { readonly stats: Stats };

const isThere = (status: PathStatus): status is Found => status.stats !== undefined;

function inspect(path: string): PathStatus {
  try {
    return { path, stats: statSync(path) };
  } catch (error) {
    const isAbsent = errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR";
    return {
      path,
      stats: undefined,
      fault: isAbsent ? "there is no such file or folder" : toPondError(error).message,
    };
  }
}

/** A path as a person types it, made absolute. */
export function namedPath(named: string, home: string): string {
  return resolve(fromHome(named, home));
}

function requirePath(named: string, home: string): Found {
  const status = inspect(namedPath(named, home));
  if (isThere(status)) return status;
  throw new PondError("not_found", sentence`${{ field: "paths" }} ${named}: ${status.fault ?? ""}`, {
    hint: "check the path",
    data: { field: "paths", value: named },
  });
}

/**
 * What is named twice, by whatever path, is one place. What stands in a place of the client's own is of that place, or its
 * sources would have other names by each path to them. A file elsewhere stands for itself in the folder that holds it.
 */
function placesAt(found: readonly Found[], own: readonly Place[], origin: Place["origin"]): readonly Place[] {
  const distinct = new Map(
    found.toReversed().map((status) => [`${status.stats.dev}:${status.stats.ino}`, status] as const),
  );
  const whole = new Set<Place>();
  const within = new Map<Place, string[]>();
  const folders: Place[] = [];
  const files = new Map<string, string[]>();
  for (const { path, stats } of [...distinct.values()].toReversed()) {
    const isFolder = stats.isDirectory();
    const holder = own.find((place) => place.files === undefined && isIn(place.path, path));
    const inner = holder && pathIn(holder.path, path);
    if (holder !== undefined && inner === holder.path) whole.add(holder);
    else if (holder !== undefined && inner !== undefined)
      addTo(within, holder, isFolder ? inner + sep : inner);
    else if (isFolder) {
      for (const place of own) if (isIn(path, place.path)) whole.add(place);
      folders.push({ path: path, origin });
    } else addTo(files, dirname(path), path);
  }
  return [
    ...whole,
    ...[...within].map(([place, paths]): Place => ({ ...place, within: paths })),
    ...folders,
    ...[...files].map(([path, paths]): Place => ({ path, files: paths, origin })),
  ];
}

function addTo<K>(lists: Map<K, string[]>, key: K, item: string): void {
  if (lists.get(key)?.push(item) === undefined) lists.set(key, [item]);
}

/** The path as it is spelled from the folder on; undefined where it is neither the folder nor below it. */
function pathIn(folder: string, path: string): string | undefined {
  for (const resolved of [(named: string) => named, realpathSync]) {
    const way = relative(resolved(folder), resolved(path));
    if (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return join(folder, way);
  }
  return undefined;
}

const isIn = (folder: string, path: string): boolean => pathIn(folder, path) !== undefined;

function absent({ config }: Context, { name }: Adapter, { path, fault }: PathStatus): Issue {
  const setting = config.settings.find((each) => each.path.join(".") === `adapters.${name}.paths`);
  const by = setting === undefined ? "the settings" : describeSource(setting.source);
  const message = `${fault}, though adapters.${name}.paths names it (${by}): correct the path, or remove it`;
  return { kind: "unreadable", adapter: name, path, message };
}

/** A section of the settings for a client that nobody knows would count for nothing, so it is refused as a flag's is. */
function requireAdapter(context: Context, name: string, where = ""): Adapter {
  const adapter = clientNamed(context, name);
  if (adapter !== undefined) return adapter;
  const names = clientsOf(context).map((candidate) => candidate.name);
  const guess = nearest(name, names);
  throw new PondError("validation_failed", `${where}there is no client named ${name}`, {
    hint: guess === undefined ? `one of: ${names.join(", ")}` : `did you mean ${guess}?`,
    data: { field: "adapters", value: name },
  });
}
