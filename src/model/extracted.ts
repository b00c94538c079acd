/** The seal that makes synthesis a compile error (spec.md#model-no-synthesis). No cost at run time. */
import type { JsonValue } from "../base/json/json.ts";

declare const fromSource: unique symbol;

/** A value that the source really carried. Literals, defaults and templates do not have this type. */
export type Extracted<T> = T & { readonly [fromSource]: true };

/**
 * Any JSON value that the source really carried. Opaque, because `null` cannot carry a brand: `openJson` reads it.
 */
export interface ExtractedJson {
  readonly [fromSource]: "json";
}

/** Seals a value. Lint allows three importers: the extractor helpers, the row decoder, the schemas. */
export function sealExtracted<T>(value: T): Extracted<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one cast that the brand stands on
  return value as Extracted<T>;
}

/** Seals a JSON value; the same three importers as `sealExtracted`. */
export function sealExtractedJson(value: JsonValue): ExtractedJson {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return value as unknown as ExtractedJson;
}

/** The JSON value behind the seal; the same value, no copy. */
export function openJson(value: ExtractedJson): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undoes sealExtractedJson
  return value as unknown as JsonValue;
}
