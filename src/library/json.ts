/**
 * `pond-db/json`: exact JSON (spec.md#exact-json). No digit, no duplicate key and no lone surrogate is lost. Here the text is
 * the caller's: what is wrong with it is no damage of a store.
 */
import { PondError } from "../base/errors.ts";
import type { JsonValue, ParsedJson } from "../base/json/json.ts";
import * as json from "../base/json/json.ts";
import { hiddenProperty, jsonFault } from "../base/json/json-fault.ts";

export { equalJson, firstDifference, isJsonObject, isRawNumber } from "../base/json/json.ts";
export type { JsonObject, JsonValue, ParsedJson, RawNumber } from "../base/json/json.ts";

/** What a text says, or what is wrong with it. Throws only for what is no text. */
export function tryParseJson(text: string): ParsedJson {
  if (typeof text !== "string") throw wrong("text", `text must be a string of JSON, not a ${typeof text}`);
  return json.tryParseJson(text);
}

/** The value of a text. Throws `validation_failed` for what is no JSON, and for keys that are there twice. */
export function parseJson(text: string): JsonValue {
  const parsed = tryParseJson(text);
  if (parsed.kind === "value") return parsed.value;
  throw parsed.kind === "syntax"
    ? wrong("text", `not valid JSON: ${parsed.message} at character ${parsed.offset}`)
    : wrong("text", `not exact JSON: keys are there twice at ${parsed.paths.join(", ")}`);
}

/** Compact JSON text. Throws `validation_failed` for what JSON cannot hold: undefined, NaN, a Date, a function, properties of an array. */
export function stringifyJson(value: JsonValue): string {
  const fault = jsonFault(value) ?? hiddenProperty(value);
  if (fault === undefined) return json.stringifyJson(value);
  const at = fault.path === "" ? "" : ` at ${fault.path}`;
  throw wrong("value", `value holds ${fault.what}${at}, which is no JSON value`);
}

const wrong = (field: string, message: string): PondError =>
  new PondError("validation_failed", message, { data: { field } });
