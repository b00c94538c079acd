/**
 * The folder in which a restore prepares its files (spec.md#adapter-restore-staged): inside the folder that it restores into,
 * so that they are moved and not copied, private, and passed over by adapters. One that a killed restore left behind is
 * removed by the next one into the same folder.
 */
import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { STAGING } from "../../../adapters/index.ts";
import { ownedName, ownerOf } from "../../../base/files/owned-name.ts";
import type { FolderUse } from "../../../base/files/unusable.ts";
import { unusable } from "../../../base/files/unusable.ts";
import { sentence } from "../../../base/sentence.ts";

/** The ones of this process that are in use. */
const inUse = new Set<string>();

export interface Staging extends AsyncDisposable {
  readonly path: string;
}

export function makeStaging(folder: string): Staging {
  // Private to the user, as this call makes it; not later, so that it is never there without being in use.
  const path = inTarget(folder, () => mkdtempSync(join(folder, ownedName(STAGING))));
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
  fix: sentence`nothing was restored; make it writable, with free space, or name another one with ${{ field: "out" }}`,
};

/** Says of which folder an error is, and what to do about it, which the system does not. */
export function inTarget<T>(folder: string, run: () => T): T {
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

function isOfLiving(name: string, path: string): boolean {
  const owner = ownerOf(STAGING, name);
  return owner === "self" ? inUse.has(path) : owner === "alive";
}
