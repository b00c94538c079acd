/**
 * Exact JSON (spec.md#exact-json): what a double, a careless reader or the native writer would
 * change comes back equal. Plain `JSON.parse` does the work; a cheap proof over text and value decides per
 * text whether its answer is exact, and only otherwise the iterative parser of json-slow.ts runs.
 */
import { Buffer, isAscii, isUtf8 } from "node:buffer";

import { PondError } from "../errors.ts";
import { isEscaped, isExactLiteral, isSpace, literalAt, parseSlowly, writeDeep } from "./json-slow.ts";

export { equalJson, firstDifference } from "./json-equal.ts";

declare global {
  // Part of ES2026 and of Node since 21; the compiler's libraries do not know it yet.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number that a double cannot hold, as `JSON.rawJSON` makes it: the literal of the source. `-0` is one. */
export interface RawNumber {
  readonly rawJSON: string;
}

export type JsonValue = null | boolean | number | string | RawNumber | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export type ParsedJson =
  | { readonly kind: "value"; readonly value: JsonValue }
  /** JSON pointers of the duplicated keys in the order of the text, at most 16. */
  | { readonly kind: "duplicate_keys"; readonly paths: readonly string[] }
  /** `offset` counts characters (UTF-16 units), not bytes. */
  | { readonly kind: "syntax"; readonly offset: number; readonly message: string };

type DecodedUtf8 =
  | { readonly ok: true; readonly text: string }
  /** Where the first ill-formed sequence starts, which is how many bytes before it are valid. */
  | { readonly ok: false; readonly offset: number };

/** Parses any text; never throws. Nothing that the text says is dropped: no digit, no duplicate key. */
export function tryParseJson(text: string): ParsedJson {
  let value: Plain;
  try {
    value = JSON.parse(text);
  } catch {
    return parseSlowly(text);
  }
  return isProvenExact(text, value) ? { kind: "value", value } : parseSlowly(text);
}

/** For text that pond wrote itself, where anything but one exact value means damage. */
export function parseJson(text: string): JsonValue {
  const parsed = tryParseJson(text);
  if (parsed.kind === "value") return parsed.value;
  const detail =
    parsed.kind === "syntax"
      ? `${parsed.message} at character ${parsed.offset}`
      : `duplicate keys at ${parsed.paths.join(", ")}`;
  throw new PondError("validation_failed", `stored JSON is damaged: ${detail}`, { reason: "corrupt" });
}

/** Compact JSON text. The native writer recurses, so a value that is too deep for it is written iteratively. */
export function stringifyJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  try {
    return writeDeep(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PondError("validation_failed", "the JSON text is longer than a string can be", {
      reason: "limit",
      cause: error,
    });
  }
}

/**
 * An answer for people and programs: what is undefined is left out, and with an indent there is a line a member. One that
 * is too deep for the native writer has no lines, as their indents alone would be hundreds of megabytes.
 */
export function printJson(answer: unknown, indent: number): string {
  try {
    return JSON.stringify(answer, undefined, indent);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the native writer takes it: anything
  return stringifyJson(answer as JsonValue);
}

export function isRawNumber(value: JsonValue): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** An object of the JSON text: neither an array nor a raw number. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Strict UTF-8, nothing stripped, nothing replaced. Throws only for more bytes than a string can hold. */
export function decodeUtf8(bytes: Uint8Array): DecodedUtf8 {
  const view =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The check costs less than it saves: ASCII is copied, not decoded.
  if (isAscii(view)) return { ok: true, text: view.toString("latin1") };
  if (isUtf8(view)) return { ok: true, text: view.toString("utf8") };
  return { ok: false, offset: firstInvalidByte(view) };
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** Beyond this the recursive count could overflow the stack; such texts are rare, the slow path takes them. */
const MAX_COUNTED_DEPTH = 256;

/** A literal of at most this many characters and no exponent has at most 15 digits, which a double keeps. */
const SAFE_LITERAL_LENGTH = 15;

/** What stands before an array item that is not plainly safe: minus zero, an exponent, many digits. */
const BEFORE_SUSPECT_ITEM = /[[,\t\n\r ](?=-0|-?\d[\d.]{15}|-?[\d.]{1,15}[eE])/g;

/**
 * True only if `JSON.parse` lost nothing. Every key of the text has one structural colon and `countKeyColons`
 * overlooks none; the value never has more keys than the text. So equal counts mean that no key
 * was dropped as a duplicate. Numbers are looked at behind those same colons, and inside arrays by a search
 * that runs only where the value has such numbers.
 */
function isProvenExact(text: string, value: Plain): boolean {
  if (typeof value === "number") return isExactLiteral(text.trim());
  if (typeof value !== "object" || value === null) return true;
  const seen: Seen = { numbersInArrays: false };
  if (countKeys(value, seen, 0) !== countKeyColons(text)) return false;
  return !seen.numbersInArrays || areItemsExact(text);
}

/** What `JSON.parse` makes. */
type Plain = null | boolean | number | string | Container;
type Container = Plain[] | { [key: string]: Plain };

interface Seen {
  numbersInArrays: boolean;
}

/**
 * The keys of a value at all depths; NaN when it is too deep to say, or when a key has a backslash: V8 can take a key
 * with escapes for another one that it has seen, whose text is how the escaped one starts, so that the
 * wrong key always has the backslash of the escape (nodejs/node#63785; seen in Node 24 by the tests here).
 */
function countKeys(value: Container, seen: Seen, depth: number): number {
  if (depth > MAX_COUNTED_DEPTH) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === "number") seen.numbersInArrays = true;
      else if (typeof item === "object" && item !== null) count += countKeys(item, seen, depth + 1);
    return count;
  }
  // Measured: for-in and `Object.values` take two to four times as long as this on freshly parsed records.
  const keys = Object.keys(value);
  count = keys.length;
  for (const key of keys) {
    if (key.includes("\\")) return Number.NaN;
    const member = value[key];
    if (typeof member === "object" && member !== null) count += countKeys(member, seen, depth + 1);
  }
  return count;
}

/**
 * Colons whose nearest character to the left, but for white space, is a quote that no backslash escapes. In
 * valid JSON that is every colon after a key, and besides only a colon that opens a string, which costs
 * a needless slow parse. NaN if the number behind such a colon is not exact.
 */
function countKeyColons(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    let at = colon - 1;
    let code = text.charCodeAt(at);
    while (isSpace(code)) code = text.charCodeAt((at -= 1));
    if (code !== QUOTE || isEscaped(text, at)) continue;
    count += 1;
    at = colon + 1;
    code = text.charCodeAt(at);
    while (isSpace(code)) code = text.charCodeAt((at += 1));
    if (code !== QUOTE && code <= NINE && !isExactAt(text, at)) return Number.NaN;
  }
  return count;
}

/** True if the number that starts here is one that a double holds. */
function isExactAt(text: string, start: number): boolean {
  let at = start;
  let code = text.charCodeAt(at);
  if (code === MINUS) {
    at += 1;
    code = text.charCodeAt(at);
    if (code === ZERO) return isExactLiteral(literalAt(text, start));
  }
  while ((code >= ZERO && code <= NINE) || code === DOT) {
    at += 1;
    code = text.charCodeAt(at);
  }
  if (at - start <= SAFE_LITERAL_LENGTH && code !== LOWER_E && code !== UPPER_E) return true;
  return isExactLiteral(literalAt(text, start));
}

function areItemsExact(text: string): boolean {
  for (const match of text.matchAll(BEFORE_SUSPECT_ITEM))
    if (!isExactLiteral(literalAt(text, match.index + 1))) return false;
  return true;
}

/** The scan that tells where strict decoding stops; runs only after the native check said that it does. */
function firstInvalidByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** Bytes of the well-formed sequence at `at` (Unicode 16, table 3-7), or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range shuts out overlong forms, surrogates and what is past U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return 0;
  for (let next = at + 2; next < at + length; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
