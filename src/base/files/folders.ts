/**
 * The one way to make folders. Node's own (`mkdir` with `recursive`) never returns where the system says "no such
 * file" of a folder whose parent is there: below /proc, and wherever else nobody can make one.
 */
import { lstatSync, mkdirSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, PondError, unlessFailed } from "../errors.ts";

/** Who uses pond as a library has another umask than the command (spec.md#keep-private). */
const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** Makes a folder with those above it, private to the user, and tells which it made, outermost first. */
export function makeFolders(path: string): readonly string[] {
  if (isFolder(path)) return [];
  const parent = dirname(path);
  const made = parent === path ? [] : makeFolders(parent);
  try {
    mkdirSync(path, PRIVATE_FOLDER);
    return [...made, path];
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(path)) return made;
    if (errnoOf(error) === "EEXIST") throw notAFolder(path, error);
    if (errnoOf(error) !== "ENOENT") throw error;
    throw notMade(path, error);
  }
}

const notMade = (path: string, cause?: unknown): PondError =>
  new PondError("storage_unavailable", `no folder can be created in ${dirname(path)}, so ${path} cannot be`, {
    hint: "name a folder on a disk",
    cause,
  });

/**
 * The nearest folder at or above this path that is there. Throws what making the others would, as far as that is known
 * without making any: of a link that leads nowhere, and of a file system that only the kernel makes folders in.
 */
export function nearestFolder(path: string): string {
  if (isFolder(path)) return path;
  const parent = dirname(path);
  if (isLinkAt(path) !== undefined || parent === path) throw notAFolder(path, undefined);
  const folder = nearestFolder(parent);
  if (folder === parent && KERNEL.has(unlessFailed(() => statfsSync(folder).type) ?? 0)) throw notMade(path);
  return folder;
}

/** Linux: proc and sysfs, where even the modes let root write. */
const KERNEL: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Names what is in the way of a folder at or above this path, which the system does not. */
export function notAFolder(path: string, cause: unknown): PondError {
  const isLink = isLinkAt(path);
  if (isLink === undefined && path !== dirname(path)) return notAFolder(dirname(path), cause);
  const isLost = isLink === true && statSync(path, { throwIfNoEntry: false }) === undefined;
  return new PondError(
    "storage_unavailable",
    isLost ? `${path} is a link to ${readlinkSync(path)}, which is not there` : `${path} is not a folder`,
    {
      hint: isLost ? "create or mount what it links to, or name another folder" : "name another folder",
      cause,
    },
  );
}

/** Undefined where there is nothing. */
function isLinkAt(path: string): boolean | undefined {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return undefined;
  }
}

/** A path with the home in the place of a leading `~`, which a shell leaves as it is in `path=~/x`; `~name` is not looked up. */
export function fromHome(path: string, home: string): string {
  return path.replace(/^~(?=$|[/\\])/, () => home);
}
