/**
 * The threads of an import (spec.md#sync-threads). Each reads sources of its own and builds the batches; this thread
 * hands out the sources, writes the batches and advances the cursors. What waits is bounded: a thread fills one batch
 * while two of its own are being written.
 */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { allEnded } from "../../base/all-ended.ts";
import { parseJson } from "../../base/json/json.ts";
import { answerCalls, remoteCalls } from "../../base/thread-calls.ts";
import type { IngestLimits, IngestTables } from "../../sessions/ingest/index.ts";
import { tableCalls } from "../../sessions/ingest/index.ts";
import type { HostCalls, WorkerCalls, WorkOrder } from "./thread.ts";
import { taskToSend } from "./thread.ts";
import type { ImportOutcome } from "./outcome.ts";
import type { ImportHost, ImportTask } from "./importer.ts";

/** What a source costs beside its bytes, in bytes: to open, to look into, to commit its cursor. */
const PER_SOURCE = 20_000;
/** From here on threads save more than their start costs, which is about a tenth of a second each. */
const WORTH_A_THREAD = 8_000_000;
/** More would wait for the one writer. */
const MAX_THREADS = 4;
/** Batches shrink as threads fill them side by side, down to this: smaller ones cost more commits than memory. */
const LEAST_BATCH_BYTES = 6_000_000;
/** Sources are handed out in lots of about this weight, so that small ones do not cost a question each. */
const LOT = 1_000_000;

/** A source that threads may share the work of. */
export interface PoolTask extends ImportTask {
  /** About how much of it is to be read: not what is before a cursor that is gone on from (spec.md#sync-prefix). */
  readonly unread: number;
}

const weightOf = ({ unread }: Pick<PoolTask, "unread">): number => unread + PER_SOURCE;

/**
 * How many threads pay for these sources; fewer than two means none. The engine keeps a core busy while it writes: on two
 * cores threads took a fifth more CPU time and ended no sooner.
 */
export function threadsFor(
  sources: readonly Pick<PoolTask, "unread">[],
  most: number = mostThreads(),
): number {
  const weight = sources.reduce((sum, source) => sum + weightOf(source), 0);
  return Math.min(most, sources.length, Math.floor(weight / WORTH_A_THREAD));
}

/** As many as pay on this machine, however much there is to read. */
export function mostThreads(): number {
  return Math.min(availableParallelism() - 1, MAX_THREADS);
}

/** What each of several threads may hold. */
export function limitsFor({ rows, bytes }: IngestLimits, threads: number): IngestLimits {
  return { rows, bytes: Math.max(Math.floor(bytes / threads), Math.min(bytes, LEAST_BATCH_BYTES)) };
}

export interface PoolWork {
  readonly threads: number;
  readonly order: WorkOrder;
  readonly tasks: readonly PoolTask[];
  readonly signal: AbortSignal;
}

/** Runs the tasks in threads, largest first, so that no thread is left with a large one at the end. */
export async function runPool(
  tables: IngestTables,
  work: PoolWork,
  host: Pick<ImportHost, "stored" | "restored" | "restoredLists" | "prefix" | "reached" | "done">,
): Promise<readonly ImportOutcome[]> {
  const waiting = work.tasks.toSorted((a, b) => a.unread - b.unread);
  const calls: HostCalls = {
    ...tableCalls(tables),
    stored: host.stored,
    restored: host.restored,
    restoredLists: host.restoredLists,
    prefix: host.prefix,
    done: host.done,
    next: () => takeLot(waiting).map((task) => taskToSend(task, work.order.places)),
    reached: (sources) =>
      host.reached(sources.map((source) => ({ ...source, cursor: parseJson(source.cursor) }))),
  };
  const threads = Array.from({ length: work.threads }, () => new ImportThread(calls));
  const stop = (): void => {
    waiting.length = 0;
    for (const thread of threads) thread.stop();
  };
  const run = async (thread: ImportThread): Promise<ImportOutcome> => {
    try {
      return await thread.run(work.order);
    } catch (error) {
      // The others write to the same store, and what they have under way ends first.
      stop();
      throw error;
    }
  };
  work.signal.addEventListener("abort", stop);
  if (work.signal.aborted) stop();
  try {
    return await allEnded(threads.map(run));
  } finally {
    work.signal.removeEventListener("abort", stop);
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

function takeLot(waiting: PoolTask[]): PoolTask[] {
  const lot: PoolTask[] = [];
  for (let weight = 0, task = waiting.pop(); task !== undefined; task = waiting.pop()) {
    lot.push(task);
    weight += weightOf(task);
    if (weight >= LOT) break;
  }
  return lot;
}

class ImportThread {
  readonly #worker: Worker;
  readonly #calls;
  readonly #died = Promise.withResolvers<never>();

  constructor(calls: HostCalls) {
    const { port1, port2 } = new MessageChannel();
    answerCalls(port1, calls);
    // As source, as built and in the bundle, a file beside this one.
    const file = new URL(`import-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { workerData: port2, transferList: [port2], name: "pond import" });
    this.#worker.on("error", (error) => this.#died.reject(error));
    this.#worker.on("exit", (code) => this.#died.reject(new Error(`a thread of the import ended (${code})`)));
    this.#died.promise.catch(() => undefined);
    this.#calls = remoteCalls<WorkerCalls>(this.#worker);
  }

  run(order: WorkOrder): Promise<ImportOutcome> {
    return Promise.race([this.#calls.run(order), this.#died.promise]);
  }

  stop(): void {
    void this.#calls.stop(undefined);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
