/** The session datasets: how the canonical model persists (spec.md#session-datasets). */
export type { TableCalls } from "./far-tables.ts";
export { farTables, tableCalls } from "./far-tables.ts";
export type { IngestLimits, IngestOptions, IngestSummary } from "./ingest.ts";
export { DEFAULT_LIMITS, Ingest } from "./ingest.ts";
export { readLineage } from "./lineage.ts";
export type { PartRef } from "./parts.ts";
export { findPartRefs } from "./parts.ts";
export type { DamagedSession, MessageHead, MessageRef, MessageText } from "./read.ts";
export { MESSAGES, PARTS, SESSIONS, SUMMARIES } from "./schema.ts";
export type { Storage } from "./store.ts";
export { openSessionStore, SessionStore } from "./store.ts";
export type { SessionSummary } from "./summarise.ts";
export type { StoreTree } from "./tree.ts";
export { compareByAge, messageCount, SummaryList } from "./summary-list.ts";
export type { IngestTables, Inserted, Labels } from "./tables.ts";
export { SessionTables } from "./tables.ts";
export type { RowRef } from "./leaves.ts";
export type { MaintenanceReport, TableHealth } from "../substrate/index.ts";
