/**
 * A 128-bit hash of a JSON value: equal values give equal hashes, whatever the order of keys and the spelling of
 * numbers, and others others. It tells whether a record changed (spec.md#model-revisions), and names those that have
 * no id of their own (spec.md#lance-deterministic-pk).
 */
import { hash } from "node:crypto";
import type { JsonValue } from "./json.ts";
import { isJsonObject, isRawNumber, stringifyJson } from "./json.ts";

/** Beyond this depth recursion is at risk; the printed text is exact enough, as such records are one client's own. */
const MAX_DEPTH = 1000;

export function valueHash(value: JsonValue): string {
  const bytes = encode(value);
  if (bytes !== undefined) return digest(bytes);
  const text = describe(value, 0);
  return digest(text.isWellFormed() ? text : inUtf16(text));
}

/**
 * The hash that names a record without an id of its own. Records that differ in lone surrogates only share one, as
 * ids that are stored were made so; their number in the log tells them apart (spec.md#model-ids).
 */
export function nameHash(value: JsonValue): string {
  return digest(encode(value) ?? describe(value, 0));
}

const digest = (encoding: string | Buffer): string => hash("sha256", encoding, "hex").slice(0, 32);

/** UTF-8 has one replacement for all lone surrogates; `u` is no tag of a value, so this equals no other encoding. */
function inUtf16(text: string): Buffer {
  return Buffer.concat([Buffer.from("u"), Buffer.from(text, "utf16le")]);
}

/** A name in the form of a random UUID, for clients that name by them: the same value gives the same one each time. */
export function uuidFrom(value: JsonValue): string {
  const hex = valueHash(value);
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  const last = `${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${last}`;
}

/**
 * Every piece is tagged and length-prefixed, so that no two values share an encoding and nothing is escaped. The hash is
 * that of this text; `encode` writes the same in UTF-8 at two thirds of the time, where there is nothing to be careful of.
 */
function describe(value: JsonValue, depth: number): string {
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (value === null) return "z";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (isRawNumber(value)) return `r${value.rawJSON};`;
  if (depth > MAX_DEPTH) return `d${stringifyJson(value)}`;
  if (Array.isArray(value)) {
    let text = `a${value.length}:`;
    for (const item of value) text += describe(item, depth + 1);
    return text;
  }
  if (!isJsonObject(value)) return `d${stringifyJson(value)}`;
  const names = sortNames(Object.keys(value));
  let text = `o${names.length}:`;
  for (const name of names) text += `${name.length}:${name}${describe(value[name] ?? null, depth + 1)}`;
  return text;
}

/** In place and by insertion: objects have a handful of fields, and there are millions of them. */
function sortNames(names: string[]): readonly string[] {
  if (names.length > 32) return names.toSorted();
  for (let index = 1; index < names.length; index += 1) {
    const name = names[index] ?? "";
    let at = index;
    for (; at > 0 && (names[at - 1] ?? "") > name; at -= 1) names[at] = names[at - 1] ?? "";
    names[at] = name;
  }
  return names;
}

/** Reused from value to value, and let go of when a large one has made it grow. */
const ROOM = 1 << 20;
let buffer = Buffer.allocUnsafe(ROOM);
let end = 0;

/** What `describe` says, in UTF-8, until the next call; undefined for lone surrogates and great depth. */
function encode(value: JsonValue): Buffer | undefined {
  if (buffer.length > ROOM) buffer = Buffer.allocUnsafe(ROOM);
  end = 0;
  return put(value, 0) ? buffer.subarray(0, end) : undefined;
}

/** Below this a loop is faster than a call of the native writer. */
const SHORT = 48;
/** What is written beside a text: its tag, its length, a colon. */
const BESIDE = 32;
/** `a : f n o r ; s t z` */
const ARRAY = 0x61;
const COLON = 0x3a;
const FALSE = 0x66;
const NUMBER = 0x6e;
const OBJECT = 0x6f;
const RAW = 0x72;
const SEMICOLON = 0x3b;
const STRING = 0x73;
const TRUE = 0x74;
const NULL = 0x7a;

function put(value: JsonValue, depth: number): boolean {
  reserve(BESIDE);
  if (typeof value === "string") {
    buffer[end++] = STRING;
    return putText(value);
  }
  if (typeof value === "number") return putLiteral(NUMBER, `${value}`);
  if (value === null) buffer[end++] = NULL;
  else if (typeof value === "boolean") buffer[end++] = value ? TRUE : FALSE;
  else if (isRawNumber(value)) return putLiteral(RAW, value.rawJSON);
  else if (depth > MAX_DEPTH) return false;
  else if (Array.isArray(value)) {
    putCount(ARRAY, value.length);
    for (const item of value) if (!put(item, depth + 1)) return false;
  } else if (isJsonObject(value)) {
    const names = sortNames(Object.keys(value));
    putCount(OBJECT, names.length);
    for (const name of names) if (!putText(name) || !put(value[name] ?? null, depth + 1)) return false;
  } else return false;
  return true;
}

function putText(text: string): boolean {
  const { length } = text;
  reserve(3 * length + BESIDE);
  putAscii(`${length}`);
  buffer[end++] = COLON;
  const start = end;
  if (length < SHORT) {
    let at = 0;
    for (; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) break;
      buffer[end++] = unit;
    }
    if (at === length) return true;
  }
  end = start + buffer.write(text, start, "utf8");
  return text.isWellFormed();
}

function putLiteral(tag: number, literal: string): boolean {
  reserve(literal.length + BESIDE);
  buffer[end++] = tag;
  putAscii(literal);
  buffer[end++] = SEMICOLON;
  return true;
}

function putCount(tag: number, count: number): void {
  buffer[end++] = tag;
  putAscii(`${count}`);
  buffer[end++] = COLON;
}

function putAscii(text: string): void {
  for (let at = 0; at < text.length; at += 1) buffer[end++] = text.charCodeAt(at);
}

function reserve(bytes: number): void {
  if (end + bytes <= buffer.length) return;
  const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, end + bytes));
  buffer.copy(larger, 0, 0, end);
  buffer = larger;
}
