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
  const text = encode(value, 0);
  return hash("sha256", text.isWellFormed() ? text : inUtf16(text), "hex").slice(0, 32);
}

/**
 * The hash that names a record without an id of its own. Records that differ in lone surrogates only share one, as
 * ids that are stored were made so; their number in the log tells them apart (spec.md#model-ids).
 */
export function nameHash(value: JsonValue): string {
  return hash("sha256", encode(value, 0), "hex").slice(0, 32);
}

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

/** Every piece is tagged and length-prefixed, so that no two values share an encoding and nothing is escaped. */
function encode(value: JsonValue, depth: number): string {
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (value === null) return "z";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (Array.isArray(value)) {
    if (depth > MAX_DEPTH) return `d${stringifyJson(value)}`;
    let text = `a${value.length}:`;
    for (const item of value) text += encode(item, depth + 1);
    return text;
  }
  if (isRawNumber(value)) return `r${value.rawJSON};`;
  if (depth > MAX_DEPTH || !isJsonObject(value)) return `d${stringifyJson(value)}`;
  const names = sortNames(Object.keys(value));
  let text = `o${names.length}:`;
  for (const name of names) text += `${name.length}:${name}${encode(value[name] ?? null, depth + 1)}`;
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
