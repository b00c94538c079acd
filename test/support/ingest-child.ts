/**
 * A writer in a process of its own: ingests sessions of a deterministic corpus and prints each id once it is durable.
 * `node ingest-child.ts '{"store":"...","order":[0,1,2],"messages":20}'`
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import { corpusSession } from "./corpus-sessions.ts";

export interface ChildJob {
  readonly store: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly order: readonly number[];
  readonly messages: number;
  /** Run maintenance after every so many sessions. */
  readonly maintainEvery?: number;
}

const job = JSON.parse(process.argv[2] ?? "{}") as ChildJob;
await using store = await openSessionStore(
  { url: job.store, namespace: "default", options: job.options ?? {} },
  { create: true },
);
writeSync(1, "open\n");
let written = 0;
for (const index of job.order) {
  const ingest = store.ingest({ clock: systemClock, limits: { rows: 25, bytes: 50_000 } });
  const events = corpusSession(index, job.messages);
  await ingest.add(events);
  await ingest.flush();
  writeSync(1, `${index}\n`);
  written += 1;
  if (job.maintainEvery !== undefined && written % job.maintainEvery === 0)
    await store.maintain({ force: true, retentionMs: 0 });
}
