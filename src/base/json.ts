/** Exact JSON (stub being replaced). */
export type RawNumber = { readonly rawJSON: string };
export type JsonValue = null | boolean | number | string | RawNumber | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
