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
export { lookAtStore, openStore, Store, type StoreOptions } from "./store.ts";
export { Table } from "./table.ts";
export {
  type Column,
  type ColumnName,
  type ColumnsOf,
  type ColumnType,
  defineTable,
  type IndexSpec,
  joinKey,
  type RowOf,
  type TableSpec,
} from "./spec.ts";
export { type Added, Batch, BatchBuilder, MAX_BATCH_BYTES, type MovedBatch } from "./arrow/batch.ts";
export { loadArrow } from "./lance.ts";
export type { Rows } from "./arrow/rows.ts";
export type { RawColumn } from "./arrow/stored-column.ts";
export type { NearestOptions, Order, ScanOptions, SearchOptions } from "./read/query.ts";
export type { BooleanText, MatchText, PhraseText, TextQuery } from "./text-query.ts";
export { type InsertResult, type InsertRowsResult, type KeyPlace, KeySet } from "./write.ts";
export {
  and,
  between,
  contains,
  createdAfter,
  eq,
  ge,
  gt,
  isIn,
  isNull,
  le,
  lt,
  matches,
  MAX_IN_VALUES,
  ne,
  not,
  or,
  type Predicate,
  type PredicateValue,
  startsWith,
} from "./predicate.ts";
export { parseStorageUrl, type StorageUrl } from "./storage-url.ts";
export type { IndexState } from "./maintain/indexes.ts";
export type { Action, TableFacts } from "./maintain/plan.ts";
export type { MaintainOptions, MaintenanceReport, TableHealth } from "./maintain/run.ts";
export type { DiskUse } from "./local/disk-use.ts";
export type { RecoveryIssue } from "./local/recover.ts";
export type { StorePeek } from "./local/peek.ts";
export type { CheckOptions, Damage, TableCheck } from "./local/check.ts";
export { checkStore } from "./local/check.ts";
export type { ExpectedTable, MissingTables } from "./local/lost-tables.ts";
export { missingTables } from "./local/lost-tables.ts";
export {
  dropOldVersions,
  emptyQuarantine,
  forgetLost,
  listRemains,
  mendVersions,
  moveRemains,
  removeDerived,
  removeRemains,
} from "./local/set-aside.ts";
export { tidySums } from "./local/sums.ts";
export { withStoreLock } from "./local/writer-lock.ts";
export type { Judge, PutBack, TakenOut } from "./take-out.ts";
