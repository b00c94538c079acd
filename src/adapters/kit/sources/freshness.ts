/**
 * Exact and cheap change detection (spec.md#sync-change-detection). Identity, size and mtime equal means fresh:
 * the file is not opened. Otherwise the bytes before the committed offset tell a grown file from a rewritten one.
 */
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { extractName, extractString, integerField } from "../extract/extract.ts";
import type { LogMark } from "../files/record-chain.ts";
import type { SourceFile } from "../files/source-file.ts";
import type { FileStamp } from "../files/stamp.ts";

export interface FileCursor {
  readonly size: number;
  readonly mtime: number;
  readonly inode: number;
  readonly device: number;
  /** Bytes that are committed: the end of the last terminated record. */
  readonly offset: number;
  /** Hash of the bytes before `offset` (see `hashedFrom`), empty at offset 0. */
  readonly tail: string;
}

/**
 * Where the read of a file stopped; at its start for one that is only ever read as a whole. The stamp is the one from
 * before the read, so that growth since is seen. A file that `isUnsettled` never looks fresh.
 */
export function fileCursor(
  { size, mtime, inode, device }: FileStamp,
  { offset = 0, tail = "", isUnsettled = false }: Reached = {},
): FileCursor {
  return { size, mtime: isUnsettled ? -1 : mtime, inode, device, offset, tail };
}

interface Reached extends Partial<Pick<FileCursor, "offset" | "tail">> {
  readonly isUnsettled?: boolean;
}

/** Where a unit's last committed read stopped, by the file's path relative to the unit's log folder or root. */
export interface Cursor {
  readonly files: Readonly<Record<string, FileCursor>>;
  /** Whatever else the adapter needs to continue. */
  readonly state?: JsonValue;
}

/** The id under which the committed part of a log was told; it stays, whatever else the place holds by now. */
export function committedSession(cursor: Cursor | undefined): string | undefined {
  const state = cursor?.state;
  return isJsonObject(state) ? extractName(state, "session") : undefined;
}

/** How far the committed part of a log was told; undefined where an older pond read it, which recorded no state. */
export function committedMark(cursor: Cursor | undefined): LogMark | undefined {
  const state = cursor?.state;
  if (!isJsonObject(state)) return undefined;
  const records = integerField(state, "records");
  const chain = extractString(state, "chain");
  const newest = integerField(state, "newest");
  if (records === undefined || chain === undefined || newest === undefined) return undefined;
  return { records, chain, newest };
}

/** What a cursor remembers of a log: whose it is, and how far it was told. */
export function committedState(session: string, { records, chain, newest }: LogMark): JsonObject {
  return { session, records, chain, newest };
}

/** A log of up to this size is compared record by record with what an earlier read committed of it. */
export const HELD_BYTES = 4 * 1024 * 1024;

const TAIL_BYTES = 4096;

/** What before an offset is hashed: all of it, but for logs whose records are compared anyway. */
export function hashedFrom(offset: number): number {
  return offset > HELD_BYTES ? 0 : Math.max(0, offset - TAIL_BYTES);
}

/** The offset to go on from: the committed one when the file only grew, 0 when it was rewritten or replaced. */
export function resumeOffset(file: SourceFile, cursor: FileCursor | undefined): number {
  if (cursor === undefined || cursor.offset === 0 || file.size < cursor.offset) return 0;
  return tailHash(file, cursor.offset) === cursor.tail ? cursor.offset : 0;
}

const CHUNK_BYTES = 1024 * 1024;

/** How far a file is hashed from its start: what it is gone on with once more of it was read. */
const hashed = new WeakMap<SourceFile, TailHash>();

/** Hash of the bytes before `offset`: 1 ms a megabyte where the file is in memory. */
export function tailHash(file: SourceFile, offset: number): string {
  if (offset === 0) return "";
  const start = hashedFrom(offset);
  const before = start === 0 ? hashed.get(file) : undefined;
  const hash = before === undefined || before.end > offset ? new TailHash(start) : before;
  const buffer = Buffer.alloc(Math.min(offset - hash.end, CHUNK_BYTES));
  while (hash.end < offset) {
    const length = file.read(buffer.subarray(0, Math.min(buffer.length, offset - hash.end)), hash.end);
    if (length === 0) break;
    hash.add(buffer.subarray(0, length));
  }
  if (start === 0) hashed.set(file, hash);
  return hash.text();
}

/** The same over bytes at hand, from `hashedFrom` on: for sources that cannot seek. */
export class TailHash {
  readonly #hash = createHash("sha256");
  /** Behind the last byte that was added. */
  end: number;

  constructor(start: number) {
    this.end = start;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.end += bytes.length;
  }

  text(): string {
    return this.#hash.copy().digest("hex").slice(0, 32);
  }
}
