/**
 * Writing the files of a restore (spec.md#adapter-restore-staged): all of them are written and checked in a staging folder,
 * then moved into place one by one, never over another file, children before their parents and the root log last. What
 * is there already and equal stays, so that a restore that was killed is completed by the next one.
 */
import type { Stats } from "node:fs";
import { accessSync, constants, statSync } from "node:fs";
import { chmod, copyFile, link, lstat, open, rename, rm, rmdir, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RestoredFile } from "../../../adapters/restore.ts";
import { compareFile, describeDifference, isEqualFile, printFile } from "../../../adapters/restore.ts";
import { errnoOf, PondError, unlessFailed } from "../../../base/errors.ts";
import { makeFolders, nearestFolder, PRIVATE_FILE } from "../../../base/files/folders.ts";
import { unusable } from "../../../base/files/unusable.ts";
import type { WrittenFile } from "../../../wire/restore.ts";
import type { Modes } from "./modes.ts";
import { modesFor } from "./modes.ts";
import { previewFiles } from "./preview.ts";
import type { Reuse, Target } from "./present.ts";
import { allThere, isInPlace, refuseLinks, targetsOf } from "./present.ts";
import { inTarget, makeStaging, removeLeftovers, TARGET } from "./staging.ts";

export interface Writing<T> extends Reuse {
  /** The folder that the paths of the files are relative to. */
  readonly out: string;
  /** True where that is the client's own place, absent where not. */
  readonly isClients?: boolean;
  /** True where a session that is there already is as good as one that was written now. */
  readonly mayBeThere?: boolean;
  readonly files: readonly RestoredFile[];
  /** By the path of a file: its time, in milliseconds since 1970; now where there is none. */
  readonly times?: ReadonlyMap<string, number>;
  /** The path of the file that goes last: with it the client sees the session. */
  readonly last: string | undefined;
  /** Reads what is staged below a folder back, and throws where it is not what was to be restored. */
  readonly check: (staged: string) => Promise<T>;
  /** Called when everything is checked and nothing has its place yet. */
  readonly beforeMoving?: (checked: T, files: readonly WrittenFile[]) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface Written<T> {
  readonly files: readonly WrittenFile[];
  /** What the check found in them; absent where all were there already. */
  readonly checked?: T;
}

/** Writes every file or none. Folders that had to be made are removed again with the files. */
export async function writeFiles<T>(writing: Writing<T>): Promise<Written<T>> {
  const { out, isClients = false, files, times, last, check, signal } = writing;
  const targets = targetsOf(out, files);
  for (const { target } of targets) await refuseLinks(out, target);
  for (const folder of new Set([out, ...targets.map(({ target }) => dirname(target))]))
    await removeLeftovers(folder);
  const isThere = await checkTargets(writing, targets);
  if (isAllThere(isThere)) return { files: await previewFiles(writing) };
  const modes = new Map(targets.map(({ target }) => [target, modesFor(target, { out, isClients })]));
  const undo = new Undo();
  try {
    undo.folders(inTarget(out, () => makeFolders(out)));
    await using staging = makeStaging(out);
    const written: WrittenFile[] = [];
    for (const one of targets) {
      signal.throwIfAborted();
      written.push({
        ...(await stage(one, staging.path, {
          modes: modes.get(one.target),
          time: times?.get(one.file.path),
        })),
        kept: isThere.get(one) === true,
      });
    }
    const checked = await check(staging.path);
    signal.throwIfAborted();
    await writing.beforeMoving?.(checked, written);
    const missing = targets.filter((one) => isThere.get(one) !== true);
    await moveAll(inOrder(missing, last), { out, staging: staging.path, modes, undo });
    return { files: written, checked };
  } catch (error) {
    await undo.run();
    throw ofTarget(out, error);
  }
}

/** Why these files would not be written, before anything is: thrown. True of each that is there and stays. */
export async function checkTargets(
  writing: Pick<Writing<unknown>, "out" | "files" | "last" | "isClients" | "mayBeThere" | "mayBeLonger">,
  targets: readonly Target[] = targetsOf(writing.out, writing.files),
): Promise<ReadonlyMap<Target, boolean>> {
  const { out, isClients = false, last, mayBeLonger } = writing;
  const isThere = new Map<Target, boolean>();
  try {
    for (const { target } of targets) await refuseLinks(out, target);
    for (const one of targets) isThere.set(one, await isInPlace(one, { mayBeLonger }));
  } catch (error) {
    throw ofTarget(out, error);
  }
  if (isAllThere(isThere)) {
    if (writing.mayBeThere === true) return isThere;
    throw allThere(targets, { last, isClients });
  }
  for (const [{ target }, isKept] of isThere) if (!isKept) refuseClosed(dirname(target), out);
  return isThere;
}

const isAllThere = (isThere: ReadonlyMap<Target, boolean>): boolean =>
  isThere.size > 0 && [...isThere.values()].every(Boolean);

/** A folder that cannot be made, or that nobody may write to, is known before it is tried; or the nearest one that is there. */
function refuseClosed(folder: string, out: string): void {
  const nearest = inTarget(folder, () => nearestFolder(folder));
  // Above the folder that was named nobody asked for one.
  const named = out.startsWith(nearest) ? out : nearest;
  inTarget(named, () => accessSync(nearest, constants.W_OK | constants.X_OK));
}

/** The system does not say which disk is full, nor what to do about a folder that is closed. */
function ofTarget(out: string, error: unknown): unknown {
  const errno = errnoOf(error) ?? "";
  if (errno === "ENOSPC" || errno === "EDQUOT") return unusable(out, TARGET, error);
  if (!["EACCES", "EPERM", "EROFS"].includes(errno)) return error;
  const path = error instanceof Error && "path" in error ? error.path : undefined;
  const dest = error instanceof Error && "dest" in error ? error.dest : undefined;
  const named = [dest, path].find((each) => typeof each === "string");
  return unusable(typeof named === "string" ? nearestSeen(dirname(named)) : out, TARGET, error);
}

/** Of a folder that cannot be looked at: the one above it that keeps it closed. */
function nearestSeen(folder: string): string {
  const stats = unlessFailed(() => statSync(folder, { throwIfNoEntry: false }));
  return stats === undefined && dirname(folder) !== folder ? nearestSeen(dirname(folder)) : folder;
}

/** Written, on the disk, and equal to its values when read again. */
async function stage(
  { file, target }: Target,
  staging: string,
  { modes, time }: { readonly modes: Modes | undefined; readonly time: number | undefined },
): Promise<Pick<WrittenFile, "path" | "records" | "bytes">> {
  const path = join(staging, file.path);
  const content = printFile(file);
  makeFolders(dirname(path));
  {
    await using handle = await open(path, "wx", PRIVATE_FILE);
    await handle.writeFile(content);
    // Not when it is made: the command lets nobody else read anything.
    if (modes !== undefined && process.platform !== "win32") await handle.chmod(modes.file);
    if (time !== undefined) await handle.utimes(time / 1000, time / 1000);
    await handle.sync();
  }
  const comparison = await compareFile(file, path);
  if (!isEqualFile(comparison))
    throw new PondError(
      "internal",
      `a restored file does not read back equal: ${describeDifference(comparison)}`,
      {
        reason: "corrupt",
        hint: "nothing was kept; please report this with the session's client and version",
      },
    );
  return { path: target, records: comparison.records, bytes: content.length };
}

/** Adapters list a parent before its children, so the way back puts children first. */
function inOrder(targets: readonly Target[], last: string | undefined): readonly Target[] {
  const isLast = ({ file }: Target): boolean => file.path === last;
  return [...targets.filter((one) => !isLast(one)).toReversed(), ...targets.filter(isLast)];
}

interface Moving {
  readonly out: string;
  readonly staging: string;
  /** By the path of a target. */
  readonly modes: ReadonlyMap<string, Modes>;
  readonly undo: Undo;
}

/** The last one only when the others are on the disk. */
async function moveAll(targets: readonly Target[], { out, staging, modes, undo }: Moving): Promise<void> {
  const dirty = new Set<string>();
  for (const [index, one] of targets.entries()) {
    const { file, target } = one;
    if (index === targets.length - 1) await syncAll(dirty);
    await refuseLinks(out, target);
    const made = makeFolders(dirname(target));
    undo.folders(made);
    const mode = modes.get(target)?.folder ?? 0o700;
    for (const folder of mode === 0o700 ? [] : made) await chmod(folder, mode);
    for (const folder of [dirname(target), ...made.map((path) => dirname(path))]) dirty.add(folder);
    const staged = join(staging, file.path);
    try {
      await moveNew(staged, target);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      // Another restore of the same session may have been faster.
      if (await isInPlace(one)) continue;
      throw error;
    }
    await undo.file(target);
    // Node cannot name a file by the folder that was looked at: one that was exchanged meanwhile is seen afterwards.
    await refuseLinks(out, target);
  }
  await syncAll(dirty);
}

/** File systems that know no hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Gives a file its place, whole or not at all; fails with EEXIST where one is. */
async function moveNew(staged: string, target: string): Promise<void> {
  try {
    return await link(staged, target);
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "EXDEV") return moveAcross(staged, target);
    if (!NO_LINKS.has(errno)) throw error;
  }
  // The name is taken first, so that what is replaced is nobody else's.
  await using _ = await open(target, "wx", PRIVATE_FILE);
  await rename(staged, target);
}

