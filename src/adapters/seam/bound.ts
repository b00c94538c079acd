/**
 * The size bound (spec.md#adapter-bounded-values): a text past what the engine safely stores becomes its head and a
 * marker with the original byte count. The rest of the record is kept; payloads in blobs are exempt.
 */
import type { JsonValue } from "../../base/json.ts";
import { isJsonObject, isRawNumber, stringifyJson } from "../../base/json.ts";
import { defineField } from "./extract.ts";

/** Bytes of UTF-8 that one text column holds at most (facts of the engine: batches stay under 64 MB). */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

export interface Truncation {
  /** Bytes of UTF-8 of the value as the source had it. */
  readonly bytes: number;
}

/** The text as it is, or its head and the marker when its UTF-8 is longer than `limit`. */
export function boundText(
  text: string,
  limit = MAX_TEXT_BYTES,
): { readonly text: string; readonly truncated?: Truncation } {
  if (text.length * 3 <= limit) return { text };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return { text };
  const marker = `<pond:truncated ${bytes} bytes>`;
  return { text: headOf(text, limit - marker.length) + marker, truncated: { bytes } };
}

/**
 * The value with its longest strings cut until its JSON text fits. The same value when it fits already, which is
 * nearly always: callers skip the check for records whose source text is shorter than the limit.
 */
export function boundJson<T extends JsonValue>(
  value: T,
  limit = MAX_TEXT_BYTES,
): { readonly value: T; readonly truncated: readonly Truncation[] } {
  if (jsonBytes(value) <= limit) return { value, truncated: [] };
  for (let leaf = limit / 2; leaf >= 64; leaf /= 2) {
    const truncated: Truncation[] = [];
    const cut = cutStrings(value, { leaf: Math.floor(leaf), truncated }, 0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- cutting strings keeps the shape
    if (jsonBytes(cut) <= limit) return { value: cut as T, truncated };
  }
  const bytes = jsonBytes(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- millions of tiny leaves: only the marker fits
  return { value: markerFor(value, bytes) as T, truncated: [{ bytes }] };
}

function markerFor(value: JsonValue, bytes: number): JsonValue {
  const marker = `<pond:truncated ${bytes} bytes>`;
  return isJsonObject(value) ? { pond: { truncated: marker } } : marker;
}

function jsonBytes(value: JsonValue): number {
  return Buffer.byteLength(stringifyJson(value));
}

interface Cut {
  readonly leaf: number;
  readonly truncated: Truncation[];
}

/** Depth is safe: a record that is both past the bound and nested thousands deep is cut by the marker instead. */
function cutStrings(value: JsonValue, cut: Cut, depth: number): JsonValue {
  if (typeof value === "string") {
    const bounded = boundText(value, cut.leaf);
    if (bounded.truncated !== undefined) cut.truncated.push(bounded.truncated);
    return bounded.text;
  }
  if (value === null || typeof value !== "object" || isRawNumber(value) || depth > 500) return value;
  if (!isJsonObject(value)) return value.map((item) => cutStrings(item, cut, depth + 1));
  const copy: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) defineField(copy, name, cutStrings(item, cut, depth + 1));
  return copy;
}

/** At most `bytes` of UTF-8 from the start, never half a surrogate pair. */
function headOf(text: string, bytes: number): string {
  let low = 0;
  let high = Math.min(text.length, bytes);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Buffer.byteLength(text.slice(0, middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  const last = text.charCodeAt(low - 1);
  const cutsPair = low > 0 && low < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, cutsPair ? low - 1 : low);
}
