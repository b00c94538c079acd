/**
 * Looks at the files of a local store, without the engine (spec.md#storage-checksums): is there what the retained versions
 * of its tables name, of the right size, and, where asked to read all of it, with the content that was written.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, toPondError } from "../../base/errors.ts";
import { notAFolder } from "../../base/files/folders.ts";
import type { StorageUrl } from "../engine/storage-url.ts";
import { filesBelow, ignoreMissing, QUARANTINE } from "./files.ts";
import type { Manifest } from "./manifest.ts";
import { manifestNames, parseManifest, VERSIONS, versionOfName } from "./manifest.ts";
import type { ExpectedTable } from "./lost-tables.ts";
import { missingTables } from "./lost-tables.ts";
import type { Sum, Sums } from "./sums.ts";
import { isSameSum, newestCopy, readSums, sumName, sumOf } from "./sums.ts";

export interface CheckOptions {
  /** Read every byte, too. */
  readonly deep: boolean;
  /** Only files that hold this. */
  readonly only?: Damage["holds"];
  readonly signal?: AbortSignal;
  /** Called after each file that was read. */
  readonly onRead?: (bytes: number) => void;
}

/** Something of a table that is not as it was written. */
export interface Damage {
  readonly table: string;
  /** Below the table's folder. */
  readonly file: string;
  readonly what: "missing" | "wrong size" | "changed";
  /** What the file holds: rows, which of them are deleted, an index, the list of a version's files, or all of the table. */
  readonly holds: "rows" | "deletions" | "index" | "version" | "table";
  /** The retained versions that need it. */
  readonly versions: readonly number[];
  /** The newest version needs it. */
  readonly isCurrent: boolean;
  /** The fragment of rows that it is of. */
  readonly fragment?: number;
  /** The name of the index that it is of. */
  readonly index?: string;
}

export interface TableCheck {
  readonly table: string;
  readonly directory: string;
  /** Files that retained versions need. */
  readonly files: number;
  readonly bytes: number;
  /** Of these, files of which no checksum was kept: an older pond wrote them, or a crash came first. */
  readonly unsummed: number;
  /** Of these, files whose checksum was taken some time after they were written: it proves them from then on only. */
  readonly late: number;
  /** Fragments of the newest version with such files. */
  readonly suspects: readonly number[];
  /** Commits that were torn, and moved away: what they stored is lost, or was read again. */
  readonly isTorn: boolean;
  readonly damage: readonly Damage[];
  /** A repair was cut off: rows of files that it took out are kept beside the table, and not stored yet. */
  readonly isCutOff: boolean;
}

/** Where a repair keeps what it could read of damaged files. */
export const SALVAGE = "_salvage";

interface Needed {
  readonly holds: Damage["holds"];
  readonly bytes: number | undefined;
  readonly versions: number[];
  readonly fragment?: number;
  readonly index?: string;
}

/**
 * Every table of a local store, its derived ones included; none of a store elsewhere. Tables that are `expected` and were
 * lost are damage.
 */
export async function checkStore(
  url: StorageUrl,
  namespace: string,
  {
    expected,
    tables: wanted,
    ...options
  }: CheckOptions & {
    readonly expected: readonly ExpectedTable[];
    /** Only these; all where absent. */
    readonly tables?: readonly string[];
  },
): Promise<TableCheck[]> {
  if (url.kind !== "local") return [];
  const root = join(url.href, namespace);
  const names = await readdir(root).catch((error: unknown) => {
    // What is named as the store is a file, or below one.
    if (errnoOf(error) === "ENOTDIR") throw notAFolder(root, error);
    return ignoreMissing(error) ?? [];
  });
  const tables = names
    .filter((name) => name.endsWith(".lance") && !/^pond_(?!store\.)/.test(name))
    .map((name) => name.slice(0, -".lance".length))
    .filter((name) => wanted?.includes(name) !== false)
    .toSorted();
  const checks: TableCheck[] = [];
  for (const name of tables) checks.push(await checkTable(join(root, `${name}.lance`), name, options));
  if (wanted !== undefined) return checks;
  const { lost } = await missingTables(url, namespace, expected);
  // Of one with a folder its check has told.
  for (const name of lost)
    if (!tables.includes(name)) checks.push(goneTable(join(root, `${name}.lance`), name));
  return checks;
}

