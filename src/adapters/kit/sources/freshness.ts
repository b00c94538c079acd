/**
 * Exact and cheap change detection (spec.md#sync-change-detection). Identity, size and mtime equal means fresh:
 * the file is not opened. Otherwise the bytes before the committed offset tell a grown file from a rewritten one.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { extractName, extractString, integerField } from "../extract/extract.ts";
import type { LogMark } from "../files/record-chain.ts";
import type { SourceFile } from "../files/source-file.ts";
import type { FileStamp } from "../files/stamp.ts";

/** How a file looked when it was last read, and how far that went. */
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

/** The offset to go on from: the committed one when the file only grew, 0 when it was rewritten or replaced. */
export function resumeOffset(file: SourceFile, cursor: FileCursor | undefined): number {
  if (cursor === undefined || cursor.offset === 0 || file.size < cursor.offset) return 0;
  return file.tailHash(cursor.offset) === cursor.tail ? cursor.offset : 0;
}
