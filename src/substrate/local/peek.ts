/**
 * A look at a local store without loading the engine: its identity and the versions of its tables, so that
 * a sync with nothing to do can say so in milliseconds. Read-only; undefined wherever it is not sure.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageUrl } from "../storage-url.ts";

export interface StorePeek {
  readonly id: string;
  /** Table name to newest version. A lower one than was seen before means that the store was rolled back. */
  readonly versions: Readonly<Record<string, number>>;
}

/** Where a store's identity stands. */
export const ID_TABLE = "pond_store";
export const ID_KEY = "pond.store_id";

const NEWEST = 2n ** 64n - 1n;

export async function peekStore(url: StorageUrl, namespace = "default"): Promise<StorePeek | undefined> {
  if (url.kind !== "local") return undefined;
  const root = join(url.href, namespace);
  const names = await readdir(root).catch(() => []);
  const tables = names
    .filter((name) => name.endsWith(".lance"))
    .map((name) => name.slice(0, -".lance".length));
  const found = await Promise.all(
    tables.map(async (table) => [table, await newestManifest(join(root, `${table}.lance`))] as const),
  );
  const identity = found.find(([table]) => table === ID_TABLE)?.[1];
  const id = identity === undefined ? undefined : await idIn(identity.path);
  if (id === undefined) return undefined;
  const versions = found.flatMap(([table, manifest]) =>
    manifest === undefined || table.startsWith("pond_") ? [] : [[table, manifest.version] as const],
  );
  return { id, versions: Object.fromEntries(versions) };
}

/** Names of manifests count down from 2^64. */
async function newestManifest(
  directory: string,
): Promise<{ readonly path: string; readonly version: number } | undefined> {
  const names = await readdir(join(directory, "_versions")).catch(() => []);
  const [newest] = names.filter((name) => /^\d{20}\.manifest$/.test(name)).toSorted();
  if (newest === undefined) return undefined;
  return {
    path: join(directory, "_versions", newest),
    version: Number(NEWEST - BigInt(newest.slice(0, 20))),
  };
}

/** The id stands in the manifest as text, after its key and a few bytes of framing. */
async function idIn(path: string): Promise<string | undefined> {
  const text = await readFile(path, "latin1").catch(() => "");
  const start = text.indexOf(ID_KEY);
  return start < 0
    ? undefined
    : /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text.slice(start, start + 80))?.[0];
}
