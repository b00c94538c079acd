/** The files of a local table, while other processes may clean old ones away (spec.md#lance-chokepoints-storage). */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

/**
 * Paths of all files below a folder. Node's own recursion fails where a folder goes while it looks. Synchronous calls: every
 * commit looks, a table has some twenty folders, and as promises they take five times as long.
 */
export async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  below(folder, readdirSync(folder, { withFileTypes: true }), files);
  return files;
}

function below(folder: string, entries: readonly Dirent[], files: string[]): void {
  for (const entry of entries) if (entry.isFile()) files.push(join(folder, entry.name));
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    below(path, entriesOf(path), files);
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return ignoreMissing(error) ?? [];
  }
}

export function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}

/** Where torn versions of a table are moved, and rows that went nowhere: what they name may be wanted still. */
export const QUARANTINE = "_quarantine";
