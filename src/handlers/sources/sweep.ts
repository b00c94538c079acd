/** The stat sweep: every source of every client, and which of them changed since their cursor. Opens no file. */
import { sep } from "node:path";
import type { Adapter, Cursor, Issue, OpenedPlace, Place, Unit } from "../../adapters/index.ts";
import { keysBelow, stampText, stampTextOf } from "../../adapters/registry.ts";
import { toPondError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import type { Cursors, SourceName } from "../../state/index.ts";
import type { SourceFilter } from "../../wire/sources.ts";
import type { Context } from "../context/context.ts";
import type { ClientPlaces } from "./sources.ts";
import { findSources } from "./sources.ts";

/** A source that must be read. */
export interface Stale {
  readonly unit: Unit;
  /** The place that it was found in, which reads it. */
  readonly opened: OpenedPlace;
  readonly bytes: number;
}

export interface Sweep {
  readonly adapter: Adapter;
  readonly places: readonly OpenedPlace[];
  readonly seen: number;
  readonly bytes: number;
  /** Milliseconds since 1970 of the newest change; 0 when nothing was seen. */
  readonly newest: number;
  /** Taken out as they are read: of hundreds of thousands none is held that is done. */
  readonly stale: Stale[];
  /** How many there were. */
  readonly staleUnits: number;
  readonly staleBytes: number;
  readonly issues: readonly Issue[];
}

/** What was found, client by client. Its places are open until it is disposed of: they read what is stale. */
export class Sweeps implements AsyncDisposable {
  readonly clients: readonly Sweep[];
  readonly #opened: readonly OpenedPlace[];

  constructor(clients: readonly Sweep[], opened: readonly OpenedPlace[]) {
    this.clients = clients;
    this.#opened = opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const place of this.#opened) await place[Symbol.asyncDispose]();
  }
}

/** Of the sources of a place those that are looked at, where that is not all. */
export type IsWanted = (adapter: Adapter, place: Place, unit: Unit) => boolean;

interface SweepFilter extends SourceFilter {
  readonly isWanted?: IsWanted | undefined;
}

/** One entry per client that has a place; without cursors everything is stale. */
export async function sweepSources(
  context: Context,
  { isWanted, ...filter }: SweepFilter,
  cursors: Cursors | undefined,
): Promise<Sweeps> {
  const sources = await findSources(context, filter);
  const found = sources.filter(({ places, issues }) => places.length + issues.length > 0);
  return sweepClients(context, found, { cursors, isWanted });
}

/** Everything of every enabled client, those without a place too. */
export async function sweepEverything(context: Context, filter: SourceFilter): Promise<Sweeps> {
  const sources = await findSources(context, filter);
  return sweepClients(
    context,
    sources.filter(({ enabled }) => enabled),
    {},
  );
}

interface Choice {
  readonly cursors?: Cursors | undefined;
  readonly isWanted?: IsWanted | undefined;
}

async function sweepClients(
  context: Context,
  sources: readonly ClientPlaces[],
  choice: Choice,
): Promise<Sweeps> {
  const clients: Sweep[] = [];
  const opened: OpenedPlace[] = [];
  const sweeps = new Sweeps(clients, opened);
  try {
    for (const { adapter, places: found, issues } of sources) {
      const places: OpenedPlace[] = [];
      const faults: Issue[] = [];
      for (const place of found) {
        try {
          places.push(await adapter.open(place, context.machine));
        } catch (error) {
          context.signal.throwIfAborted();
          faults.push(placeIssue(adapter, place, error));
        }
      }
      opened.push(...places);
      clients.push(await sweepClient(context, { adapter, places, issues: [...issues, ...faults] }, choice));
    }
    return sweeps;
  } catch (error) {
    await sweeps[Symbol.asyncDispose]();
    throw error;
  }
}

async function sweepClient(
  context: Context,
  { adapter, places, issues: absent }: Pick<Sweep, "adapter" | "places" | "issues">,
  { cursors, isWanted }: Choice,
): Promise<Sweep> {
  const stale: Stale[] = [];
  const issues = [...absent];
  const totals = { seen: 0, bytes: 0, newest: 0, staleBytes: 0 };
  // Places may lie inside one another, by whatever path: a source is that of the first that holds it.
  const claimed = new Set<string>();
  for (const opened of places) {
    const { place } = opened;
    const meant = place.files ?? place.within;
    const folders = meant?.filter((path) => path.endsWith(sep)) ?? [];
    const named = new Set(meant);
    const missed = new Set(meant).difference(new Set(folders));
    const isMeant = (path: string): boolean =>
      named.has(path) || folders.some((folder) => (path + sep).startsWith(folder));
    const own: string[] = [];
    const look = (found: Unit): void => {
      if (isWanted?.(adapter, place, found) === false) return;
      if (meant !== undefined) {
        const wanted = found.files.filter(({ path }) => isMeant(path));
        if (wanted.length === 0) return;
        for (const { path } of wanted) missed.delete(path);
      }
      if (places.length > 1) {
        if (found.files.length > 0 && found.files.every((file) => claimed.has(stampTextOf(file)))) return;
        for (const file of found.files) own.push(stampTextOf(file));
      }
      let bytes = 0;
      for (const { size, mtime } of found.files) {
        bytes += size;
        totals.newest = Math.max(totals.newest, mtime);
      }
      totals.seen += 1;
      totals.bytes += bytes;
      if (cursors !== undefined && isFresh(cursors, sourceName(adapter, place, found), found)) return;
      stale.push({ unit: found, opened, bytes });
      totals.staleBytes += bytes;
    };
    try {
      for await (const batch of opened.units(context.signal))
        for (const found of batch) {
          if (!("kind" in found)) look(found);
          else if (place.within === undefined || isMeant(found.path)) issues.push(found);
        }
    } catch (error) {
      // One place that cannot be looked through holds nothing else back (spec.md#sync-summary).
      context.signal.throwIfAborted();
      issues.push(placeIssue(adapter, place, error));
    }
    for (const file of own) claimed.add(file);
    for (const path of missed) issues.push(notItsFile(adapter, path));
  }
  return { adapter, places, ...totals, stale, staleUnits: stale.length, issues };
}

/** A place that cannot be opened or looked through. */
function placeIssue({ name }: Adapter, { path }: Place, error: unknown): Issue {
  return { kind: "unreadable", adapter: name, path, message: toPondError(error).message };
}

function notItsFile({ name, title }: Adapter, path: string): Issue {
  return { kind: "unexpected_shape", adapter: name, path, message: `${title} has no session in such a file` };
}

/** The same sweep without the sources that another sync has read meanwhile; those that are left move to it. */
export function onlyStale(sweep: Sweep, cursors: Cursors): Sweep {
  const stale = sweep.stale.filter(
    ({ unit, opened }) => !isFresh(cursors, sourceName(sweep.adapter, opened.place, unit), unit),
  );
  sweep.stale.length = 0;
  const staleBytes = stale.reduce((sum, { bytes }) => sum + bytes, 0);
  return { ...sweep, stale, staleUnits: stale.length, staleBytes };
}

export function sourceName(adapter: Adapter, place: Place, unit: Unit): SourceName {
  return { adapter: adapter.name, root: place.path, key: unit.key };
}

/** Nothing of the unit can have changed: the same files, each with the stamp that was committed. */
export function isFresh(cursors: Cursors, source: SourceName, unit: Unit): boolean {
  const [only, ...others] = unit.files;
  if (only !== undefined && others.length === 0) return cursors.isFresh(source, stampTextOf(only));
  const keyOf = keysBelow(source.root);
  return cursors.isFresh(
    source,
    stampText(Object.fromEntries(unit.files.map((file) => [keyOf(file.path), file]))),
  );
}

export function isCursor(value: JsonValue | undefined): value is JsonValue & Cursor {
  return isJsonObject(value) && isJsonObject(value["files"]);
}
