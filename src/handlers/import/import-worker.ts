/**
 * A thread of an import: reads and maps sources and builds the batches; the thread that started it writes them. Started
 * by import-pool.ts, imported by nothing.
 */
import { MessagePort, parentPort, workerData } from "node:worker_threads";
import type { OpenedPlace } from "../../adapters/index.ts";
import { adapterNamed } from "../../adapters/registry.ts";
import { systemClock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { stringifyJson } from "../../base/json/json.ts";
import { answerCalls, remoteCalls } from "../../base/thread-calls.ts";
import { remoteTables } from "../../sessions/ingest/index.ts";
import type { HostCalls, WorkerCalls, WorkOrder } from "./thread.ts";
import { taskReceived } from "./thread.ts";
import type { ImportOutcome } from "./outcome.ts";
import { runImporter } from "./importer.ts";

const hostPort: unknown = workerData;
if (parentPort === null || !(hostPort instanceof MessagePort))
  throw new PondError("internal", "this file runs as a worker thread of an import");

const host = remoteCalls<HostCalls>(hostPort);
const stopped = new AbortController();

async function run({
  adapter: name,
  reader,
  machine,
  places,
  limits,
  isDoubtful,
  patienceMs,
}: WorkOrder): Promise<ImportOutcome> {
  const adapter = adapterNamed(name);
  if (adapter === undefined) throw new PondError("internal", `no adapter ${name}`);
  const { labels, keys, versions, states, hashes, stored, restoredLists, prefix } = host;
  // Not waited for source by source, but in the end.
  let acknowledged: Promise<unknown> = Promise.resolve();
  const opened: OpenedPlace[] = [];
  try {
    for (const place of places) opened.push(await adapter.open(place, machine));
    return await runImporter(
      { adapter, reader, limits, patienceMs, clock: systemClock, signal: stopped.signal },
      {
        tables: remoteTables(
          {
            labels,
            keys,
            versions,
            states,
            hashes,
            insert: (into) => host.insert(into, [into.batch.ipc]),
          },
          isDoubtful,
        ),
        stored,
        restored: () => host.restored(undefined),
        restoredLists,
        prefix,
        next: async () => {
          await acknowledged;
          return (await host.next(undefined)).map((task) => taskReceived(task, opened));
        },
        reached: (sources) =>
          host.reached(sources.map((source) => ({ ...source, cursor: stringifyJson(source.cursor) }))),
        done: (source) => {
          acknowledged = Promise.all([acknowledged, host.done(source)]);
          acknowledged.catch(() => undefined);
        },
      },
    );
  } finally {
    for (const place of opened) await place[Symbol.asyncDispose]();
  }
}

answerCalls(parentPort, { run, stop: () => stopped.abort() } satisfies WorkerCalls);
