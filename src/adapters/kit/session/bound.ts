/**
 * The size bound (spec.md#adapter-bounded-values): a text past it becomes its head and a marker with the original byte
 * count, and so does what a row could not hold. Payloads in blobs are exempt.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, isRawNumber, stringifyJson } from "../../../base/json/json.ts";
import { isPondError } from "../../../base/errors.ts";
import type { Truncation } from "../../../model/bound-text.ts";
import { boundText, MAX_TEXT_BYTES, truncationMarker } from "../../../model/bound-text.ts";
import { pondSpace, withFacts, withPondSpace } from "../../../model/derived/index.ts";
import { defineField } from "../extract/extract.ts";
import type { MessageDraft, PartDraft } from "./session-log.ts";

/** Bytes that one payload has at most. The engine was seen to hold twice as much, but needs five times that in memory. */
export const MAX_PAYLOAD_BYTES = 512_000_000;

export interface Bounds {
  /** Bytes of UTF-8 of each text itself. */
  readonly text: number;
  /** Bytes of the JSON of a value, which is one column of a row: the longest text with every character escaped, and some. */
  readonly json: number;
}

const BOUNDS: Bounds = { text: MAX_TEXT_BYTES, json: 200 * 1024 * 1024 };

/** A value within the bounds, and what was cut for that. The same value when nothing was. */
export interface Bounded<T> {
  readonly value: T;
  readonly truncated: readonly Truncation[];
  /** Where nothing else is left of the value. */
  readonly marker?: string;
}

/**
 * The value with each text within its bound, and if its JSON is still too long with ever shorter ones; what is long by
 * many small values leaves only the marker. Callers skip this for records whose source is shorter than the bound of a
 * text, which is nearly always.
 */
export function boundJson<T extends JsonValue>(value: T, bounds: Bounds = BOUNDS): Bounded<T> {
  const truncated: Truncation[] = [];
  const longest = longestText(value);
  const first =
    longest > bounds.text
      ? cutTexts(value, { limit: bounds.text, onCut: (cut) => truncated.push(cut) }, 0)
      : value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- cutting texts keeps the shape
  if (jsonBytes(first) <= bounds.json) return { value: first as T, truncated };
  const bytes = jsonBytes(value);
  const whole = [{ bytes }];
  for (let limit = bounds.text / 2; limit >= 64; limit /= 2) {
    // Short texts are not what makes it long.
    if (limit >= longest) continue;
    const cut = cutTexts(value, { limit: Math.floor(limit), onCut: () => undefined }, 0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- cutting texts keeps the shape
    if (jsonBytes(cut) <= bounds.json) return { value: cut as T, truncated: whole };
  }
  const marker = truncationMarker(bytes);
  const rest = isJsonObject(value) ? withFacts({}, { truncated: marker }) : marker;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- millions of tiny values: only the marker fits
  return { value: rest as unknown as T, truncated: whole, marker };
}

/** Options within the bounds: what pond itself says of the message stays, however long the rest is. */
export function boundOptions(options: JsonObject, bounds: Bounds = BOUNDS): Bounded<JsonObject> {
  const space = pondSpace(options);
  const own = boundJson<JsonValue>(space ?? {}, bounds);
  const rest = boundJson<JsonObject>(withPondSpace(options, undefined), bounds);
  const truncated = [...own.truncated, ...rest.truncated];
  if (truncated.length === 0) return { value: options, truncated };
  if (rest.marker === undefined)
    return { value: space === undefined ? rest.value : withPondSpace(rest.value, own.value), truncated };
  return { value: withFacts(withPondSpace({}, own.value), { truncated: rest.marker }), truncated };
}

/** A message with all that its parts say within the bounds, but for payloads, which go to blobs. */
export function boundDraft(draft: MessageDraft, bounds: Bounds = BOUNDS): Bounded<MessageDraft> {
  const truncated: Truncation[] = [];
  const taken = <T>(bounded: Bounded<T>): T => {
    truncated.push(...bounded.truncated);
    return bounded.value;
  };
  const { content, options, parts } = draft;
  const value = {
    ...draft,
    options: taken(boundOptions(options, bounds)),
    parts: parts.map((part) => taken(boundPart(part, bounds))),
    ...(content === undefined ? {} : { content: taken(boundJson(content, bounds)) }),
  };
  return { value: truncated.length === 0 ? draft : value, truncated };
}

/** Field by field, so that it stays a part of its kind whatever is cut. */
function boundPart(part: PartDraft, bounds: Bounds): Bounded<PartDraft> {
  const truncated: Truncation[] = [];
  const fields = Object.entries(part).map(([name, value]): [string, unknown] => {
    if (name === "data" || value === undefined) return [name, value];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed values are JSON at run time
    const json = value as unknown as JsonValue;
    const bounded =
      name === "options" && isJsonObject(json) ? boundOptions(json, bounds) : boundJson(json, bounds);
    truncated.push(...bounded.truncated);
    return [name, bounded.value];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- bounding keeps the shape
  return { value: Object.fromEntries(fields) as unknown as PartDraft, truncated };
}

/** Also where no string could hold the JSON: then piece by piece. */
function jsonBytes(value: JsonValue): number {
  try {
    return Buffer.byteLength(stringifyJson(value));
  } catch (error) {
    if (!isPondError(error) || error.reason !== "limit") throw error;
  }
  if (typeof value === "string") {
    const middle = value.length >> 1;
    return jsonBytes(value.slice(0, middle)) + jsonBytes(value.slice(middle)) - 2;
  }
  if (!isJsonObject(value)) return sumOf(Array.isArray(value) ? value : [], jsonBytes);
  return sumOf(Object.entries(value), ([name, item]) => jsonBytes(name) + 1 + jsonBytes(item));
}

/** Of a list or an object: its brackets, its items and the commas between them. */
function sumOf<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + bytesOf(item), 1 + Math.max(items.length, 1));
}

/** Deeper texts are left as they are: a record that is both past the bound and nested that deep is cut by the marker. */
const MAX_DEPTH = 500;

/** Bytes of the longest text, at any depth. */
function longestText(value: JsonValue): number {
  let longest = 0;
  const pending: JsonValue[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      if (next.length * 3 > longest) longest = Math.max(longest, Buffer.byteLength(next));
    } else if (next !== null && typeof next === "object" && !isRawNumber(next))
      for (const item of Object.values(next)) pending.push(item);
  }
  return longest;
}

interface Cut {
  readonly limit: number;
  readonly onCut: (truncation: Truncation) => void;
}

function cutTexts(value: JsonValue, cut: Cut, depth: number): JsonValue {
  if (typeof value === "string") {
    const { text, truncated } = boundText(value, cut.limit);
    if (truncated !== undefined) cut.onCut(truncated);
    return text;
  }
  if (value === null || typeof value !== "object" || isRawNumber(value) || depth > MAX_DEPTH) return value;
  if (!isJsonObject(value)) return value.map((item) => cutTexts(item, cut, depth + 1));
  const copy: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) defineField(copy, name, cutTexts(item, cut, depth + 1));
  return copy;
}
