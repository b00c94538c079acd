/**
 * The questions that a history asks pond, each in one function.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { adapterNamed } from "../../../src/adapters/index.ts";
import type { RestoredFile } from "../../../src/adapters/restore.ts";
import type { JsonValue } from "../../../src/base/json/json.ts";
import type { Context } from "../../../src/handlers/index.ts";
import { search, verify } from "../../../src/handlers/index.ts";
import { loadTree, stateOf } from "../../../src/model/tree/index.ts";
import { sessionId } from "../../../src/model/index.ts";
import type { RecordedState } from "../../../src/sessions/states/index.ts";
import { readerId } from "../../../src/state/index.ts";
import { isRawLine } from "../../../src/adapters/kit/files/index.ts";
import { SOURCE_LAYOUT } from "../adapter-run.ts";
import { canonicalRow } from "./opencode.ts";
import type { Records } from "./source-model.ts";
import { canonical, canonicalBytes } from "./source-model.ts";

export interface StateName {
  readonly adapter: string;
  /** As it is stored. */
  readonly session: string;
  /** The folder that was synced. */
  readonly place: string;
  /** The log, info file or database, below the place. */
  readonly path: string;
}

/** What a native restore of the newest recorded state of a source writes, where the source had it. */
export async function restoreState(context: Context, name: StateName): Promise<Records> {
  // The place may be gone by now, what is above it is not.
  const place = join(realpathSync(dirname(name.place)), basename(name.place));
  const reader = readerId(context.config.paths.state);
  const state = (await latestStates(context, name.session)).find(
    (each) => each.reader === reader && each.key === name.path && each.path.startsWith(place),
  );
  if (state === undefined) throw new Error(`no state of ${name.path} is recorded`);
  return restoreOf(context, name.adapter, state);
}

/** Every state that a source of a client was last in, as it restores. */
export async function restoreAll(context: Context, adapter: string): Promise<ReadonlyMap<string, Records>> {
  const restored = new Map<string, Records>();
  const ids: string[] = [];
  for await (const session of (await context.store()).allSessions(({ message }) => {
    throw new Error(message);
  }))
    ids.push(session.id);
  for (const session of ids)
    for (const state of await latestStates(context, session))
      restored.set(`${session} of ${state.path}`, await restoreOf(context, adapter, state));
  return restored;
}

async function latestStates(context: Context, session: string): Promise<readonly RecordedState[]> {
  const { sources } = await (await context.store()).tree().history(sessionId(session));
  // A state that lacks what could not be read is no state that the source had.
  return sources.flatMap(({ all }) => all.findLast(({ whole }) => whole) ?? []);
}

async function restoreOf(
  context: Context,
  adapter: string,
  { session_id, source, state: number, key, form }: RecordedState,
): Promise<Records> {
  const view = new Map([[session_id, { source, state: number }]]);
  const tree = (await context.store()).tree({ payloads: true, view });
  const { value, issues } = await loadTree(tree, sessionId(session_id), { depth: 0 });
  const [issue] = issues.filter(({ kind }) => kind !== "cut");
  if (issue !== undefined) throw new Error(issue.message);
  const state = stateOf(value);
  const restore = adapterNamed(adapter)?.restore;
  if (state === undefined || restore?.kind !== "supported") throw new Error(`${session_id} is not stored`);
  const lineage = { state: { ...state, source: { key, form } }, children: [] };
  return recordsIn((await restore.serialize(lineage, SOURCE_LAYOUT)).files);
}

/** True where a reader who knows the text can get at it. */
export async function findsText(context: Context, text: string): Promise<boolean> {
  const filters = { include_subagents: true };
  const { matched_total } = await search(context, {
    query: text,
    mode: "exact",
    limit: 1,
    filters,
    include_superseded: true,
  });
  return matched_total > 0;
}

export interface Verdict {
  /** Exit code 0. */
  readonly isTrue: boolean;
  /** What is said of sources that are not as they should be. */
  readonly told: readonly string[];
}

/** `pond verify` of these folders: its exit code, and which sources it names. */
export async function verdictOn(
  context: Context,
  source: { readonly adapter: string; readonly paths: readonly string[] },
): Promise<Verdict> {
  const { clients } = await verify(context, { adapters: [source.adapter], paths: source.paths });
  return {
    isTrue: clients.every(({ proven }) => proven),
    told: clients.flatMap(({ differences, issues }) => [...differences, ...issues.map(({ path }) => path)]),
  };
}

export async function countRows(context: Context): Promise<string> {
  const { sessions, messages, parts } = (await context.store()).tables;
  return `${await sessions.count()} sessions, ${await messages.count()} messages, ${await parts.count()} parts`;
}

function recordsIn(files: readonly RestoredFile[]): Records {
  const records = new Map<string, readonly string[]>();
  for (const file of files) records.set(file.path, [...(records.get(file.path) ?? []), ...recordsOf(file)]);
  return records;
}

function recordsOf(file: RestoredFile): readonly string[] {
  if (file.kind === "bytes") return [canonicalBytes(file.data)];
  if (file.kind === "json") return [canonical(file.value)];
  if (file.kind === "jsonl")
    return file.records.map((record) => (isRawLine(record) ? canonicalBytes(record.raw) : canonical(record)));
  return file.tables
    .flatMap(({ name, rows }) =>
      rows.map(({ columns, json }) =>
        canonicalRow(name, { ...columns, ...json } as Record<string, JsonValue>),
      ),
    )
    .toSorted();
}
