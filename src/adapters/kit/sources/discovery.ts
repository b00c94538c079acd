/** Finding sources: a walk that only lists and stats (spec.md#adapter-source-untouched), and places opened by it. */
import { fromHome } from "../../../base/files/folders.ts";
import type { Dirent } from "node:fs";
import { readdirSync, realpathSync, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, normalize, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errnoOf } from "../../../base/errors.ts";
import type { AdapterEnv, AdapterYield, OpenedPlace, Place, PlacedRequest, Unit } from "./reading.ts";
import type { Issue } from "./issue.ts";
import type { FileStamp } from "../files/stamp.ts";
import { stampOf } from "../files/stamp.ts";

export interface Walked {
  readonly files: readonly FileStamp[];
  /** Folders and files that could not be read: path and reason. */
  readonly faults: readonly Fault[];
}

/** Which files and folders below a place are looked at. */
export interface WalkOptions {
  /** Which files to stat, by name. */
  readonly accepts: (name: string, folder: string) => boolean;
  /** Which folders to enter, by name; all when absent. */
  readonly enters?: (name: string, folder: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * How the folders begin in which a restore prepares its files, beside those of the client. They are no sources: what is
 * in them is moved into place, or was left by a restore that was killed.
 */
export const STAGING = ".pond-restore-";

/** Units that are told at once. */
const BATCH = 512;

/** What stands in a name for bytes that are not UTF-8. */
const REPLACEMENT = "\uFFFD";

const NOT_UTF8 = "its name is not UTF-8, so it cannot be opened; rename it so that it can be read";

/** Files between two breaths: the walk blocks, which is three times as fast as a promise a file. */
const BREATH = 512;

/** Every accepted file below `root`, sorted by path. A link to a folder is followed once, one that leads back never. */
export async function walk(root: string, options: WalkOptions): Promise<Walked> {
  const files: FileStamp[] = [];
  const faults: Fault[] = [];
  const links: Links = { root: normalize(root), seen: new Set(), faults };
  const pending = [links.root];
  let visited = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const inner: string[] = [];
    for (const entry of listFolder(folder, faults)) {
      const path = folder.endsWith(sep) ? folder + entry.name : folder + sep + entry.name;
      if (entry.name.includes(REPLACEMENT) && !isNameWhole(folder, entry.name)) {
        const isWanted = entry.isDirectory()
          ? options.enters?.(entry.name, folder) !== false
          : options.accepts(entry.name, folder);
        if (isWanted) faults.push({ path, message: NOT_UTF8 });
        continue;
      }
      const kind = kindOf(entry, path, links);
      if (entry.name.startsWith(STAGING)) continue;
      if (kind === "folder" && options.enters?.(entry.name, folder) !== false) inner.push(path);
      if (kind !== "file" || !options.accepts(entry.name, folder)) continue;
      const stamp = stampNow(path, faults);
      if (stamp !== undefined) files.push(stamp);
      visited += 1;
      if (visited % BREATH !== 0) continue;
      await setImmediate();
      options.signal?.throwIfAborted();
    }
    options.signal?.throwIfAborted();
    // In the order of their names: what is nearly sorted is sorted fast.
    for (const path of inner.toReversed()) pending.push(path);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, faults };
}

/** The keys of paths: the part below the root, with `/` on every system. */
export function keysBelow(root: string): (path: string) => string {
  const folder = join(root, sep);
  return (path) => {
    // What `walk` found begins so, and there may be hundreds of thousands.
    const below = path.startsWith(folder) ? path.slice(folder.length) : relative(root, path);
    return sep === "/" ? below : below.replaceAll(sep, "/");
  };
}

/** A stamp, or undefined when the file is gone, which is no fault: sources come and go while pond looks. */
export async function stampFile(path: string, faults: Fault[] = []): Promise<FileStamp | undefined> {
  try {
    return stampOf(path, await stat(path));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") faults.push({ path, message: messageOf(error) });
    return undefined;
  }
}

/** Also true where something keeps it from being looked at, such as a folder above it: whoever lists it reports that. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
  }
}

/** The wanted places that are there, each once. */
export async function placesThatExist(wanted: readonly Place[]): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (const place of wanted) {
    const isListed = found.some(({ path, files }) => path === place.path && files === place.files);
    if (!isListed && (await isThere(place))) found.push(place);
  }
  return found;
}

async function isThere({ path: folder, files }: Place): Promise<boolean> {
  if (files === undefined) return isFolder(folder);
  for (const path of files) if ((await stampFile(path)) !== undefined) return true;
  return false;
}

