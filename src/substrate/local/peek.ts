/**
 * A look at a local store without loading the engine: its identity, the marks of a reader and the versions of its tables,
 * so that a sync with nothing to do can say so in milliseconds. Read-only; undefined wherever it is not sure.
 */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageUrl } from "../engine/storage-url.ts";
import { manifestNames, nameOfVersion, parseManifest, VERSIONS, versionOfName } from "./manifest.ts";

export interface StorePeek {
  readonly id: string;
  /** What the reader that asks has left in the store (spec.md#sync-marks), the newest first. */
  readonly marks: readonly string[];
  /** Table name to newest version. */
  readonly versions: Readonly<Record<string, number>>;
  /** The commit that made a version of a table; undefined where that version is not there, or not any more. */
  readonly commitOf: (table: string, version: number) => string | undefined;
}

/** Where a store's identity stands, and the marks of its readers. */
export const ID_TABLE = "pond_store";
export const ID_KEY = "pond.store_id";
/** In the metadata of a schema at creation; of the first key column once columns were added (the former cannot change). */
export const SCHEMA_VERSION = "pond.schema_version";
export const markKey = (reader: string): string => `pond.marks.${reader}/`;

export const parseMarks = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : text.split(" ");

export async function peekStore(
  url: StorageUrl,
  {
    namespace = "default",
    reader,
  }: { readonly namespace?: string; readonly reader?: string | undefined } = {},
): Promise<StorePeek | undefined> {
  if (url.kind !== "local") return undefined;
  const root = join(url.href, namespace);
  const names = await readdir(root).catch(() => []);
  const tables = names
    .filter((name) => name.endsWith(".lance"))
    .map((name) => name.slice(0, -".lance".length));
  const found = await Promise.all(
    tables.map(async (table) => [table, (await namesOf(join(root, `${table}.lance`)))[0]] as const),
  );
  const identity = found.find(([table]) => table === ID_TABLE)?.[1];
  if (identity === undefined) return undefined;
  const text = await readFile(join(root, `${ID_TABLE}.lance`, VERSIONS, identity), "latin1").catch(() => "");
  const id = behind(text, ID_KEY);
  if (id === undefined) return undefined;
  const versions = found.flatMap(([table, manifest]) =>
    manifest === undefined || table.startsWith("pond_") ? [] : [[table, versionOfName(manifest)] as const],
  );
  return {
    id,
    marks: parseMarks(reader === undefined ? undefined : behind(text, markKey(reader))),
    versions: Object.fromEntries(versions),
    commitOf: (table, version) => commitOf(join(root, `${table}.lance`), version),
  };
}

const namesOf = (directory: string): Promise<string[]> => manifestNames(directory).catch(() => []);

function commitOf(directory: string, version: number): string | undefined {
  try {
    return parseManifest(readFileSync(join(directory, VERSIONS, nameOfVersion(version)))).transaction;
  } catch {
    return undefined;
  }
}

/** The schema version that the newest version of a table declares; 0 where it cannot be told. */
export async function schemaVersion(directory: string): Promise<number> {
  const [newest] = await namesOf(directory);
  if (newest === undefined) return 0;
  const text = await readFile(join(directory, VERSIONS, newest), "latin1").catch(() => "");
  // Its schema has the one that it was made with, its first column the one that it was raised to.
  const found = text.split(SCHEMA_VERSION).slice(1);
  return Math.max(0, ...found.map((rest) => Number(behind(SCHEMA_VERSION + rest, SCHEMA_VERSION) ?? 0)));
}

/** A value of a map stands in a manifest as text, after its key, a tag and its length, which is below 128 here. */
function behind(text: string, key: string): string | undefined {
  const start = text.indexOf(key);
  const value = start + key.length + 2;
  return start < 0 || text[value - 2] !== VALUE_TAG
    ? undefined
    : text.slice(value, value + text.charCodeAt(value - 1));
}

const VALUE_TAG = "\u0012";
