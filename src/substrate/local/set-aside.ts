/**
 * Versions of a local table that cannot be used any more (spec.md#keep-repair), and tables that can be made again: moved out
 * of the way, so that what is left is whole.
 */
import { randomUUID } from "node:crypto";
import { copyFile, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolders } from "../../base/files/folders.ts";
import type { TableCheck } from "./check.ts";
import { ignoreMissing, QUARANTINE } from "./files.ts";
import { manifestNames, nameOfVersion, VERSIONS, versionOfName } from "./manifest.ts";
import { copyOfVersion, forgetSum, isSameSum, readSums, rewriteSums, sumOf } from "./sums.ts";

/**
 * Versions whose list of files is damaged: put back from the copy that is kept of the newest ones, else moved away, so that
 * the one before is the newest. Says which, for people.
 */
export async function mendVersions({ directory, table, damage }: TableCheck): Promise<string[]> {
  const done: string[] = [];
  const sums = await readSums(directory);
  for (const version of damage.flatMap(({ holds, versions }) => (holds === "version" ? versions : []))) {
    const name = nameOfVersion(version);
    const path = join(directory, VERSIONS, name);
    const copy = copyOfVersion(directory, name);
    const [sum, kept] = [sums.get(`${VERSIONS}/${name}`), await sumOf(copy)];
    const isMoved = await moveAway(directory, path);
    if (sum !== undefined && kept !== undefined && isSameSum(sum, kept)) {
      makeFolders(dirname(path));
      await copyFile(copy, path);
      done.push(`version ${version} of ${table} was put back from its copy`);
      continue;
    }
    await forgetSum(directory, `${VERSIONS}/${name}`);
    done.push(`version ${version} of ${table} ${isMoved ? "was moved away" : "is lost"}`);
  }
  return done;
}

/** Old versions that stand on a damaged file: readers of the newest one do not need them. */
export async function dropOldVersions({ directory, damage }: TableCheck): Promise<void> {
  const newest = Math.max(0, ...(await manifestNames(directory)).map(versionOfName));
  for (const version of new Set(damage.flatMap(({ versions }) => versions)))
    if (version < newest) await moveAway(directory, join(directory, VERSIONS, nameOfVersion(version)));
}

/** Moves a file of a table to quarantine; false where it is not there. */
export async function moveAway(directory: string, path: string): Promise<boolean> {
  makeFolders(join(directory, QUARANTINE));
  const moved = await rename(path, join(directory, QUARANTINE, basename(path))).then(
    () => true,
    ignoreMissing,
  );
  return moved === true;
}

/** Forgets the checksums of versions that are not there any more: what could be done about them is done. */
export async function forgetLost(directory: string): Promise<void> {
  const present = new Set(await manifestNames(directory));
  const left = [...(await readSums(directory))].filter(
    ([name]) => !name.startsWith(`${VERSIONS}/`) || present.has(name.slice(VERSIONS.length + 1)),
  );
  await rewriteSums(directory, new Map(left));
}

/** Removes what was moved away: everything that is stored is proven without it. */
export async function emptyQuarantine(directory: string): Promise<void> {
  await rm(join(directory, QUARANTINE), { recursive: true, force: true });
}

/** What is left of tables without any version: of no use to the engine, and yet the last copy of some rows. */
const REMAINS = "pond_lost_";

/** Moves what is left of a table out of the way, so that it can be made anew. Says where to, below the namespace. */
export async function moveRemains(directory: string): Promise<string | undefined> {
  const name = `${REMAINS}${basename(directory, ".lance")}_${randomUUID()}`;
  const moved = await rename(directory, join(dirname(directory), name)).then(() => true, ignoreMissing);
  return moved === true ? name : undefined;
}

/** The folders of those, by their paths. */
export async function listRemains(namespace: string): Promise<readonly string[]> {
  const names = (await readdir(namespace).catch(ignoreMissing)) ?? [];
  return names.filter((name) => name.startsWith(REMAINS)).map((name) => join(namespace, name));
}

/** Removes all of them: everything that is stored is proven without them. */
export async function removeRemains(namespace: string): Promise<void> {
  for (const path of await listRemains(namespace)) await rm(path, { recursive: true, force: true });
}

/** Removes a table that can be made again, whatever state it is in. */
export async function removeDerived(directory: string): Promise<void> {
  // Renamed first: nobody finds half a table.
  const aside = directory.replace(/([^/\\]+)\.lance$/, `pond_torn_${randomUUID()}.lance`);
  await rename(directory, aside).catch(ignoreMissing);
  await rm(aside, { recursive: true, force: true });
}
