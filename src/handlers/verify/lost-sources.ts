/**
 * What this machine stored once and the store that is there now lacks, without a source on disk to read it from again
 * (spec.md#sync-marks): told by the cursors of every copy of the store that was there.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import { brandOf } from "../../model/derived/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import { isInMemory } from "../../sessions/peek.ts";
import type { LostSource } from "../../state/besides.ts";
import { lostPath, lostSources, rememberLost } from "../../state/besides.ts";
import type { SourceName } from "../../state/index.ts";
import { Cursors, knownCursors, knownReaderId } from "../../state/index.ts";
import type { LostReport } from "../../wire/verify.ts";
import type { Context } from "../context/context.ts";
import type { rememberedSync } from "../context/remembered.ts";
import { isCursor } from "../sources/sweep.ts";
import type { NextStep, Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";

/** Every source that cursors of this address call stored. */
export function storedOnce({ config, address }: Context): readonly LostSource[] {
  const { state } = config.paths;
  return knownCursors(state, address).flatMap(({ name }) =>
    [...Cursors.open(state, name).all()].flatMap(({ source, cursor }) => sourcesOf(source, cursor)),
  );
}

/** How far a source was stored; of one that held nothing, nothing. */
function sourcesOf(source: SourceName, cursor: JsonValue): readonly LostSource[] {
  if (!isCursor(cursor)) return [];
  const files = Object.values(cursor.files);
  const { session, records } = isJsonObject(cursor.state) ? cursor.state : {};
  if (typeof session !== "string" || typeof records !== "number")
    return files.some(({ size }) => size > 0) ? [source] : [];
  const hasRecords = records > 0 || files.some(({ offset }) => offset > 0);
  return hasRecords ? [{ ...source, session, records }] : [];
}

/** Those of the sources that are neither on disk nor in the store, each once. `cursors`: those that hold for the store. */
export async function findLost(
  { config }: Context,
  store: SessionStore,
  { sources, cursors }: { readonly sources: readonly LostSource[]; readonly cursors?: Cursors | undefined },
): Promise<readonly LostSource[]> {
  const reader = knownReaderId(config.paths.state);
  const absent = sources.filter((source) => cursors?.has(source) !== true && !existsSync(pathOf(source)));
  const lost = new Map<string, LostSource>();
  for (const [adapter, own] of Map.groupBy(absent, (source) => source.adapter)) {
    const heads = await store.stateHeads(adapter);
    const bySession = Map.groupBy(heads, ({ session_id }) => session_id);
    const mine = new Set(heads.filter((head) => head.reader === reader).map(({ key }) => key));
    const hasUnrecorded = once(() => hasUnrecordedSession(store, adapter, bySession));
    for (const source of own)
      if (!(await isStored(source, { store, bySession, mine, hasUnrecorded })))
        lost.set(pathOf(source), source);
  }
  return [...lost.values()];
}

interface Stored {
  readonly store: SessionStore;
  readonly bySession: ReadonlyMap<string, readonly StateHead[]>;
  /** The names of sources of which this machine recorded a state. */
  readonly mine: ReadonlySet<string>;
  /** The client has sessions in the store of which no state is recorded. */
  readonly hasUnrecorded: () => Promise<boolean>;
}

/** A log by whatever path, as far as it was stored; of a database nobody remembers which sessions it held. */
async function isStored(
  source: LostSource,
  { store, bySession, mine, hasUnrecorded }: Stored,
): Promise<boolean> {
  const { session, records = 0, key } = source;
  // Sessions without a state may be its own: the table of states was lost, or an older pond stored them.
  if (session === undefined) return mine.has(key) || (await hasUnrecorded());
  const heads = bySession.get(session);
  // Without any state the table of states was lost, which is told of elsewhere, or an older pond stored it.
  if (heads === undefined) return (await store.session(session)) !== undefined;
  return heads.some((head) => head.records >= records);
}

async function hasUnrecordedSession(
  store: SessionStore,
  adapter: string,
  bySession: Stored["bySession"],
): Promise<boolean> {
  for await (const { id, source_agent } of store.allSessions(() => undefined))
    if (brandOf(source_agent) === adapter && !bySession.has(id)) return true;
  return false;
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= run());
}

/**
 * After a sync: where another store was in place before, which of its sources are lost; else which of those that were lost
 * have been found since. What is to be said of it.
 */
export async function noteLost(
  context: Context,
  store: SessionStore,
  {
    name,
    isSettled,
    cursors,
  }: { readonly name: string; readonly isSettled: boolean; readonly cursors: Cursors },
): Promise<readonly Sentence[]> {
  const { state } = context.config.paths;
  if (isSettled) {
    const before = lostSources(state, name);
    const left = before.filter((source) => !cursors.has(source));
    if (left.length < before.length) rememberLost(state, name, left);
    return [];
  }
  const lost = await findLost(context, store, { sources: storedOnce(context), cursors });
  rememberLost(state, name, lost);
  return lost.length === 0 ? [] : [sentence`${describeLost(lost)}: ${fromAnotherCopy(lost)}`];
}

/**
 * What is lost of a store, and what can be done about it; undefined where nothing is. By what a sync found, or, where none
 * has looked since another copy is in place, by all that was ever stored.
 */
export async function lostReport(
  context: Context,
  store: SessionStore,
  known: Awaited<ReturnType<typeof rememberedSync>>,
): Promise<LostReport | undefined> {
  const { state } = context.config.paths;
  const remembered = typeof known === "string" ? undefined : known;
  const settled = remembered?.isSettled === true ? remembered.name : undefined;
  const sources = settled === undefined ? storedOnce(context) : lostSources(state, settled);
  if (sources.length === 0 || isInMemory(context.address.url)) return undefined;
  const lost = await findLost(context, store, { sources, cursors: remembered?.cursors });
  if (lost.length === 0) return undefined;
  const otherwise =
    settled === undefined
      ? sentence`where there is none, ${{ do: "sync" }} records what is lost, and ${{ do: "doctor" }} shows how to silence this message`
      : `where there is none, delete ${lostPath(state, settled)} to silence this message`;
  return {
    message: describeLost(lost),
    fix: sentence`${fromAnotherCopy(lost)}; ${otherwise}`,
    sources: lost.map(({ session, ...source }) => ({
      adapter: source.adapter,
      path: pathOf(source),
      ...(session === undefined ? {} : { session_id: session }),
    })),
  };
}

/** What brings a lost source back, whatever the store in place has that the other one lacks. */
export function fromAnotherCopy(lost: readonly LostSource[]): Sentence {
  const [first] = lost.flatMap(({ session }) => session ?? []);
  const restoring: NextStep = {
    do: "restore",
    session_id: first === undefined || lost.length > 1 ? { choose: "session" } : first,
    store: { choose: "that copy" },
  };
  return sentence`if another copy of the store has ${lost.length === 1 ? "it" : "them"}: ${restoring}, then ${{ do: "sync" }}`;
}

const MOST_NAMED = 3;

export function describeLost(lost: readonly LostSource[]): string {
  const one = lost.length === 1;
  const paths = lost.slice(0, MOST_NAMED).map(pathOf).join(", ");
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : "";
  return `${lost.length} ${one ? "source that was" : "sources that were"} stored before ${one ? "is" : "are"} neither on disk nor in this store (${paths}${more})`;
}

const pathOf = ({ root, key }: SourceName): string => join(root, key);