function goneTable(directory: string, table: string): TableCheck {
  const damage: Damage = { table, file: "", what: "missing", holds: "table", versions: [], isCurrent: true };
  return {
    table,
    directory,
    files: 0,
    bytes: 0,
    unsummed: 0,
    late: 0,
    suspects: [],
    isTorn: false,
    damage: [damage],
    isCutOff: false,
  };
}

export async function checkTable(
  directory: string,
  table: string,
  options: CheckOptions,
): Promise<TableCheck> {
  try {
    return await new Check(directory, table, options).run();
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toPondError(error);
  }
}

class Check {
  readonly #directory: string;
  readonly #table: string;
  readonly #options: CheckOptions;
  readonly #damage: Damage[] = [];
  readonly #needed = new Map<string, Needed>();
  #newest = 0;
  #bytes = 0;
  #unsummed = 0;
  #late = 0;
  readonly #suspects = new Set<number>();

  constructor(directory: string, table: string, options: CheckOptions) {
    this.#directory = directory;
    this.#table = table;
    this.#options = options;
  }

  async run(): Promise<TableCheck> {
    const names = await manifestNames(this.#directory);
    const sums = await readSums(this.#directory);
    if (names.length === 0) return this.#withoutVersions(sums);
    this.#newest = Math.max(0, ...names.map(versionOfName));
    const folders = byFolder(sums);
    for (const name of names) await this.#version(name, { sums, folders });
    this.#lookForLost(sums, new Set(names.map(versionOfName)));
    const present = new Set(
      (await filesBelow(this.#directory)).map((path) => sumName(path.slice(this.#directory.length + 1))),
    );
    for (const [file, needed] of this.#needed) await this.#file(file, needed, { sums, present });
    // Another process may have removed the oldest versions with their files while we looked.
    const left = (await manifestNames(this.#directory)).map(versionOfName);
    const oldest = Math.min(...left);
    const damage = this.#damage.filter(({ versions }) => versions.some((version) => version >= oldest));
    return {
      table: this.#table,
      directory: this.#directory,
      files: this.#needed.size + names.length,
      bytes: this.#bytes,
      unsummed: this.#unsummed,
      late: this.#late,
      suspects: [...this.#suspects],
      isTorn: [...present].some((name) => name.startsWith(`${QUARANTINE}/`)),
      damage,
      isCutOff: [...present].some((name) => name.startsWith(`${SALVAGE}/`)),
    };
  }

  /** Every list of files is lost: the copy of one takes its place, or else the table is gone, whatever is left of it. */
  async #withoutVersions(sums: Sums): Promise<TableCheck> {
    const copy = await newestCopy(this.#directory, sums);
    const gone = goneTable(this.#directory, this.#table);
    if (copy === undefined) return gone;
    const versions = [versionOfName(copy)];
    this.#found(`${VERSIONS}/${copy}`, "missing", { holds: "version", bytes: undefined, versions });
    return { ...gone, damage: this.#damage };
  }

  /** Manifests are small and always read: all else hangs on them. */
  async #version(
    name: string,
    { sums, folders }: { readonly sums: Sums; readonly folders: ReadonlyMap<string, readonly string[]> },
  ): Promise<void> {
    const file = `${VERSIONS}/${name}`;
    const bytes = await readFile(join(this.#directory, VERSIONS, name)).catch(ignoreMissing);
    if (bytes === undefined) return;
    const version = versionOfName(name);
    const needed: Needed = { holds: "version", bytes: undefined, versions: [version] };
    const sum = sums.get(file);
    const now = await sumOf(join(this.#directory, VERSIONS, name));
    let manifest: Manifest | undefined;
    try {
      manifest = parseManifest(bytes);
    } catch {
      // Told below.
    }
    this.#bytes += bytes.length;
    if (sum === undefined) this.#unsummed += 1;
    const isChanged = sum !== undefined && now !== undefined && !isSameSum(sum, now);
    if (manifest?.version !== version || isChanged) return this.#found(file, "changed", needed);
    for (const fragment of manifest.fragments) {
      for (const { path, bytes: size } of fragment.files) {
        this.#need(path, { holds: "rows", bytes: size, versions: [version], fragment: fragment.id });
        for (const beside of folders.get(path.slice(0, -".lance".length)) ?? [])
          this.#need(beside, { holds: "rows", bytes: undefined, versions: [version], fragment: fragment.id });
      }
      if (fragment.deletions !== undefined)
        this.#need(fragment.deletions, {
          holds: "deletions",
          bytes: undefined,
          versions: [version],
          fragment: fragment.id,
        });
    }
    for (const { name: index, folder } of manifest.indexes) {
      const files = folders.get(folder) ?? [];
      for (const path of files.length === 0 ? [`${folder}/`] : files)
        this.#need(path, { holds: "index", bytes: undefined, versions: [version], index });
    }
  }

  #need(file: string, needed: Needed): void {
    const known = this.#needed.get(file);
    if (known === undefined) this.#needed.set(file, needed);
    else known.versions.push(...needed.versions);
  }

  /** Old versions are removed from the oldest on: any other that is not there was lost. */
  #lookForLost(sums: Sums, present: ReadonlySet<number>): void {
    const oldest = Math.min(...present);
    for (const file of sums.keys()) {
      const version = file.startsWith(`${VERSIONS}/`) ? versionOfName(file.slice(VERSIONS.length + 1)) : 0;
      if (version < oldest || present.has(version)) continue;
      this.#found(file, "missing", { holds: "version", bytes: undefined, versions: [version] });
    }
  }

  async #file(
    file: string,
    needed: Needed,
    { sums, present }: { readonly sums: Sums; readonly present: ReadonlySet<string> },
  ): Promise<void> {
    this.#options.signal?.throwIfAborted();
    if (this.#options.only !== undefined && this.#options.only !== needed.holds) return;
    // Of an index without sums all that can be told is whether it is there.
    if (file.endsWith("/")) {
      this.#unsummed += 1;
      if (![...present].some((name) => name.startsWith(file))) this.#found(file, "missing", needed);
      return;
    }
    const path = join(this.#directory, file);
    const info = present.has(file) ? await stat(path).catch(ignoreMissing) : undefined;
    if (info === undefined) return this.#found(file, "missing", needed);
    this.#bytes += info.size;
    const sum = sums.get(file);
    if (sum === undefined) this.#unsummed += 1;
    else if (sum.isLate === true) this.#late += 1;
    const isDoubtful = (sum === undefined || sum.isLate === true) && needed.fragment !== undefined;
    if (isDoubtful && needed.versions.includes(this.#newest)) this.#suspects.add(needed.fragment);
    const wanted = needed.bytes ?? sum?.bytes;
    if (wanted !== undefined && wanted !== info.size) return this.#found(file, "wrong size", needed);
    if (!this.#options.deep || sum === undefined) return;
    const now: Sum | undefined = await sumOf(path, this.#options.signal);
    this.#options.onRead?.(info.size);
    if (now !== undefined && !isSameSum(now, sum)) this.#found(file, "changed", needed);
  }

  #found(file: string, what: Damage["what"], { holds, versions, fragment, index }: Needed): void {
    const isCurrent = versions.some((version) => version >= this.#newest);
    this.#damage.push({
      table: this.#table,
      file,
      what,
      holds,
      versions,
      isCurrent,
      ...(fragment === undefined ? {} : { fragment }),
      ...(index === undefined ? {} : { index }),
    });
  }
}

/** Names in the log by the folder two below the table's own that holds them: that of an index, or of large values. */
function byFolder(sums: Sums): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const name of sums.keys()) {
    const [first = "", second = "", ...rest] = name.split("/");
    if (rest.length === 0) continue;
    const folder = `${first}/${second}`;
    const names = folders.get(folder);
    if (names === undefined) folders.set(folder, [name]);
    else names.push(name);
  }
  return folders;
}
