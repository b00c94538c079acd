/**
 * Indexes whose files are lost or damaged (spec.md#storage-derived): derived data, so they are dropped and made again,
 * by whoever comes across them. Of a local store, where the files can be looked at.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isPondError, PondError } from "../../base/errors.ts";
import type { Handle } from "../handle/handle.ts";
import { besideMergers, call } from "../handle/handle.ts";
import { checkTable } from "../local/check.ts";
import { manifestNames, readManifest } from "../local/manifest.ts";
import { indexName, type TableSpec, wantedIndexes } from "../engine/spec.ts";
import { buildIndex } from "./indexes.ts";

/** Drops these indexes, whatever is left of them, and makes those again that the table is declared with. */
export const remakeIndexes = (handle: Handle, names: ReadonlySet<string>): Promise<void> =>
  besideMergers(handle, () => remake(handle, names));

async function remake(handle: Handle, names: ReadonlySet<string>): Promise<void> {
  for (const name of names)
    try {
      await call(handle, `drop index ${name} of`, (table) => table.dropIndex(name));
    } catch (error) {
      // Another process was faster.
      if (!(isPondError(error) && error.code === "conflict") && (await currentNames(handle)).has(name))
        throw error;
    }
  const { value: rows } = await call(handle, "count", (table) => table.countRows());
  for (const spec of wantedIndexes(handle.spec))
    if (names.has(indexName(spec)) && spec.kind !== "vector") await buildIndex(handle, spec, rows);
  await handle.settle();
}

/** The indexes of the newest version that have no files at all. */
export async function indexesWithoutFiles(directory: string): Promise<ReadonlySet<string>> {
  const indexes = await currentIndexes(directory);
  return new Set(
    indexes.filter(({ folder }) => !existsSync(join(directory, folder))).map(({ name }) => name),
  );
}

/**
 * The indexes of the newest version that an engine's error is about. Of a file that was cut it says no name: then they are
 * all looked at, where nothing else explains it.
 */
export async function indexesInError(
  { directory, spec }: { readonly directory: string; readonly spec: TableSpec },
  error: unknown,
): Promise<ReadonlySet<string>> {
  const named = await indexNamedIn(directory, error);
  if (named !== undefined) return new Set([named]);
  if (!isPondError(error) || (error.code !== "internal" && error.reason !== "corrupt")) return new Set();
  const { damage } = await checkTable(directory, spec.name, { deep: true, only: "index" });
  return new Set(damage.flatMap(({ index, isCurrent }) => (isCurrent && index !== undefined ? [index] : [])));
}

async function indexNamedIn(directory: string, error: unknown): Promise<string | undefined> {
  const cause = error instanceof PondError ? error.cause : error;
  const folder = /_indices[\\/]+[0-9a-f]{8}-[0-9a-f-]{27}/.exec(String(cause))?.[0].replaceAll("\\", "/");
  if (folder === undefined) return undefined;
  return (await currentIndexes(directory)).find((index) => index.folder === folder)?.name;
}

async function currentNames({ directory }: Handle): Promise<ReadonlySet<string>> {
  return new Set(directory === undefined ? [] : (await currentIndexes(directory)).map(({ name }) => name));
}

async function currentIndexes(
  directory: string,
): Promise<readonly { readonly name: string; readonly folder: string }[]> {
  const [newest] = await manifestNames(directory);
  return (newest === undefined ? undefined : await readManifest(directory, newest))?.indexes ?? [];
}
