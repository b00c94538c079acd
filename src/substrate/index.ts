/**
 * The one room that talks to Lance (spec.md#lance-chokepoints). It knows tables, rows and keys, and nothing
 * of sessions: a consumer declares tables and gets durable insert-if-absent, typed reads, search and
 * maintenance.
 *
 * @example
 * const NOTES = defineTable({ name: "notes", version: 1, primaryKey: ["id"],
 *   columns: { id: { type: "utf8" }, text: { type: "utf8", packed: "together", nullable: true } } });
 * await using store = await openStore("~/notes");
 * const notes = await store.table(NOTES);
 * await notes.insertRows([{ id: "a", text: "hello" }]);
 * const rows = await notes.scan({ select: ["id", "text"], where: eq("id", "a") });
 * for (let i = 0; i < rows.length; i++) rows.stringOrNull("text", i);
 */
export { inspectStore, openStore, Store } from "./store.ts";
export { Table } from "./table.ts";
export { type ColumnsOf, defineTable, joinKey, type RowOf, type TableSpec } from "./engine/spec.ts";
export { type Added, Batch, BatchBuilder, type MovedBatch } from "./arrow/batch.ts";
export { loadArrow } from "./engine/lance.ts";
export type { Rows } from "./arrow/rows.ts";
export type { ScanOptions, SearchOptions } from "./read/query.ts";
export type { TextQuery } from "./engine/text-query.ts";
export { type KeyPlace, KeySet } from "./write/write.ts";
export { parseStorageUrl } from "./engine/storage-url.ts";
export type { MaintainOptions, MaintenanceReport, TableHealth } from "./maintain/run.ts";
export type { StorePeek } from "./local/peek.ts";
export type { PutBack } from "./write/take-out.ts";
