/** SQLite databases, opened read-only: rows, rows as JSON, and which of them changed. */
export type { SqliteAccess, SqlRow, SqlValue } from "./sqlite.ts";
export { jsonOfSql, MAX_COPY_BYTES, SqliteFile } from "./sqlite.ts";
export { groupDigests, groupOf, groupsJson, knownGroups } from "./changes.ts";
export { bytesOf, jsonIn, parseColumn, tableRecord } from "./json-rows.ts";
export { digestRows, SessionDigests } from "./row-digests.ts";
