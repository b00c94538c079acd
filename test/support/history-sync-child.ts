/**
 * A sync in a process of its own that dies, as by kill -9, at a given point: before, in the middle of, or after one of its
 * inserts. `node history-sync-child.ts '{"home":"...","store":"...","order":{...},"point":3}'`
 */
import { setImmediate } from "node:timers/promises";
import type { MachineFolders, SyncOrder } from "./histories/machine.ts";
import { startMachine, syncHere } from "./histories/machine.ts";

export interface KilledJob extends MachineFolders {
  readonly order: SyncOrder;
  readonly point: number;
}

const job = JSON.parse(process.argv[2] ?? "{}") as KilledJob;
const machine = await startMachine(job, () => job.order.now);
const { tables } = await machine.context.store();
let points = 0;
const reach = (): void => {
  if (points === job.point) process.kill(process.pid, "SIGKILL");
  points += 1;
};
const { sessions, messages, parts, sources } = tables;
if (sources === undefined) throw new Error("the store is only read");
for (const table of [sessions, messages, parts, sources]) {
  const target: { insert(batch: never): Promise<{ readonly inserted: number }> } = table;
  const insert = target.insert.bind(target);
  target.insert = async (batch) => {
    reach();
    const inserting = insert(batch);
    // The engine is at work in its own threads.
    await setImmediate();
    reach();
    const inserted = await inserting;
    reach();
    return inserted;
  };
}
await syncHere(machine, job.order);
await machine.context[Symbol.asyncDispose]();
