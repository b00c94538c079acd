/**
 * Checksums of the files of a local table (spec.md#storage-checksums): the engine writes none, and hands out what a flipped
 * bit made of a value. A file never changes once it is written, so a line of this log never becomes wrong; of a name that
 * was used again (a version after one that was lost) the last line counts. Each line has a checksum of its own: damage of
 * the log is never taken for damage of a file. Losing it costs the proof, nothing else.
 */
import { createHash, randomUUID } from "node:crypto";
import { appendFile, copyFile, link, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { crc32 } from "node:zlib";
import { makeFolders } from "../../base/files/folders.ts";
import { filesBelow, ignoreMissing } from "./files.ts";
import { manifestNames } from "./manifest.ts";

export interface Sum {
  readonly bytes: number;
  readonly digest: string;
  /** It was taken some time after the file was written: of what the file had become by then. */
  readonly isLate?: boolean;
}

/** Sums by the names of files, relative to the table's folder, with `/`. */
export type Sums = ReadonlyMap<string, Sum>;

const FOLDER = "_sums";
const CHUNK = 1 << 20;
/** Enough to tell damage; nobody forges files of one's own store. */
const DIGEST_CHARACTERS = 22;

const logOf = (directory: string): string => join(directory, FOLDER, "files.log");

/** True for files whose content a version needs: not what is being written, and not what only speeds up or tells of commits. */
export function isSummed(name: string): boolean {
  const [folder, ...rest] = name.split("/");
  if (rest.at(-1)?.startsWith(".tmp") === true) return false;
  return folder === "_versions"
    ? name.endsWith(".manifest")
    : folder === "data" || folder === "_indices" || folder === "_deletions";
}

/** The name of a file as the log spells it. */
export const sumName = (relative: string): string => (sep === "/" ? relative : relative.replaceAll(sep, "/"));

export async function readSums(directory: string): Promise<Map<string, Sum>> {
  const text = (await readFile(logOf(directory), "latin1").catch(ignoreMissing)) ?? "";
  const sums = new Map<string, Sum>();
  for (const line of text.split("\n")) {
    const [check = "", name = "", bytes = "", digest = "", late] = line.split(" ");
    if (check === "" || check !== checkOf(`${name} ${bytes} ${digest}`)) continue;
    if (digest === FORGOTTEN) sums.delete(name);
    else sums.set(name, { bytes: Number(bytes), digest, ...(late === LATE ? { isLate: true } : {}) });
  }
  return sums;
}

/** Lets go of the sum of a file that was moved away: its name may be used again, as those of versions are. */
export function forgetSum(directory: string, name: string): Promise<void> {
  return appendSums(directory, new Map([[name, { bytes: 0, digest: FORGOTTEN }]]));
}

const FORGOTTEN = "-";
/** Behind the line, which an older pond reads as if it were not there. */
const LATE = "late";

/** Adds lines in one write, behind whatever a crash may have left of one. Not forced to the disk: a lost line is one less. */
export async function appendSums(directory: string, sums: Sums): Promise<void> {
  if (sums.size === 0) return;
  makeFolders(join(directory, FOLDER));
  await appendFile(logOf(directory), `\n${linesOf(sums)}`);
}

/** Writes the log anew. What another process adds meanwhile may be lost with it, and is added by the next maintenance. */
export async function rewriteSums(directory: string, sums: Sums): Promise<void> {
  const path = logOf(directory);
  makeFolders(dirname(path));
  const draft = `${path}.${randomUUID()}.new`;
  await writeFile(draft, linesOf(sums));
  await rename(draft, path);
}

/** Lines of files that are gone, beside as many of others, that are not worth writing the log anew. */
const SPARE_LINES = 500;

/** Takes the sums that are missing, and lets go of those whose files are gone. */
export async function tidySums(directory: string): Promise<void> {
  const sums = await readSums(directory);
  const names = (await filesBelow(directory)).map((path) => sumName(path.slice(directory.length + 1)));
  const added = new Map<string, Sum>();
  for (const name of names) {
    if (!isSummed(name) || sums.has(name)) continue;
    const sum = await sumOf(join(directory, name));
    if (sum !== undefined) added.set(name, { ...sum, isLate: true });
  }
  await appendSums(directory, added);
  await keepVersion(directory);
  if (sums.size <= 2 * names.length + SPARE_LINES) return;
  const present = new Set(names);
  // A version that is newer than all that are there was lost, and stays so until it is repaired.
  const [newest = ""] = names.filter((name) => name.startsWith("_versions/")).toSorted();
  const isLost = (name: string): boolean => name.startsWith("_versions/") && name < newest;
  await rewriteSums(
    directory,
    new Map([...sums, ...added].filter(([name]) => present.has(name) || isLost(name))),
  );
}

/** Where the newest versions are kept a second time: without its list of files a table is lost with all of them. */
export const copyOfVersion = (directory: string, name: string): string => join(directory, FOLDER, name);

/**
 * Keeps the newest version a second time: copied where there is hardly an older one to fall back on, else linked, since the
 * lists of files are most of what small commits write. A link outlives the loss of the file, and not a change of it.
 */
export async function keepVersion(directory: string): Promise<void> {
  const names = await manifestNames(directory);
  const [newest] = names;
  if (newest === undefined) return;
  const folder = join(directory, FOLDER);
  makeFolders(folder);
  const copies = (await readdir(folder)).filter((each) => each.endsWith(".manifest"));
  if (!copies.includes(newest)) {
    // Several processes may be at it.
    const draft = join(folder, `${randomUUID()}.new`);
    const isFew = names.length <= ENOUGH_VERSIONS;
    await (isFew ? copyFile : link)(join(directory, "_versions", newest), draft).catch(ignoreMissing);
    await rename(draft, copyOfVersion(directory, newest)).catch(ignoreMissing);
  }
  const kept = new Set([newest, ...names.slice(-ENOUGH_VERSIONS)]);
  for (const old of copies) if (!kept.has(old)) await rm(join(folder, old), { force: true });
}

/** The name of the newest version of which a good copy is kept. */
export async function newestCopy(directory: string, sums: Sums): Promise<string | undefined> {
  const names = (await readdir(join(directory, FOLDER)).catch(ignoreMissing)) ?? [];
  for (const name of names.filter((each) => each.endsWith(".manifest")).toSorted()) {
    const [written, now] = [sums.get(`_versions/${name}`), await sumOf(copyOfVersion(directory, name))];
    if (written !== undefined && now !== undefined && isSameSum(written, now)) return name;
  }
  return undefined;
}

/** Puts the newest version back where its list of files was lost and a good copy of it is kept. */
export async function putBackNewest(directory: string): Promise<void> {
  const copies = (await readdir(join(directory, FOLDER)).catch(ignoreMissing)) ?? [];
  const [newest = LAST_NAME] = await manifestNames(directory);
  // Names count down: what sorts first is the newest.
  if (!copies.some((name) => name.endsWith(".manifest") && name < newest)) return;
  const copy = await newestCopy(directory, await readSums(directory));
  if (copy === undefined || copy >= newest) return;
  const path = join(directory, "_versions", copy);
  makeFolders(dirname(path));
  // Another process may be at it.
  await link(copyOfVersion(directory, copy), path).catch(() => undefined);
}

const LAST_NAME = "~";

/** With so many a damaged newest one costs one commit, which is read again. */
const ENOUGH_VERSIONS = 2;

function linesOf(sums: Sums): string {
  let text = "";
  for (const [name, { bytes, digest, isLate }] of sums) {
    const line = `${name} ${bytes} ${digest}`;
    text += `${checkOf(line)} ${line}${isLate === true ? ` ${LATE}` : ""}\n`;
  }
  return text;
}

const checkOf = (line: string): string => crc32(line).toString(16).padStart(8, "0");

/** The sum of a file as it is now, read in bounded memory; undefined where it is not there. */
export async function sumOf(path: string, signal?: AbortSignal): Promise<Sum | undefined> {
  const file = await open(path, "r").catch(ignoreMissing);
  if (file === undefined) return undefined;
  try {
    const hash = createHash("sha256");
    const { size } = await file.stat();
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size + 1));
    let bytes = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes);
      if (bytesRead === 0) return { bytes, digest: hash.digest("base64url").slice(0, DIGEST_CHARACTERS) };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

export const isSameSum = (a: Sum, b: Sum): boolean => a.bytes === b.bytes && a.digest === b.digest;
