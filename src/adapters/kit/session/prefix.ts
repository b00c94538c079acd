/**
 * What a reader must know of the committed prefix of a log to go on behind it without reading it again
 * (spec.md#sync-prefix): all that decides ids, positions, instants and facts of the records that follow. A prefix that
 * is lost, damaged or of another format costs the time to read the log from its start, never a row.
 */
import { isPondError, PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { ReadRequest } from "../sources/reading.ts";
import { field, integerField, objectField } from "../extract/extract.ts";
import { HELD_BYTES } from "../files/tail-hash.ts";

/** Where a line of a log starts in bytes, and its number from 1 on. */
export interface LineStart {
  readonly offset: number;
  readonly line: number;
}

export interface Prefix extends LineStart {
  /** What the session's log knew before that line, and what the client's own reader did. */
  readonly log: JsonObject;
  readonly reader: JsonObject;
}

/** Whose prefixes they are. */
export interface PrefixFormat {
  readonly adapter: string;
  /** Raised whenever the same records would leave another state of the client's reader. */
  readonly version: number;
}

/** What is known before a line, by those who know it. */
export interface PrefixState {
  readonly start: LineStart;
  /** Bytes that tell all of the session; infinite where it is not all told, but taken from elsewhere. */
  readonly headEnd: number;
  readonly log: { state(): JsonObject };
  readonly reader: { state(): JsonObject };
}

/**
 * Raised whenever the same records would leave another state of `SessionLog`: another form, another way to make ids. A
 * prefix of another version is not gone on from, as the records before it would count otherwise now.
 */
const SEAM_VERSION = 2;

/** The prefix that was kept with the cursor, if there is one that can be gone on from. */
export async function keptPrefix(
  request: ReadRequest,
  format: PrefixFormat,
  committed: number,
): Promise<Prefix | undefined> {
  const kept = committed === 0 ? undefined : await request.prefix?.load();
  if (!isJsonObject(kept) || field(kept, "format") !== nameOf(format)) return undefined;
  const offset = integerField(kept, "offset");
  const line = integerField(kept, "line");
  const log = objectField(kept, "log");
  const reader = objectField(kept, "reader");
  if (offset === undefined || line === undefined || log === undefined || reader === undefined)
    return undefined;
  return offset > 0 && offset <= committed ? { offset, line, log, reader } : undefined;
}

/** What is made to go on behind the prefix, or from the start where it turns out to be of no use. */
export function resumeFrom<T>(
  prefix: Prefix | undefined,
  make: (prefix: Prefix | undefined) => T,
): { readonly made: T; readonly prefix: Prefix | undefined } {
  try {
    return { made: make(prefix), prefix };
  } catch (error) {
    if (prefix === undefined || !isPondError(error)) throw error;
    return { made: make(undefined), prefix: undefined };
  }
}

/** The state before a line, to be kept; undefined where nobody keeps it or reading again is as good. */
export function prefixToKeep(
  request: ReadRequest,
  format: PrefixFormat,
  { start, headEnd, log, reader }: PrefixState,
): JsonValue | undefined {
  const { offset, line } = start;
  const { prefix: keeper } = request;
  if (keeper === undefined || offset <= (keeper.least ?? HELD_BYTES)) return undefined;
  // A head that is not in the prefix may yet turn out to be another.
  if (offset < headEnd) return undefined;
  return { format: nameOf(format), offset, line, log: log.state(), reader: reader.state() };
}

/** A value out of a prefix, which must be there. */
export function keptValue<T>(value: T | undefined): T {
  if (value !== undefined) return value;
  throw new PondError("internal", "a kept prefix has another shape than its format says");
}

const nameOf = ({ adapter, version }: PrefixFormat): string => `${adapter}/${version}/${SEAM_VERSION}`;
