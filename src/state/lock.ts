/**
 * One sync at a time for each store (spec.md#sync-single-flight): a file made exclusively, naming its holder. A holder
 * that is no longer alive is taken over, also where its pid has gone to another process since; the store itself is safe with any number of writers, this only saves work.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { errnoOf, PondError } from "../base/errors.ts";
import { sentence } from "../base/sentence.ts";
import { makeFolders, PRIVATE_FILE } from "../base/files/folders.ts";
import { STATE, unusable } from "../base/files/unusable.ts";
import { isProcessAlive, startOf } from "../base/files/process-life.ts";

export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When its process started, as the system counts; absent where that cannot be known. */
  readonly started?: string | undefined;
}

export interface LockOptions {
  readonly clock: Clock;
  /** Wait for the holder instead of refusing. */
  readonly wait: boolean;
  readonly signal?: AbortSignal;
  /** Called once when waiting begins. */
  readonly onWait?: (holder: Holder) => void;
}

const POLL_MS = 200;

/** The locks of this process: a file with its pid that is not among them is of one before it. */
const held = new Set<string>();

/** True where the one who held the lock last died with it: killed, or with the machine. */
export function isLockLeftBehind(stateFolder: string, storeId: string): boolean {
  const path = pathOf(stateFolder, storeId);
  const holder = readHolder(path);
  return holder !== undefined && !isAlive(holder, hostname(), path);
}

const pathOf = (stateFolder: string, storeId: string): string =>
  join(stateFolder, "locks", `${encodeURIComponent(storeId)}.lock`);

/** The lock, held until it is disposed. Throws `conflict` (reason busy) when another process holds it. */
export async function acquireLock(
  stateFolder: string,
  storeId: string,
  options: LockOptions,
): Promise<Disposable> {
  const path = pathOf(stateFolder, storeId);
  const { pid } = process;
  const self: Holder = { pid, host: hostname(), since: options.clock.now(), started: startOf(pid) };
  let announced = false;
  for (;;) {
    const holder = tryAcquireIn(stateFolder, path, self);
    if (holder === undefined) return { [Symbol.dispose]: () => release(path, self) };
    if (!options.wait) throw busy(holder);
    if (!announced) options.onWait?.(holder);
    announced = true;
    await options.clock.sleep(POLL_MS, options.signal);
  }
}

/** The first thing that a sync writes: where it cannot, it says so of the folder. */
function tryAcquireIn(stateFolder: string, path: string, self: Holder): Holder | undefined {
  try {
    makeFolders(dirname(path));
    return tryAcquire(path, self);
  } catch (error) {
    throw unusable(stateFolder, STATE, error);
  }
}

/** Undefined when the lock is ours now, else who has it. */
function tryAcquire(path: string, self: Holder): Holder | undefined {
  const draft = `${path}.${self.pid}`;
  writeFileSync(draft, JSON.stringify(self), { mode: PRIVATE_FILE });
  try {
    for (;;) {
      if (tryLink(draft, path)) {
        held.add(path);
        return undefined;
      }
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder, self.host, path)) return holder;
      const rescued = moveAside(path, self);
      if (rescued !== undefined) return rescued;
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A link appears with its content or not at all, so nobody ever reads half a holder. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return false;
  }
}

/** Removes a dead holder's file. If a live one slipped in between, it is put back and returned. */
function moveAside(path: string, self: Holder): Holder | undefined {
  const aside = `${path}.${self.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const moved = readHolder(aside);
  const isLive = moved !== undefined && isAlive(moved, self.host, path);
  if (isLive) tryLink(aside, path);
  rmSync(aside, { force: true });
  return isLive ? moved : undefined;
}

function readHolder(path: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (
      typeof value !== "object" ||
      value === null ||
      !("pid" in value) ||
      !("host" in value) ||
      !("since" in value)
    )
      return undefined;
    const { pid, host, since } = value;
    if (typeof pid !== "number" || typeof host !== "string" || typeof since !== "number") return undefined;
    const started = "started" in value && typeof value.started === "string" ? value.started : undefined;
    return { pid, host, since, started };
  } catch {
    return undefined;
  }
}

/** Another machine's process cannot be asked, so it counts as alive. */
function isAlive({ pid, host, started }: Holder, here: string, path: string): boolean {
  if (host !== here) return true;
  if (pid === process.pid) return held.has(path);
  return isProcessAlive(pid, started);
}

function release(path: string, self: Holder): void {
  held.delete(path);
  const holder = readHolder(path);
  if (holder?.pid === self.pid && holder.since === self.since) rmSync(path, { force: true });
}

function busy({ pid, host, since }: Holder): PondError {
  const time = new Date(since).toISOString();
  return new PondError("conflict", `another sync is running (pid ${pid} on ${host}, since ${time})`, {
    reason: "busy",
    hint: sentence`wait for it, or run the same command with ${{ field: "wait" }}`,
    data: { pid, host, since },
  });
}
