/** Which clients and places a command looks at: `--adapter` and `--path`, else the settings, else what is found. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Adapter, Place } from "../adapters/index.ts";
import { adapterNamed, adapters } from "../adapters/registry.ts";
import { PondError } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import type { Context } from "./context.ts";

export interface SourceFilter {
  /** Names of clients; all enabled ones when absent. */
  readonly adapters?: readonly string[];
  /** Folders or files to read instead; needs exactly one client. */
  readonly paths?: readonly string[];
}

export interface ClientPlaces {
  readonly adapter: Adapter;
  readonly places: readonly Place[];
  readonly enabled: boolean;
}

export async function findSources(context: Context, filter: SourceFilter = {}): Promise<ClientPlaces[]> {
  const chosen = filter.adapters === undefined ? adapters() : filter.adapters.map(requireAdapter);
  if (filter.paths !== undefined && chosen.length !== 1)
    throw new PondError("validation_failed", "--path needs to know whose sessions they are", {
      hint: `name one client with --adapter (${adapters()
        .map(({ name }) => name)
        .join(", ")})`,
    });
  const sources: ClientPlaces[] = [];
  for (const adapter of chosen) {
    const settings = context.config.values.adapters?.[adapter.name];
    const named = filter.adapters !== undefined;
    const enabled = named || settings?.enabled !== false;
    sources.push({ adapter, enabled, places: enabled ? await placesOf(context, adapter, filter.paths) : [] });
  }
  return sources;
}

async function placesOf(
  context: Context,
  adapter: Adapter,
  paths: readonly string[] | undefined,
): Promise<readonly Place[]> {
  if (paths !== undefined) return Promise.all(paths.map((path) => requirePlace(path)));
  const configured = context.config.values.adapters?.[adapter.name]?.paths;
  if (configured !== undefined) return configured.map((root) => ({ root, origin: "config" as const }));
  return adapter.places(context.machine);
}

/** A file stands for itself in the folder that holds it. */
async function requirePlace(path: string): Promise<Place> {
  const named = resolve(path);
  const stats = await stat(named).catch(() => undefined);
  if (stats === undefined)
    throw new PondError("not_found", `--path ${path}: there is no such file or folder`, {
      hint: "check the path",
    });
  if (stats.isDirectory()) return { root: named, origin: "flag" };
  return { root: dirname(named), file: named, origin: "flag" };
}

function requireAdapter(name: string): Adapter {
  const adapter = adapterNamed(name);
  if (adapter !== undefined) return adapter;
  const names = adapters().map((candidate) => candidate.name);
  const guess = nearest(name, names);
  throw new PondError("validation_failed", `there is no client named ${name}`, {
    hint: guess === undefined ? `one of: ${names.join(", ")}` : `did you mean ${guess}?`,
  });
}
