/** The files of a local table, while other processes may clean old ones away (spec.md#lance-chokepoints-storage). */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

/** Paths of all files below a folder. Node's own recursion fails where a folder goes while it looks. */
export async function filesBelow(folder: string): Promise<string[]> {
  return below(folder, await readdir(folder, { withFileTypes: true }));
}

async function below(folder: string, entries: readonly Dirent[]): Promise<string[]> {
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  const deeper = await Promise.all(
    folders.map(async (path) =>
      below(path, (await readdir(path, { withFileTypes: true }).catch(ignoreMissing)) ?? []),
    ),
  );
  return [...files, ...deeper.flat()];
}

export function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}

/** Where torn versions of a table are moved, and rows that went nowhere: what they name may be wanted still. */
export const QUARANTINE = "_quarantine";
