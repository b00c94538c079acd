/**
 * The folder in which a restore prepares its files (spec.md#adapter-restore-staged): inside the folder that it restores into,
 * so that they are moved and not copied, private, and passed over by adapters. One that a killed restore left behind is
 * removed by the next one into the same folder.
 */
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { STAGING } from "../adapters/index.ts";
import { isProcessAlive, startOf } from "../base/process-life.ts";
import type { FolderUse } from "../base/unusable.ts";
import { unusable } from "../base/unusable.ts";

/** The ones of this process that are in use. */
const inUse = new Set<string>();

/** The name says whose it is, so that there is no instant at which nobody can tell. */
const OWNER = /^([0-9a-f]+)-(\d+)-(\d*)-/;

export interface Staging extends AsyncDisposable {
  readonly path: string;
}

export function makeStaging(folder: string): Staging {
  const { pid } = process;
  // Private to the user, as this call makes it; not later, so that it is never there without being in use.
  const path = inTarget(folder, () =>
    mkdtempSync(join(folder, `${STAGING}${hostMark()}-${pid}-${startOf(pid) ?? ""}-`)),
  );
  inUse.add(path);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      // What cannot be removed now is removed by the next restore.
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
      inUse.delete(path);
    },
  };
}

export const TARGET: FolderUse = {
  what: "the folder to restore into",
  fix: "nothing was restored; name a folder that you can write to, with room, with --out",
};

/** Says of which folder an error is, which the system does not where a disk is full. */
function inTarget<T>(folder: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw unusable(folder, TARGET, error);
  }
}

/** Removes what restores that are no longer alive left in a folder. */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    if (!name.startsWith(STAGING) || isOfLiving(name, path)) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Another machine's process cannot be asked, so it counts as alive; so does whoever made a name that is not ours. */
function isOfLiving(name: string, path: string): boolean {
  const [, host, pid = "", started = ""] = OWNER.exec(name.slice(STAGING.length)) ?? [];
  if (host !== hostMark()) return true;
  if (Number(pid) === process.pid && started === (startOf(process.pid) ?? "")) return inUse.has(path);
  return isProcessAlive(Number(pid), started === "" ? undefined : started);
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
