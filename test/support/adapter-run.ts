/** Runs an adapter over a folder, as sync does: units, then each unit's events, with cursors kept by unit. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Adapter, Lineage } from "../../src/adapters/kit/adapter/index.ts";
import type {
  AdapterEnv,
  AdapterYield,
  Cursor,
  Issue,
  OpenedPlace,
  Place,
  ReadState,
  Unit,
} from "../../src/adapters/kit/sources/index.ts";
import type { FileComparison, RestoredFile, SerializeOptions } from "../../src/adapters/kit/restore/index.ts";
import type { JsonValue } from "../../src/base/json/json.ts";
import { parseJson, stringifyJson } from "../../src/base/json/json.ts";
import { FileComparer } from "../../src/adapters/kit/restore/index.ts";
import type { Event } from "../../src/model/index.ts";
import type { SessionState } from "../../src/model/events/index.ts";
import { replay } from "../../src/model/events/index.ts";

/** Long after any file was written, so that nothing waits for more. */
export const LATER = Date.UTC(2100, 0, 1);

export const NOWHERE: AdapterEnv = { env: {}, home: "/nowhere", platform: "linux", scratch: tmpdir() };

export const SOURCE_LAYOUT: SerializeOptions = {
  fidelity: "native",
  layout: "source",
  mapPath: (path) => path,
  now: 0,
};

export interface UnitRun {
  readonly events: readonly Event[];
  readonly issues: readonly Issue[];
  /** Why the unit could not be told yet. */
  readonly waiting: readonly string[];
  /** Sessions that another unit holds in a newer form. */
  readonly superseded: readonly { readonly session: string; readonly differences: number }[];
  /** What the unit holds of each session that was told to its end. */
  readonly states: readonly { readonly session: string; readonly state: ReadState }[];
  /** The last checkpoint, and as text what it said of the prefix before it. */
  readonly cursor: Cursor | undefined;
  readonly prefix: string | undefined;
}

export interface ReadAt {
  readonly root: string;
  readonly cursor?: Cursor | undefined;
  /** Keeps prefixes from the first byte on: the one of the cursor, if there is any. Absent: they are not kept. */
  readonly kept?: { readonly prefix: string | undefined };
  readonly now?: number;
}

/** The units of a folder; issues of the listing come apart. */
export async function listUnits(
  adapter: Adapter,
  root: string,
): Promise<{ readonly units: readonly Unit[]; readonly issues: readonly Issue[] }> {
  await using opened = await openAt(adapter, root);
  return unitsOf(opened);
}

export async function unitsOf(
  opened: OpenedPlace,
): Promise<{ readonly units: readonly Unit[]; readonly issues: readonly Issue[] }> {
  const units: Unit[] = [];
  const issues: Issue[] = [];
  for await (const batch of opened.units())
    for (const item of batch)
      if ("key" in item) units.push(item);
      else issues.push(item);
  return { units, issues };
}

/** The events of one unit, from the cursor on where one is given; by a place that was opened for this unit alone. */
export async function readUnit(adapter: Adapter, unit: Unit, { root, ...at }: ReadAt): Promise<UnitRun> {
  await using opened = await openAt(adapter, root);
  return readOpened(opened, unit, at);
}

/** The same by an opened place. */
export async function readOpened(
  opened: OpenedPlace,
  unit: Unit,
  at: Omit<ReadAt, "root"> = {},
): Promise<UnitRun> {
  const events: Event[] = [];
  const issues: Issue[] = [];
  const waiting: string[] = [];
  const superseded: UnitRun["superseded"][number][] = [];
  const states: UnitRun["states"][number][] = [];
  let { cursor } = at;
  let prefix: string | undefined;
  const { kept } = at;
  const load = (): Promise<JsonValue | undefined> =>
    Promise.resolve(kept?.prefix === undefined ? undefined : parseJson(kept.prefix));
  const request = {
    now: at.now ?? LATER,
    ...(cursor === undefined ? {} : { cursor }),
    ...(kept === undefined ? {} : { prefix: { load, least: 1 } }),
  };
  for await (const batch of opened.read(unit, request))
    for (const item of batch as readonly AdapterYield[]) {
      if (item.kind === "issue") issues.push(item.issue);
      else if (item.kind === "waiting") waiting.push(item.reason);
      else if (item.kind === "superseded") superseded.push(item);
      else if (item.kind === "state") states.push(item);
      else if (item.kind === "record") continue;
      else if (item.kind === "checkpoint") {
        cursor = item.cursor;
        prefix = item.prefix === undefined ? undefined : stringifyJson(item.prefix);
      } else events.push(item);
    }
  return { events, issues, waiting, superseded, states, cursor, prefix };
}

/** Every unit of a folder, each from its start. */
export async function readFolder(
  adapter: Adapter,
  root: string,
): Promise<readonly (UnitRun & { unit: Unit })[]> {
  await using opened = await openAt(adapter, root);
  const { units } = await unitsOf(opened);
  const runs: (UnitRun & { unit: Unit })[] = [];
  for (const unit of units) runs.push({ unit, ...(await readOpened(opened, unit)) });
  return runs;
}

/** Sessions with the sessions that name them as their parent, to any depth; roots first. */
export function lineagesOf(states: readonly SessionState[]): readonly Lineage[] {
  const known = new Set<string>(states.map(({ session }) => session.id));
  const build = (state: SessionState): Lineage => ({
    state,
    children: states
      .filter(({ session }) => session.parent_session_id === state.session.id)
      .map((child) => build(child)),
  });
  return states
    .filter(({ session }) => session.parent_session_id === undefined || !known.has(session.parent_session_id))
    .map((state) => build(state));
}

/** Native restore of events at their recorded paths. */
export async function restoreNative(
  adapter: Adapter,
  events: readonly Event[],
): Promise<readonly RestoredFile[]> {
  if (adapter.restore.kind !== "supported") return [];
  const files: RestoredFile[] = [];
  for (const state of replay(events))
    files.push(...(await adapter.restore.serialize({ state, children: [] }, SOURCE_LAYOUT)).files);
  return files;
}

/** Restored files against their sources below `root`. */
export async function compareAll(
  files: readonly RestoredFile[],
  root: string,
): Promise<readonly FileComparison[]> {
  const comparisons: FileComparison[] = [];
  await using comparer = new FileComparer(NOWHERE.scratch, LATER);
  for (const file of files) comparisons.push(await comparer.compare(file, join(root, file.path)));
  return comparisons;
}

export function openAt(adapter: Adapter, root: string): Promise<OpenedPlace> {
  return adapter.open(placeAt(root), NOWHERE);
}

export function placeAt(root: string): Place {
  return { path: root, origin: "default" };
}
