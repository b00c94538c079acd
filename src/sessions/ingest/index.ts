/** Storing canonical events: batches in, rows that were absent stored, their states recorded (spec.md#adapter-integrity-additive-sync). */
export type { TableCalls } from "./remote-tables.ts";
export { remoteTables, tableCalls } from "./remote-tables.ts";
export type { Durable } from "./commits.ts";
export type { IngestLimits, IngestSummary } from "./ingest.ts";
export { DEFAULT_LIMITS, Ingest } from "./ingest.ts";
export type { IngestTables, Inserted } from "../tables/tables.ts";
export { ingestTables } from "../tables/tables.ts";
