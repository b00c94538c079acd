/**
 * A file or a column that is one JSON value (spec.md#adapter-integrity-no-silent-drops): the value where it is exact, the
 * text or the bytes as they are where it is not, with the reason.
 */
import type { JsonValue } from "../../../base/json/json.ts";
import { decodeUtf8, tryParseJson } from "../../../base/json/json.ts";
import type { SideRecord } from "../session/side-record.ts";
import type { SourceFault } from "../sources/issue.ts";

/** Text of a file or column that is not one exact JSON value: kept as it is, base64 when it is not UTF-8. */
export interface RawText {
  readonly raw: string;
  readonly encoding?: "base64";
}

/** The JSON value, or what stands in its place. */
export type DocumentValue = { readonly json: JsonValue } | RawText;

export interface ParsedDocument {
  readonly value: DocumentValue;
  readonly fault?: Omit<SourceFault, "path">;
}

/** Files beside a session beyond this are kept as payloads, because a text column would cut them. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** Past this a file cannot be held as one text, if need be in base64. */
export const MAX_FILE_BYTES = 384_000_000;

export const tooLong = (size: number): string => `${size} bytes are more than pond stores of one file`;

/** The JSON value of a file, or its bytes and why it has none. */
export function parseFile(bytes: Buffer): ParsedDocument {
  const decoded = decodeUtf8(bytes);
  if (decoded.ok) return parseText(decoded.text);
  const value: RawText = { raw: bytes.toString("base64"), encoding: "base64" };
  return { value, fault: { kind: "invalid_utf8", message: `byte ${decoded.offset} is not UTF-8` } };
}

/** The same of a text. */
export function parseText(text: string): ParsedDocument {
  const parsed = tryParseJson(text);
  if (parsed.kind === "value") return { value: { json: parsed.value } };
  const fault =
    parsed.kind === "syntax"
      ? { kind: "not_json" as const, message: `${parsed.message} at character ${parsed.offset}` }
      : { kind: "duplicate_keys" as const, message: `the same key twice at ${parsed.paths.join(", ")}` };
  return { value: { raw: text }, fault };
}

/** A file beside a session: JSON where it can be told by value, the bytes otherwise. */
export function sideFileRecord(file: string, data: Buffer, at: number): SideRecord {
  const name = `file:${file}`;
  const { value } = parseFile(data);
  if (data.length > MAX_JSON_BYTES || !("json" in value))
    return { name, source: { file }, data, at, bytes: data.length };
  return { name, source: { file, record: value.json }, at, bytes: data.length };
}
