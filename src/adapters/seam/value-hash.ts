/**
 * A 128-bit hash of a JSON value: equal values give equal hashes, whatever the order of keys and the spelling of
 * numbers. It names records that have no id of their own (spec.md#lance-deterministic-pk).
 */
import { hash } from "node:crypto";
import type { JsonValue } from "../../base/json.ts";
import { isJsonObject, isRawNumber, stringifyJson } from "../../base/json.ts";

export function valueHash(value: JsonValue): string {
  return hash("sha256", encode(value, 0), "hex").slice(0, 32);
}

/** Every piece is tagged and length-prefixed, so that no two values share an encoding and nothing is escaped. */
function encode(value: JsonValue, depth: number): string {
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (value === null) return "z";
  if (typeof value === "boolean") return value ? "t" : "f";
  if (isRawNumber(value)) return `r${value.rawJSON};`;
  // Beyond this depth recursion is at risk; the printed text is exact enough, as such records are one client's own.
  if (depth > 1000) return `d${stringifyJson(value)}`;
  if (!isJsonObject(value)) {
    let text = `a${value.length}:`;
    for (const item of value) text += encode(item, depth + 1);
    return text;
  }
  const names = Object.keys(value).toSorted();
  let text = `o${names.length}:`;
  for (const name of names) text += `${name.length}:${name}${encode(value[name] ?? null, depth + 1)}`;
  return text;
}
