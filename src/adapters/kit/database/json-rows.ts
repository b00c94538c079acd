/** Rows as JSON: columns that hold JSON, rows that stand beside the messages of a session, and how much they take. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, tryParseJson } from "../../../base/json/json.ts";
import type { ParsedDocument } from "../document/document.ts";
import { parseText } from "../document/document.ts";
import { extractString } from "../extract/extract.ts";
import type { SideRecord } from "../session/side-record.ts";

/** The value that a column has as text; undefined where it is none. */
export function jsonIn(text: JsonValue | undefined): JsonValue | undefined {
  const parsed = typeof text === "string" ? tryParseJson(text) : undefined;
  return parsed?.kind === "value" ? parsed.value : undefined;
}

/** A column that is one JSON value, as `SqliteFile.exactValue` gives it: one that is no UTF-8 comes as a blob. */
export function parseColumn(column: JsonValue): ParsedDocument {
  if (typeof column === "string") return parseText(column);
  const raw = isJsonObject(column) ? extractString(column, "blob") : undefined;
  const fault = { kind: "invalid_utf8" as const, message: "its data is not UTF-8 text" };
  return { value: { raw: raw ?? "", encoding: "base64" }, fault };
}

/** Rows of a table that belong to a session and are no messages. */
export function tableRecord(
  name: string,
  { table, rows }: { readonly table: string; readonly rows: readonly JsonObject[] },
  changedAt: (row: JsonObject) => number,
): SideRecord {
  const at = rows.reduce((newest, row) => Math.max(newest, changedAt(row)), 0);
  return { name, source: { table, rows }, at, bytes: rows.reduce((sum, row) => sum + bytesOf(row), 0) };
}

/** An upper bound of what the row's texts take. */
export function bytesOf(row: JsonObject): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length * 3 : 16),
    0,
  );
}
