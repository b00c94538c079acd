/** A sync in a process of its own that is killed on its way. */
import { startChild } from "../child.ts";
import type { KilledJob } from "../history-sync-child.ts";
import type { Machine, SyncOrder } from "./machine.ts";

/** True when it came to its end before the point at which it was to die. */
export async function killedSync(
  { home, store }: Machine,
  order: SyncOrder,
  point: number,
): Promise<boolean> {
  const job: KilledJob = { home, store, order, point };
  const { code, stderr } = await startChild("history-sync-child.ts", job).ended;
  if (code !== null && code !== 0) throw new Error(`the sync failed instead of dying: ${stderr}`);
  return code === 0;
}
