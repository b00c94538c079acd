/** The session datasets: how the canonical model persists (spec.md#session-datasets). */
export type { MessageClaim } from "./tables/claim.ts";
export { hashNumber } from "./tables/encode.ts";
export type { MessageHead } from "./read/heads.ts";
export type { ReadLineage } from "./lineage.ts";
export { readLineage } from "./lineage.ts";
export { findPartOutlines } from "./read/parts.ts";
export { isDerivedName, pieceOf } from "./tables/piece.ts";
export type {
  RestoredMessage,
  RestoredMessages,
  RestoreHead,
  RestoreRecord,
} from "./tables/restore-records.ts";
export type { Below } from "./tables/resumed.ts";
export { asRestoredFrom } from "./tables/resumed.ts";
export type { MessageFilter } from "./tables/schema.ts";
export { isDerivedTable, MESSAGES, PARTS, SESSIONS, SUMMARIES } from "./tables/schema.ts";
export type { Storage } from "./store.ts";
export { openSessionStore, SessionStore } from "./store.ts";
export type { StateAsRead, StateViews } from "./read/state-views.ts";
export type { MayHold, Needles } from "./signatures/signatures.ts";
export type { SessionSummary } from "./summaries/summarise.ts";
export { isPlain } from "./summaries/summarise.ts";
export type { StoreTree } from "./read/tree.ts";
export { compareByAge, messageCount, SummaryList } from "./summaries/summary-list.ts";
export type { MaintenanceReport, TableHealth } from "../substrate/index.ts";
export type { Shown, View } from "./read/view.ts";
