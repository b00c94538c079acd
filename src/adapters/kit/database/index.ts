/** SQLite databases, opened read-only. */
export type { SqliteAccess, SqlRow, SqlValue } from "./sqlite.ts";
export { jsonOfSql, MAX_COPY_BYTES, SqliteFile } from "./sqlite.ts";
