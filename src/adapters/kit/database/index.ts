/** SQLite databases, opened read-only: rows, rows as JSON, and which of them changed. */
export type { SqlRow } from "./sqlite.ts";
export { jsonOfSql, SqliteFile } from "./sqlite.ts";
export { groupDigests, groupOf, groupsJson, knownGroups } from "./changes.ts";
export { bytesOf, jsonIn, parseColumn, tableRecord } from "./json-rows.ts";
export { digestRows, SessionDigests } from "./row-digests.ts";
