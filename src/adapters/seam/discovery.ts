/** Finding sources: a walk that only lists and stats (spec.md#adapter-source-untouched). */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { FileStamp } from "./freshness.ts";
import { stampOf } from "./freshness.ts";

export interface Walked {
  readonly files: readonly FileStamp[];
  /** Folders and files that could not be read: path and reason. */
  readonly faults: readonly { readonly path: string; readonly message: string }[];
}

export interface WalkOptions {
  /** Which files to stat, by name. */
  readonly accepts: (name: string, folder: string) => boolean;
  /** Which folders to enter, by name; all when absent. */
  readonly enters?: (name: string, folder: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Every accepted file below `root`, sorted by path. Links to folders are followed once, a loop ends by itself. */
export async function walk(root: string, options: WalkOptions): Promise<Walked> {
  const files: FileStamp[] = [];
  const faults: { path: string; message: string }[] = [];
  const seen = new Set<string>();
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    options.signal?.throwIfAborted();
    const entries = await listFolder(folder, faults);
    const wanted: string[] = [];
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (options.enters?.(entry.name, folder) !== false) pending.push(path);
      } else if (entry.isSymbolicLink()) {
        const target = await followLink(path, seen);
        if (target === "folder" && options.enters?.(entry.name, folder) !== false) pending.push(path);
        else if (target === "file" && options.accepts(entry.name, folder)) wanted.push(path);
      } else if (entry.isFile() && options.accepts(entry.name, folder)) wanted.push(path);
    }
    const stamps = await Promise.all(wanted.map(async (path) => stampFile(path, faults)));
    for (const stamp of stamps) if (stamp !== undefined) files.push(stamp);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, faults };
}

/** A stamp, or undefined when the file is gone, which is no fault: sources come and go while pond looks. */
export async function stampFile(
  path: string,
  faults: { path: string; message: string }[] = [],
): Promise<FileStamp | undefined> {
  try {
    return stampOf(path, await stat(path));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") faults.push({ path, message: messageOf(error) });
    return undefined;
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function listFolder(folder: string, faults: { path: string; message: string }[]): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") faults.push({ path: folder, message: messageOf(error) });
    return [];
  }
}

/** A folder reached a second time, by device and inode, is not entered again. */
async function followLink(path: string, seen: Set<string>): Promise<"file" | "folder" | undefined> {
  try {
    const stats = await stat(path);
    if (stats.isFile()) return "file";
    const identity = `${stats.dev}:${stats.ino}`;
    if (!stats.isDirectory() || seen.has(identity)) return undefined;
    seen.add(identity);
    return "folder";
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
