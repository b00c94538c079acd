/**
 * Tables of a local store that were there and are not (spec.md#storage-lost-tables), told without the engine: rows are only
 * stored once every table is there, so that rows of any of them, or the mark of who stored some, tell of the others.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { StorageUrl } from "../engine/storage-url.ts";
import { ignoreMissing } from "./files.ts";
import { manifestNames, parseManifest, VERSIONS, versionOfName } from "./manifest.ts";
import { ID_TABLE, schemaVersion } from "./peek.ts";
import { newestCopy, readSums } from "./sums.ts";

/** A table that every store has, or every store whose other table has at least a certain schema version. */
export interface ExpectedTable {
  readonly name: string;
  readonly since?: { readonly table: string; readonly version: number };
}

export interface MissingTables {
  /** Of the expected ones those that are not there. */
  readonly missing: readonly string[];
  /** Of these the ones that were, with their rows. */
  readonly lost: readonly string[];
}

const NONE: MissingTables = { missing: [], lost: [] };

/** None of a store elsewhere, and of one that cannot be looked at: whoever opens it is told why. */
export async function missingTables(
  url: StorageUrl,
  namespace: string,
  expected: readonly ExpectedTable[],
): Promise<MissingTables> {
  if (url.kind !== "local") return NONE;
  try {
    return await inspect(join(url.href, namespace), expected);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return NONE;
  }
}

async function inspect(root: string, expected: readonly ExpectedTable[]): Promise<MissingTables> {
  const missing = await missingIn(root, expected);
  if (missing.length === 0 || !(await isWrittenTo(root))) return { missing, lost: [] };
  // Looked for again: another process may have made them and stored rows since.
  const still = await missingIn(
    root,
    expected.filter(({ name }) => missing.includes(name)),
  );
  const lost: string[] = [];
  for (const { name, since } of expected) {
    if (!still.includes(name)) continue;
    const isOlder =
      since !== undefined && (await schemaVersion(directoryOf(root, since.table))) < since.version;
    if (!isOlder) lost.push(name);
  }
  return { missing, lost };
}

const directoryOf = (root: string, table: string): string => join(root, `${table}.lance`);

async function missingIn(root: string, tables: readonly ExpectedTable[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { name } of tables) if (!(await isThere(directoryOf(root, name)))) missing.push(name);
  return missing;
}

/** It has a list of its files, or a copy of one, which whoever opens it puts back. */
async function isThere(directory: string): Promise<boolean> {
  if ((await manifestNames(directory)).length > 0) return true;
  return (await newestCopy(directory, await readSums(directory))) !== undefined;
}

/** True where rows were stored: a table has some, or a reader has left its mark of having stored them. */
async function isWrittenTo(root: string): Promise<boolean> {
  for (const name of (await readdir(root).catch(ignoreMissing)) ?? []) {
    const table = /^(?!pond_(?!store\.))(.+)\.lance$/.exec(name)?.[1];
    if (table !== undefined && (await hasRows(directoryOf(root, table), table))) return true;
  }
  return false;
}

async function hasRows(directory: string, table: string): Promise<boolean> {
  const [newest] = await manifestNames(directory);
  if (newest === undefined) return false;
  if (table === ID_TABLE) return versionOfName(newest) > 1;
  try {
    return parseManifest(await readFile(join(directory, VERSIONS, newest))).fragments.length > 0;
  } catch {
    // It is damaged, which is told elsewhere, or a newer version took its place.
    return false;
  }
}
