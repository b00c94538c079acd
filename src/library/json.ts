/** `pond-db/json`: exact JSON (spec.md#exact-json). No digit, no duplicate key and no lone surrogate is lost. */
export {
  equalJson,
  firstDifference,
  isJsonObject,
  isRawNumber,
  parseJson,
  stringifyJson,
  tryParseJson,
} from "../base/json/json.ts";
export type { JsonObject, JsonValue, ParsedJson, RawNumber } from "../base/json/json.ts";
