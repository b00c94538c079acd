/**
 * What a `stat` says of a source, and when two such looks say the same (spec.md#sync-change-detection). A door of its own
 * beside index.ts, as it is all that a sync with nothing to do needs.
 */
import { hash } from "node:crypto";

/** What a `stat` says, enough to see any change without opening the file. */
export interface FileStamp {
  readonly path: string;
  readonly size: number;
  /** Milliseconds with the fraction that the file system keeps. */
  readonly mtime: number;
  readonly inode: number;
  readonly device: number;
}

/** A source that still records no directory is told without one only when nothing was written for this long. */
const SETTLED_AFTER_MS = 60 * 60 * 1000;

/** False for a file that a client may still be at work on. */
export function isSettled(stamp: FileStamp, now: number): boolean {
  return now - stamp.mtime >= SETTLED_AFTER_MS;
}

/** When all of them are, if nothing more is written. */
export function settledFrom(stamps: readonly FileStamp[]): number {
  return Math.max(...stamps.map(({ mtime }) => mtime)) + SETTLED_AFTER_MS;
}

/** As much of a `stat` as a stamp is made of: declarations of the package name no type of Node's. */
interface Stat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

export function stampOf(path: string, stats: Stat): FileStamp {
  return { path, size: stats.size, mtime: stats.mtimeMs, inode: stats.ino, device: stats.dev };
}

/** True when nothing about the file can have changed since the cursor was taken. */
export function isSameStamp(stamp: FileStamp, cursor: Omit<FileStamp, "path"> | undefined): boolean {
  return (
    cursor !== undefined &&
    stamp.size === cursor.size &&
    stamp.mtime === cursor.mtime &&
    stamp.inode === cursor.inode &&
    stamp.device === cursor.device
  );
}

/**
 * What the files of a unit look like, as one text: equal texts mean that nothing about any of them can have changed, its
 * name below the place included where there are several. The form says that a state was recorded with it; what an older
 * pond read is read once more.
 */
export function stampText(files: Readonly<Record<string, Stamp>>): string {
  const entries = Object.entries(files);
  const [only] = entries;
  if (only !== undefined && entries.length === 1) return stampTextOf(only[1]);
  const texts = entries.map(([name, stamp]) => `${textOf(stamp)} ${name}`);
  return `${texts.length}s ${hash("sha1", texts.toSorted().join("\n"))}`;
}

/** The same of one file. */
export const stampTextOf = (file: Stamp): string => `1s ${textOf(file)}`;

type Stamp = Omit<FileStamp, "path">;

function textOf({ size, mtime, inode, device }: Stamp): string {
  return `${size} ${mtime} ${inode} ${device}`;
}
