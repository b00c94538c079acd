/**
 * Reads JSON Lines as they are on disk: every byte is in a record, a bad line (spec.md#malformed-input), blank, or
 * the tail that its writer has not finished. The newline commits, but whole objects at the end of the file are data
 * without it, and so is any tail that nobody goes on with (spec.md#jsonl-commit-marker).
 */
import { Buffer, constants } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { decodeUtf8, isJsonObject, type JsonValue, tryParseJson } from "../../../base/json/json.ts";
import { SourceFile } from "../files/source-file.ts";

/** Where something is in its file. */
interface Span {
  /** 1-based. */
  readonly line: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** The byte after it and its newline: where to go on, if it is terminated. */
  readonly end: number;
}

/** What is found in a log, in the order of its bytes; blank lines are passed over. */
export type JsonlItem = JsonlRecord | BadLine | TooLongLine | JsonlTail;

/** One JSON value of a log. */
export interface JsonlRecord extends Span {
  readonly kind: "record";
  readonly value: JsonValue;
  /** False: the newline is still missing, so a cursor stays before `offset` and the next read sees it again. */
  readonly terminated: boolean;
  /** Position among the records of one line, 0-based; absent where the line is one record, as it ought to be. */
  readonly glued?: number;
}

/** A line that is not one exact JSON value. */
export interface BadLine extends Span {
  readonly kind: "bad_line";
  readonly reason: "not_json" | "duplicate_keys" | "invalid_utf8";
  readonly message: string;
  /** The bytes of the line without its newline. */
  readonly raw: Uint8Array;
  /** As of a record: false at the end of a file that is settled. */
  readonly terminated: boolean;
}

/** A line past the bound: its range is known, its bytes are not held. */
interface TooLongLine extends Span {
  readonly kind: "bad_line";
  readonly reason: "too_long";
  readonly message: string;
  readonly terminated: boolean;
}

/** The last item, where the file ends in a line that is neither terminated nor whole: not data yet. */
interface JsonlTail extends Span {
  readonly kind: "tail";
  readonly terminated: false;
}

export interface JsonlStart {
  /** Where the first pushed byte is in its file; the start of a line. */
  readonly offset?: number;
  /** The number of that line. */
  readonly line?: number;
  readonly maxLineBytes?: number;
}

export interface ReadJsonlOptions extends JsonlStart {
  readonly signal?: AbortSignal;
  /** Bytes of one read, and so about the source bytes behind one batch. */
  readonly chunkBytes?: number;
  /** The size of a file that has not changed for long: if it still ends there, its tail is data. */
  readonly settledSize?: number | undefined;
}

/**
 * What one line may hold. A string can hold twice as much, but bytes, text and value are in memory at once.
 * Values past the bound of the store are cut later, and marked (spec.md#adapter-bounded-values).
 */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The items of a file from `offset` on, in batches. Reads to the end that the file has at that moment: one that
 * shrinks while it is read just ends. A file that is given stays open, a path is opened read-only.
 */
export async function* readJsonl(
  source: string | SourceFile,
  options: ReadJsonlOptions = {},
): AsyncGenerator<readonly JsonlItem[], void, undefined> {
  if (typeof source === "string") {
    using file = SourceFile.open(source);
    return yield* readJsonl(file, options);
  }
  const { signal, offset = 0, chunkBytes = CHUNK_BYTES } = options;
  const splitter = new JsonlSplitter(options);
  const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, Math.max(source.size - offset, 0) + 1));
  let position = offset;
  for (;;) {
    signal?.throwIfAborted();
    // Reading ahead was measured and gained nothing: parsing is what takes the time.
    const bytes = source.read(chunk, position);
    if (bytes === 0) break;
    if (position > offset) await setImmediate();
    position += bytes;
    const items = splitter.push(chunk.subarray(0, bytes));
    if (items.length > 0) yield items;
  }
  const rest = splitter.finish(position === options.settledSize);
  if (rest.length > 0) yield rest;
}