/** How a client whose units contain all that reading them needs lists and reads its places. */
export interface PlaceReader {
  readonly units: (place: Place, signal?: AbortSignal) => AsyncIterable<readonly (Unit | Issue)[]>;
  /** Loads what reads a unit: not before the first one is read. */
  readonly load: () => Promise<
    (unit: Unit, request: PlacedRequest) => AsyncIterable<readonly AdapterYield[]>
  >;
}

/** Opens a place for a client whose units contain all that reading them needs. */
export function openPlace(place: Place, { units, load }: PlaceReader): Promise<OpenedPlace> {
  return Promise.resolve({
    place,
    units: (signal) => units(place, signal),
    async *read(unit, request) {
      const read = await load();
      yield* read(unit, { ...request, place });
    },
    // Each read closes what it opened.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

/** Units of one file each: the accepted files below the place. */
export async function* unitsPerFile(
  place: Place,
  { adapter, ...options }: WalkOptions & { readonly adapter: string },
): AsyncGenerator<readonly (Unit | Issue)[]> {
  const walked = await walk(place.path, options);
  yield issuesOf(walked.faults, adapter);
  const keyOf = keysBelow(place.path);
  yield* batchesOf(walked.files.map((stamp): Unit => ({ key: keyOf(stamp.path), files: [stamp] })));
}

/** A folder in a client's own variable, as most clients read it: `~` is the home; undefined where it is not set. */
export function folderInVariable({ env, home }: AdapterEnv, variable: string): string | undefined {
  const path = env[variable];
  return path === undefined || path === "" ? undefined : fromHome(path, home);
}

export function issuesOf(faults: readonly Fault[], adapter: string): readonly Issue[] {
  return faults.map(({ path, message }) => ({ kind: "unreadable", adapter, path, message }));
}

export function* batchesOf<T>(found: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < found.length; start += BATCH) yield found.slice(start, start + BATCH);
}

/** The folders in a folder, links to one included; none where it cannot be listed. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(folder, name));
}

/** The names of the files in a folder; none where it cannot be listed. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

/** The files of one name below the folders of a place: how clients that keep a folder a directory keep a session. */
export async function filesInFolders(
  { path }: Place,
  name: string,
): Promise<readonly { readonly path: string }[]> {
  const found: { readonly path: string }[] = [];
  for (const folder of await foldersIn(path)) {
    const file = join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    if (stats?.isFile() === true) found.push({ path: file });
  }
  return found;
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

function listFolder(folder: string, faults: Fault[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") faults.push({ path: folder, message: messageOf(error) });
    return [];
  }
}

/**
 * False for a name that stands for other bytes, which no path in text can name. One with a real replacement character is
 * whole. Asked for hardly ever, so that the folder is simply listed again.
 */
function isNameWhole(folder: string, name: string): boolean {
  try {
    const bytes = Buffer.from(name);
    return readdirSync(folder, { encoding: "buffer" }).some((entry) => entry.equals(bytes));
  } catch {
    return false;
  }
}

/** The same at once: of many files, waiting for each would cost more than looking. */
export function stampNow(path: string, faults: Fault[] = []): FileStamp | undefined {
  try {
    return stampOf(path, statSync(path));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") faults.push({ path, message: messageOf(error) });
    return undefined;
  }
}

interface Links {
  /** Where the walk began. */
  readonly root: string;
  /** The folders that were reached by links. */
  readonly seen: Set<string>;
  readonly faults: Fault[];
}

type Kind = "file" | "folder" | undefined;

function kindOf(entry: Dirent, path: string, links: Links): Kind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  if (!entry.isSymbolicLink()) return undefined;
  try {
    return kindOfLink(path, links);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") links.faults.push({ path, message: messageOf(error) });
    return undefined;
  }
}

/** A link is what it points to, but for folders that were reached by a link before or hold this one (spec.md#sync-links). */
function kindOfLink(path: string, { root, seen }: Links): Kind {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return "file";
  if (stats?.isDirectory() !== true) return undefined;
  const target = realpathSync(path);
  if (seen.has(target) || leadsBack(target, path, root)) return undefined;
  seen.add(target);
  return "folder";
}

/** True when the target holds the place, or a folder on the way from it to the link: what it holds is walked already. */
function leadsBack(target: string, link: string, root: string): boolean {
  const start = target.endsWith(sep) ? target : target + sep;
  for (let folder = dirname(link); ; folder = dirname(folder)) {
    if ((realpathSync(folder) + sep).startsWith(start)) return true;
    if (folder.length <= root.length) return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
