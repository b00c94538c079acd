/** Exact JSON: a placeholder with the final signatures while the exact reader and writer are being built. */
import { isUtf8 } from "node:buffer";
import { PondError } from "./errors.ts";

export interface RawNumber {
  readonly rawJSON: string;
}
export type JsonValue = null | boolean | number | string | RawNumber | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export type ParsedJson =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "duplicate_keys"; readonly paths: readonly string[] }
  | { readonly kind: "syntax"; readonly offset: number; readonly message: string };

export function tryParseJson(text: string): ParsedJson {
  try {
    const value: JsonValue = JSON.parse(text);
    return { kind: "value", value };
  } catch (error) {
    return { kind: "syntax", offset: 0, message: String(error) };
  }
}

export function parseJson(text: string): JsonValue {
  const parsed = tryParseJson(text);
  if (parsed.kind === "value") return parsed.value;
  throw new PondError("validation_failed", "not JSON", { reason: "corrupt" });
}

export function stringifyJson(value: JsonValue): string {
  return JSON.stringify(value);
}

export function isRawNumber(value: JsonValue): value is RawNumber {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null && "rawJSON" in value
  );
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

export function decodeUtf8(
  bytes: Uint8Array,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly offset: number } {
  if (!isUtf8(bytes)) return { ok: false, offset: 0 };
  return { ok: true, text: Buffer.from(bytes).toString("utf8") };
}
