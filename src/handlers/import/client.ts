/** Reads the changed sources of one client into the store: in this thread, or in several where that pays. */
import { isInEveryThread } from "../../adapters/registry.ts";
import type { JsonValue } from "../../base/json/json.ts";
import type { SessionId } from "../../model/index.ts";
import type { Cursors, Reached } from "../../state/index.ts";
import { readerId } from "../../state/index.ts";
import { ingestTables } from "../../sessions/ingest/index.ts";
import type { ClientReport } from "../../wire/sync.ts";
import type { Context } from "../context/context.ts";
import type { ImportOutcome } from "./outcome.ts";
import { clientReport } from "./outcome.ts";
import type { PoolTask } from "./pool.ts";
import { limitsFor, mostThreads, runPool, threadsFor } from "./pool.ts";
import type { ImportTask } from "./importer.ts";
import { isRecorded, runImporter } from "./importer.ts";
import { olderHashes } from "./older-hashes.ts";
import { knownRestores, restoredLists } from "./known-restores.ts";
import { hasUnreadSubagents, unreadSubagents } from "./restored-subagents.ts";
import type { Stale, Sweep } from "../sources/sweep.ts";
import { isCursor, sourceName } from "../sources/sweep.ts";

export interface ImportOptions {
  readonly cursors: Cursors;
  /** Read from the start, whatever the cursor says. */
  readonly verify: boolean;
  /** The store may lack rows that it says it has: it went back in time, or someone wants to be sure. */
  readonly isDoubtful: boolean;
  /** The sync before was killed: what is read is made durable soon, so that this one leaves less to the next. */
  readonly isAfterKill: boolean;
  /** Called after each source, with the messages of this client so far. */
  readonly onUnit: (unit: { readonly bytes: number; readonly messages: number }) => void;
}

export async function importClient(
  context: Context,
  sweep: Sweep,
  options: ImportOptions,
): Promise<ClientReport> {
  return clientReport(sweep, await importTasks(context, sweep, options));
}

async function importTasks(
  context: Context,
  sweep: Sweep,
  { cursors, verify, isDoubtful, isAfterKill, onUnit }: ImportOptions,
): Promise<readonly ImportOutcome[]> {
  const { adapter, stale } = sweep;
  const store = await context.store();
  const { batch_rows: rows, batch_bytes: bytes, threads: most } = context.config.values.sync;
  let count = 0;
  const taskOf = (source: Stale): PoolTask => {
    const name = sourceName(adapter, source.opened.place, source.unit);
    const known = verify ? undefined : cursors.get(name);
    const cursor = isRecorded(known) ? known : undefined;
    const passed = cursor !== undefined && cursors.keepsPrefix(name) ? committedBytes(cursor) : 0;
    const unread = Math.max(0, source.bytes - passed);
    return { ...source, order: count++, unread, ...(cursor === undefined ? {} : { cursor }) };
  };
  let messages = 0;
  const reader = readerId(context.config.paths.state);
  // One behind the other: the last mark that stands with the cursors is of a store that holds all rows before them.
  let marked: Promise<void> = Promise.resolve();
  let restores: ReturnType<typeof knownRestores> | undefined;
  const host = {
    stored: (sessions: readonly SessionId[]) => store.storedHashes(sessions, isDoubtful),
    restored: () => (restores ??= knownRestores(store, adapter.name)),
    restoredLists: (sessions: readonly SessionId[]) => restoredLists(store, sessions),
    prefix: cursors.prefix.bind(cursors),
    reached: (sources: readonly Reached[]) =>
      (marked = marked.then(async () => cursors.advance(sources, await store.leaveMark(reader)))),
    done: (source: { readonly bytes: number; readonly messages: number }) => {
      messages += source.messages;
      onUnit({ bytes: source.bytes, messages });
    },
  };
  const { machine, clock, signal } = context;
  const limits = { rows, bytes };
  const patienceMs = isAfterKill ? PATIENCE_MS : undefined;
  const tables = ingestTables(store.tables, olderHashes(store, adapter), isDoubtful);
  const settings = { adapter, reader, limits, patienceMs, clock, signal };
  const withSubagents = async (outcomes: readonly ImportOutcome[]): Promise<readonly ImportOutcome[]> => {
    if (signal.aborted) return outcomes;
    const isIncomplete = outcomes.some((outcome) => outcome.isIncomplete);
    if (!isIncomplete && !hasUnreadSubagents(await host.restored())) return outcomes;
    const unread = await unreadSubagents(context, store, sweep);
    const tasks = unread.map((source) => ({ ...source, order: count++ }));
    if (tasks.length === 0) return outcomes;
    restores = undefined;
    // They are no sources that changed.
    const done = ({ messages: read }: { readonly messages: number }): void =>
      host.done({ bytes: 0, messages: read });
    const outcome = await runImporter(settings, { ...host, done, tables, next: () => tasks.splice(0) });
    return [...outcomes, { ...outcome, read: 0 }];
  };
  const tasks = (most ?? mostThreads()) > 1 ? stale.splice(0).map(taskOf) : [];
  const threads = isInEveryThread(adapter) ? threadsFor(tasks, most) : 1;
  if (threads > 1) {
    const places = [...new Set(tasks.map(({ opened }) => opened.place))];
    const order = {
      adapter: adapter.name,
      reader,
      machine: { ...machine, env: { ...machine.env } },
      places,
      limits: limitsFor(limits, threads),
      isDoubtful,
      patienceMs,
    };
    return withSubagents(await runPool(tables, { threads, order, tasks, signal }, host));
  }
  tasks.reverse();
  stale.reverse();
  const next = (): readonly ImportTask[] => {
    if (signal.aborted) return [];
    return tasks.length > 0 ? tasks.splice(-LOT).toReversed() : stale.splice(-LOT).toReversed().map(taskOf);
  };
  return withSubagents([await runImporter(settings, { ...host, tables, next })]);
}

/** Sources that are made ready at once. */
const LOT = 256;
/** A start and the commits take most of the second that a killed sync may have. */
const PATIENCE_MS = 50;

/** Of all files of a source, the bytes before its cursor. */
function committedBytes(cursor: JsonValue): number {
  if (!isCursor(cursor)) return 0;
  return Object.values(cursor.files).reduce((sum, { offset }) => sum + offset, 0);
}
