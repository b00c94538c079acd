/** Whether a process of this machine still runs, also where its pid has gone to another one since. */
import { readFileSync } from "node:fs";
import { errnoOf } from "../errors.ts";

/** `started` is what `startOf` said of it while it ran, if that was known. */
export function isProcessAlive(pid: number, started: string | undefined): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errnoOf(error) !== "EPERM") return false;
  }
  const now = startOf(pid);
  return started === undefined || now === undefined || now === started;
}

/** When a process started, in ticks since the machine did: the 22nd field, the second one being a name in brackets. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
