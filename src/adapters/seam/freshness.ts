/**
 * Exact and cheap change detection (spec.md#sync-change-detection). Identity, size and mtime equal means fresh:
 * the file is not opened. Otherwise the bytes before the committed offset tell a grown file from a rewritten one.
 */
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import type { JsonValue } from "../../base/json.ts";
import type { SourceFile } from "./source-file.ts";

/** What a `stat` says, enough to see any change without opening the file. */
export interface FileStamp {
  readonly path: string;
  readonly size: number;
  /** Milliseconds with the fraction that the file system keeps. */
  readonly mtime: number;
  readonly inode: number;
  readonly device: number;
}

export interface FileCursor {
  readonly size: number;
  readonly mtime: number;
  readonly inode: number;
  readonly device: number;
  /** Bytes that are committed: the end of the last terminated record. */
  readonly offset: number;
  /** Hash of the last bytes before `offset` (see TAIL_BYTES), empty at offset 0. */
  readonly tail: string;
}

/** Where a unit's last committed read stopped, by the file's path relative to the unit's log folder or root. */
export interface Cursor {
  readonly files: Readonly<Record<string, FileCursor>>;
  /** Whatever else the adapter needs to continue. */
  readonly state?: JsonValue;
}

/** How much before the offset is compared: a rewrite that keeps these bytes and the length is not seen by size. */
export const TAIL_BYTES = 4096;

/** A source that still records no directory is told without one only when nothing was written for this long. */
const SETTLED_AFTER_MS = 60 * 60 * 1000;

/** False for a file that a client may still be at work on. */
export function isSettled(stamp: FileStamp, now: number): boolean {
  return now - stamp.mtime >= SETTLED_AFTER_MS;
}

export function stampOf(path: string, stats: Stats): FileStamp {
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

/** What the files of a unit look like, as one text: equal texts mean that nothing about any of them can have changed. */
export function stampText(files: readonly Omit<FileStamp, "path">[]): string {
  const stamps = files.map(({ size, mtime, inode, device }) => `${size} ${mtime} ${inode} ${device}`);
  return `${stamps.length} ${(stamps.length > 1 ? stamps.toSorted() : stamps).join(" ")}`;
}

/** The offset to go on from: the committed one when the file only grew, 0 when it was rewritten or replaced. */
export function resumeOffset(file: SourceFile, cursor: FileCursor | undefined): number {
  if (cursor === undefined || cursor.offset === 0 || file.size < cursor.offset) return 0;
  return tailHash(file, cursor.offset) === cursor.tail ? cursor.offset : 0;
}

/** Hash of the bytes right before `offset`. */
export function tailHash(file: SourceFile, offset: number): string {
  if (offset === 0) return "";
  const buffer = Buffer.alloc(Math.min(offset, TAIL_BYTES));
  return hashTail(buffer.subarray(0, file.read(buffer, offset - buffer.length)));
}

/** The same over bytes at hand, at most the last TAIL_BYTES before the offset: for sources that cannot seek. */
export function hashTail(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}
