/**
 * The three questions that a history asks pond, each in one function. They are asked here as today's handlers can answer
 * them: `findsText` is to ask for what was replaced and removed, too.
 */
import { adapterNamed } from "../../../src/adapters/index.ts";
import type { RestoredFile } from "../../../src/adapters/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Context } from "../../../src/handlers/index.ts";
import { isProven, search, verify } from "../../../src/handlers/index.ts";
import { sessionId } from "../../../src/model/index.ts";
import { knownReaderId } from "../../../src/state/index.ts";
import { isRawLine } from "../../../src/adapters/seam/index.ts";
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
  const { adapter, session, place } = name;
  const views = await (await context.store()).views(sessionId(session));
  const restore = adapterNamed(adapter)?.restore;
  if (views === undefined || restore?.kind !== "supported") throw new Error(`${session} is not stored`);
  const reader = knownReaderId(context.config.paths.state);
  const own = views.history.sources.flatMap(({ latest }) =>
    latest?.reader === reader && latest?.path.startsWith(place) === true ? [latest] : [],
  );
  const head = place === "" ? views.ends()[0] : own[0];
  if (head === undefined) throw new Error(`no state of ${session} in ${place} is recorded`);
  const { state, damage } = views.view(head);
  if (damage.length > 0) throw new Error(damage.join("; "));
  return recordsIn((await restore.serialize({ state, children: [] }, SOURCE_LAYOUT)).files);
}

/** Every session of a client that is stored, as it restores. */
export async function restoreAll(context: Context, adapter: string): Promise<ReadonlyMap<string, Records>> {
  const restored = new Map<string, Records>();
  const ids: string[] = [];
  for await (const session of (await context.store()).allSessions(({ message }) => {
    throw new Error(message);
  }))
    ids.push(session.id);
  for (const session of ids)
    restored.set(session, await restoreState(context, { adapter, session, place: "", path: "" }));
  return restored;
}

/** True where a reader who knows the text can get at it. */
export async function findsText(context: Context, text: string): Promise<boolean> {
  const filters = { include_subagents: true };
  const { matched_total } = await search(context, { query: text, mode: "exact", limit: 1, filters });
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
    isTrue: clients.every(isProven),
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