/** Takes the bytes of a file in chunks of any size and gives the same items for every way to cut it. */
export class JsonlSplitter {
  readonly #maxLineBytes: number;
  /** Where the current line starts. */
  #offset: number;
  #line: number;
  /** The current line's bytes from earlier chunks; none once it is too long. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(start: JsonlStart = {}) {
    this.#offset = start.offset ?? 0;
    this.#line = start.line ?? 1;
    this.#maxLineBytes = Math.min(start.maxLineBytes ?? MAX_LINE_BYTES, constants.MAX_STRING_LENGTH);
  }

  /** The items that end in this chunk. The chunk is not kept: the caller may fill it again. */
  push(chunk: Uint8Array): JsonlItem[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const items: JsonlItem[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      this.#endLine(bytes.subarray(start, end), items);
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return items;
  }

  /**
   * What is left when no more bytes come: whole objects without a newline, or the tail. Of a file that is settled it is
   * a line like any other, but for the newline, behind which the file may yet go on.
   */
  finish(isSettled = false): JsonlItem[] {
    const span = { line: this.#line, offset: this.#offset, end: this.#offset + this.#heldBytes };
    const items: JsonlItem[] = [];
    const isHeld = this.#heldBytes <= this.#maxLineBytes;
    if (isHeld) readLine(Buffer.concat(this.#held), span, items);
    else items.push(this.#tooLong(this.#heldBytes, span));
    if (isSettled) return items.map((item) => ({ ...item, terminated: false }));
    const records = items.filter((item) => item.kind === "record").filter(({ value }) => isJsonObject(value));
    if (records.length < items.length) return [{ kind: "tail", terminated: false, ...span }];
    return records.map((record) => ({ ...record, terminated: false }));
  }

  #endLine(last: Buffer, items: JsonlItem[]): void {
    const bytes = this.#heldBytes + last.length;
    const span = { line: this.#line, offset: this.#offset, end: this.#offset + bytes + 1 };
    if (bytes > this.#maxLineBytes) items.push(this.#tooLong(bytes, span));
    else readLine(this.#held.length === 0 ? last : Buffer.concat([...this.#held, last]), span, items);
    this.#held = [];
    this.#heldBytes = 0;
    this.#offset = span.end;
    this.#line += 1;
  }

  #tooLong(bytes: number, span: Span): TooLongLine {
    const message = `the line has ${bytes} bytes, and at most ${this.#maxLineBytes} are read`;
    return { kind: "bad_line", reason: "too_long", message, terminated: true, ...span };
  }

  /** Copies, because the chunk is the caller's, and lets go of a line that has become too long. */
  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= this.#maxLineBytes) this.#held.push(Buffer.from(bytes));
    else this.#held = [];
  }
}

/** Adds the items of one line, given without its newline; none if it is blank. */
function readLine(bytes: Buffer, span: Span, items: JsonlItem[]): void {
  const { line, offset, end } = span;
  if (offset === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
    // The mark belongs to the file, not to its first line.
    const { length } = BYTE_ORDER_MARK;
    return readLine(bytes.subarray(length), { line, offset: length, end }, items);
  }
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) {
    const message = `byte ${offset + decoded.offset} of the file is not UTF-8`;
    return void items.push(badLine(bytes, span, { reason: "invalid_utf8", message }));
  }
  if (isBlank(decoded.text)) return;
  const parsed = tryParseJson(decoded.text);
  if (parsed.kind === "value")
    items.push({ kind: "record", value: parsed.value, line, offset, end, terminated: true });
  else if (parsed.kind === "duplicate_keys") {
    const message = `duplicate keys ${parsed.paths.join(", ")}`;
    items.push(badLine(bytes, span, { reason: "duplicate_keys", message }));
  } else if (!readGlued(decoded.text, span, items)) {
    const message = `${parsed.message} at character ${parsed.offset} of the line`;
    items.push(badLine(bytes, span, { reason: "not_json", message }));
  }
}

function badLine(bytes: Buffer, span: Span, fault: Pick<BadLine, "reason" | "message">): BadLine {
  return { kind: "bad_line", ...fault, ...span, raw: Buffer.from(bytes), terminated: true };
}

/** Adds the records of a line that is two or more whole objects and nothing else; otherwise false. */
function readGlued(text: string, span: Span, items: JsonlItem[]): boolean {
  const ends = objectEnds(text);
  if (ends.length < 2) return false;
  const pieces: { readonly value: JsonValue; readonly bytes: number }[] = [];
  for (const [index, end] of ends.entries()) {
    const piece = text.slice(ends[index - 1] ?? 0, index + 1 < ends.length ? end : undefined);
    const parsed = tryParseJson(piece);
    if (parsed.kind !== "value" || !isJsonObject(parsed.value)) return false;
    pieces.push({ value: parsed.value, bytes: Buffer.byteLength(piece) });
  }
  let { offset } = span;
  for (const [glued, { value, bytes }] of pieces.entries()) {
    const end = glued + 1 < pieces.length ? offset + bytes : span.end;
    items.push({ kind: "record", value, line: span.line, offset, end, terminated: true, glued });
    offset = end;
  }
  return true;
}

/** Where the braces outside strings come to balance. What stands there is for the parser to judge. */
function objectEnds(text: string): readonly number[] {
  const ends: number[] = [];
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isString = !isString;
    else if (isString) at += code === BACKSLASH ? 1 : 0;
    else if (code === OPEN_OBJECT) depth += 1;
    else if (code === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) ends.push(at + 1);
    }
  }
  return ends;
}

/** Only the white space of JSON: anything else on a line is for someone to see. */
function isBlank(text: string): boolean {
  return text.length === 0 || (text.charCodeAt(0) <= SPACE && !/[^\t\r ]/.test(text));
}