/** A folder inside the target may be a mount of another disk. */
async function moveAcross(staged: string, target: string): Promise<void> {
  await using near = makeStaging(dirname(target));
  const copy = join(near.path, "file");
  await copyFile(staged, copy);
  const { atime, mtime } = await stat(staged);
  await utimes(copy, atime, mtime);
  await syncPath(copy);
  await moveNew(copy, target);
}

async function syncAll(paths: Set<string>): Promise<void> {
  for (const path of paths) await syncPath(path);
  paths.clear();
}

async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync().catch((error: unknown) => {
    // Some systems cannot sync a folder, or a file that is open for reading; there is nothing better to do.
    if (!["EPERM", "EINVAL", "EISDIR", "EBADF", "EROFS"].includes(errnoOf(error) ?? "")) throw error;
  });
}

/** What this run put into place, to be taken away again: only what nobody touched since. */
class Undo {
  readonly #made: { readonly path: string; readonly stats?: Stats }[] = [];

  folders(paths: readonly string[]): void {
    for (const path of paths) this.#made.push({ path });
  }

  async file(path: string): Promise<void> {
    this.#made.push({ path, stats: await lstat(path) });
  }

  async run(): Promise<void> {
    for (const { path, stats } of this.#made.toReversed()) {
      // Only an empty folder goes: whatever somebody else put there meanwhile stays.
      if (stats === undefined) await rmdir(path).catch(() => undefined);
      else if (await isUntouched(path, stats)) await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

async function isUntouched(path: string, { ino, dev, size, mtimeMs }: Stats): Promise<boolean> {
  const now = await lstat(path).catch(() => undefined);
  return now?.ino === ino && now.dev === dev && now.size === size && now.mtimeMs === mtimeMs;
}
