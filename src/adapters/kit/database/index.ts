/** SQLite databases, opened read-only. */
export type { SqliteAccess, SqlRow, SqlValue } from "./sqlite.ts";
export { jsonOfSql, MAX_COPY_BYTES, SqliteFile } from "./sqlite.ts";
export { cursorOf, groupDigests, groupOf, groupsJson, isFresh, knownGroups } from "./changes.ts";
export { digestRows } from "./row-digests.ts";
