/**
 * The only producers of sealed values in adapter code (spec.md#model-no-synthesis). Each reads one record of
 * source data by value accessors and knows nothing of where the record came from
 * (spec.md#adapter-transport-agnostic-seam). What is not there, or is of another type, is undefined.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, isRawNumber, stringifyJson } from "../../../base/json/json.ts";
import type { Extracted, ExtractedJson, Timestamp } from "../../../model/index.ts";
import { isFormatOf, parseTimestamp, timestampFromMillis } from "../../../model/index.ts";
import { sealExtracted, sealExtractedJson } from "../../../model/extracted.ts";

/** An own field; a name such as `constructor` never reaches the prototype. */
export function field(record: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** An own field that is an object. */
export function objectField(record: JsonObject, name: string): JsonObject | undefined {
  const value = field(record, name);
  return isJsonObject(value) ? value : undefined;
}

/** An own field that is an array. */
export function arrayField(record: JsonObject, name: string): readonly JsonValue[] | undefined {
  const value = field(record, name);
  return Array.isArray(value) ? value : undefined;
}

/** A string of the record, the empty one too. */
export function extractString(record: JsonObject, name: string): Extracted<string> | undefined {
  const value = field(record, name);
  return typeof value === "string" ? sealExtracted(value) : undefined;
}

/** A string that says something: the empty one is as good as none where a name or an id is wanted. */
export function extractName(record: JsonObject, name: string): Extracted<string> | undefined {
  const value = extractString(record, name);
  return value === "" ? undefined : value;
}

/** A boolean of the record. */
export function extractBoolean(record: JsonObject, name: string): Extracted<boolean> | undefined {
  const value = field(record, name);
  return typeof value === "boolean" ? sealExtracted(value) : undefined;
}

/**
 * Failure by a status that says how it went: an exit status other than 0, or `success: false`. What says that it failed
 * (`is_error: true`) is read with `extractBoolean`.
 */
export function extractFailureByStatus(record: JsonObject, name: string): Extracted<boolean> | undefined {
  const value = field(record, name);
  if (typeof value === "boolean") return sealExtracted(!value);
  return typeof value === "number" ? sealExtracted(value !== 0) : undefined;
}

/** Failure by an exit status that the source printed: the first group of the pattern. */
export function extractPrintedFailure(text: string, pattern: RegExp): Extracted<boolean> | undefined {
  const status = pattern.exec(text)?.[1];
  return status === undefined ? undefined : sealExtracted(Number(status) !== 0);
}

/** A flag that the source writes as a field that is there or not, such as `Err` beside `Ok`. */
export function extractPresence(record: JsonObject, name: string): Extracted<boolean> {
  return sealExtracted(Object.hasOwn(record, name));
}

/** Any JSON value, null included; undefined only when the field is absent. */
export function extractJson(record: JsonObject, name: string): ExtractedJson | undefined {
  const value = field(record, name);
  return value === undefined ? undefined : sealExtractedJson(value);
}

/** Values whose type says no more than what a reader can know of them: one that is written in the code does not compile. */
type ReadValue<T> = [JsonValue] extends [T]
  ? T
  : [T] extends [string]
    ? string extends T
      ? T
      : never
    : [T] extends [readonly JsonValue[]]
      ? readonly JsonValue[] extends T
        ? T
        : never
      : [T] extends [JsonObject]
        ? string extends keyof T
          ? T
          : never
        : never;

/** A whole source value as it stands, such as a block that is itself the result. */
export function extractWhole<T extends JsonValue>(value: T & ReadValue<T>): ExtractedJson {
  return sealExtractedJson(value);
}

/** A member of an array of strings. */
export function extractItem(values: readonly JsonValue[], index: number): Extracted<string> | undefined {
  const value = values[index];
  return typeof value === "string" ? sealExtracted(value) : undefined;
}

/** A stretch of a source text, by UTF-16 offsets: how fused spans are split (spec.md#adapter-placement). */
export function extractSpan(
  text: Extracted<string>,
  start: number,
  end: number = text.length,
): Extracted<string> {
  return sealExtracted(text.slice(start, end));
}

/** A source value as compact JSON text. */
export function extractCompact<T extends JsonValue>(value: T & ReadValue<T>): Extracted<string> {
  return sealExtracted(stringifyJson(value));
}

/** Text made of parsed bytes of the source, such as a name in a path: sealed by the one who read it. */
export function extractFromPath<T extends string>(text: T & ReadValue<T>): Extracted<string> {
  return sealExtracted(text);
}

/** An instant, written as RFC 3339 or as milliseconds since 1970. */
export function extractTimestamp(record: JsonObject, name: string): Timestamp | undefined {
  const value = field(record, name);
  if (typeof value === "string") return parseTimestamp(value);
  if (typeof value === "number") return timestampFromMillis(value);
  return undefined;
}

/** True when `formatTimestamp` gives back the source's own spelling, so that the field needs no second copy. */
export function isCanonicalTimestamp(value: JsonValue | undefined, timestamp: Timestamp): boolean {
  return typeof value === "string" && isFormatOf(value, timestamp);
}

/** The record without some of its fields: what the typed fields left over. The same object when none is there. */
export function without(record: JsonObject, names: ReadonlySet<string>): JsonObject {
  const rest: Record<string, JsonValue> = {};
  let dropped = false;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (names.has(name) || value === undefined) dropped = true;
    else if (name === "__proto__") defineField(rest, name, value);
    else rest[name] = value;
  }
  return dropped ? rest : record;
}

export function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** Assigns as data, also under `__proto__`. */
export function defineField(target: Record<string, JsonValue>, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A plain integer, where the source wrote one that a double holds. */
export function integerField(record: JsonObject, name: string): number | undefined {
  const value = field(record, name);
  if (typeof value !== "number" || isRawNumber(value) || !Number.isSafeInteger(value)) return undefined;
  return value;
}
