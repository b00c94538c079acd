/**
 * Files of a local table that no version needs: temporary ones of killed processes, what they wrote and never committed,
 * and what only versions past retention stand on (spec.md#storage-no-garbage). The engine takes none of the first and the
 * others only with a compaction. Where a manifest is not understood to its end, nothing is removed.
 */
import { lstatSync, rmSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { filesBelow, ignoreMissing, QUARANTINE } from "./files.ts";
import { manifestNames, type Manifest, nameOfVersion, readManifest, VERSIONS } from "./manifest.ts";

/** The engine writes under such a name and renames. */
const TEMPORARY = /^\.tmp|#\d+$/;
/** Pond writes under such a name and renames, without the table's lock: nobody is at one for a day. */
const DRAFT = /\.new$/;
/** Folders whose files all stand in some manifest. Whatever else lies there is not ours to judge. */
const KEPT_IN_MANIFESTS = ["data", "_indices", "_deletions", "_transactions"];
/** Where copies of manifests are, among other things: each goes with its version. */
const COPIES = "_sums";
/** Manifests of a large table take 20 ms each to read: they are, once so many versions are to go. */
const READ_AT_ONCE = { bytes: 512 << 10, stale: 64 };

export const isTemporary = (path: string): boolean => TEMPORARY.test(basename(path));

export interface CleanUp {
  /** Versions before this go; undefined: none. The newest stays in any case. */
  readonly versionsBefore: number | undefined;
  /** Only files that were last written before this; undefined: nobody writes, so all that no version names. */
  readonly filesBefore: number | undefined;
  /** Of pond's own drafts, which are written without a lock, only older ones. */
  readonly draftsBefore: number;
}

/** Whether there may be something to remove that is worth the look. Reads one manifest at most. */
export async function hasGarbage(directory: string, versionsBefore: number): Promise<boolean> {
  const [newest, ...older] = await manifestNames(directory);
  const files = (await filesBelow(directory)).map((path) => path.slice(directory.length + 1));
  if (files.some((path) => isTemporary(path) || DRAFT.test(path))) return true;
  // Of one alone nothing ever becomes stale: what was killed before it committed has to be looked for.
  if (newest !== undefined && older.length === 0) {
    const kept = await readAll(directory, [newest]);
    return kept !== undefined && files.some(outside(kept));
  }
  // The last one is the oldest: where it stays, all do.
  const oldest = older.at(-1);
  if (oldest === undefined || mtimeOf(join(directory, VERSIONS, oldest)) >= versionsBefore) return false;
  const sizes = older.map((name) => statSync(join(directory, VERSIONS, name), { throwIfNoEntry: false }));
  const stale = sizes.filter((stat) => stat !== undefined && stat.mtimeMs < versionsBefore).length;
  const bytes = sizes.reduce((sum, stat) => sum + (stat?.size ?? 0), 0);
  return bytes <= READ_AT_ONCE.bytes || stale >= READ_AT_ONCE.stale;
}

/** Removes what is garbage and tells its bytes. */
export async function removeGarbage(directory: string, cleanUp: CleanUp): Promise<number> {
  const names = await manifestNames(directory);
  const { versionsBefore, filesBefore, draftsBefore } = cleanUp;
  const isStale = (name: string): boolean =>
    versionsBefore !== undefined && mtimeOf(join(directory, VERSIONS, name)) < versionsBefore;
  // Names come newest first. What is younger than one that stays, stays.
  const keep = Math.max(1, names.findLastIndex((name) => !isStale(name)) + 1);
  const kept = await readAll(directory, names.slice(0, keep));
  const isOfNoVersion = kept === undefined ? isTemporary : outside(kept);
  const stale = kept === undefined ? [] : names.slice(keep).map((name) => join(VERSIONS, name));
  const isBefore = (path: string, time = Infinity): boolean => mtimeOf(join(directory, path)) < time;
  const files = (await filesBelow(directory)).map((path) => path.slice(directory.length + 1));
  const unnamed = files.filter((path) => isOfNoVersion(path) && isBefore(path, filesBefore));
  const drafts = files.filter((path) => DRAFT.test(path) && isBefore(path, draftsBefore));
  let bytes = 0;
  // Oldest versions first: a crash in between leaves a shorter history, and every version of it whole.
  for (const path of [...stale.toReversed(), ...unnamed, ...drafts]) bytes += remove(join(directory, path));
  const gone = new Set(unnamed);
  const used = new Set(files.filter((path) => !gone.has(path)).map(folderOf));
  // Where others may write only what was emptied here: one who is about to write a file has made its folder.
  const folders = filesBefore === undefined ? await foldersIn(directory) : unnamed.map(folderOf);
  for (const folder of folders)
    if (folder !== "" && !used.has(folder)) rmSync(join(directory, folder), { recursive: true, force: true });
  return bytes;
}

/** Bytes of files that versions before the newest stand on, and it does not; undefined where that cannot be told. */
export async function bytesOfOldVersions(directory: string): Promise<number | undefined> {
  const manifests = await readAll(directory, await manifestNames(directory));
  const [newest] = manifests ?? [];
  if (manifests === undefined || newest === undefined) return undefined;
  const [isOfNone, isNotOfNewest] = [outside(manifests), outside([newest])];
  return (await filesBelow(directory))
    .map((path) => path.slice(directory.length + 1))
    .filter((path) => isNotOfNewest(path) && !isOfNone(path))
    .reduce((sum, path) => sum + (lstatOf(join(directory, path))?.size ?? 0), 0);
}

/** Undefined where one of them cannot be read, or where some were set aside. */
async function readAll(directory: string, names: readonly string[]): Promise<Manifest[] | undefined> {
  const aside = (await readdir(join(directory, QUARANTINE)).catch(ignoreMissing)) ?? [];
  if (aside.length > 0 || names.length === 0) return undefined;
  const manifests: Manifest[] = [];
  for (const name of names) {
    const manifest = await readManifest(directory, name).catch(() => undefined);
    if (manifest === undefined) return undefined;
    manifests.push(manifest);
  }
  return manifests;
}

/** Whether a path below the table's folder belongs to none of these versions. */
function outside(manifests: readonly Manifest[]): (path: string) => boolean {
  const named = new Set<string>();
  for (const { version, fragments, indexes, transaction } of manifests) {
    named.add(`_transactions/${transaction}`).add(`${COPIES}/${nameOfVersion(version)}`);
    for (const { folder } of indexes) named.add(folder);
    for (const { files, deletions } of fragments) {
      if (deletions !== undefined) named.add(deletions);
      // Large values lie in a folder of the file's name.
      for (const { path } of files) named.add(path).add(path.replace(/\.lance$/, ""));
    }
  }
  return (path) => {
    if (isTemporary(path)) return true;
    const [folder = "", entry = ""] = path.split(sep);
    const isKept = KEPT_IN_MANIFESTS.includes(folder) || (folder === COPIES && entry.endsWith(".manifest"));
    return isKept && !named.has(`${folder}/${entry}`);
  };
}

function remove(path: string): number {
  const bytes = lstatOf(path)?.size ?? 0;
  rmSync(path, { force: true });
  return bytes;
}

/** The folder of an index, or of large values, that a file is in; empty for other files. */
function folderOf(path: string): string {
  const parts = path.split(sep);
  return parts.length > 2 ? join(...parts.slice(0, 2)) : "";
}

async function foldersIn(directory: string): Promise<string[]> {
  const folders = ["data", "_indices"].map(async (name) => {
    const entries =
      (await readdir(join(directory, name), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(name, entry.name));
  });
  return (await Promise.all(folders)).flat();
}

const lstatOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
const mtimeOf = (path: string): number => lstatOf(path)?.mtimeMs ?? Infinity;
