/** The session datasets: how the canonical model persists (spec.md#session-datasets). */
export type { TableCalls } from "./ingest/remote-tables.ts";
export { remoteTables, tableCalls } from "./ingest/remote-tables.ts";
export type { Durable } from "./ingest/commits.ts";
export type { MessageClaim } from "./tables/claim.ts";
export type { IngestLimits, IngestOptions, IngestSummary } from "./ingest/ingest.ts";
export { DEFAULT_LIMITS, Ingest } from "./ingest/ingest.ts";
export { hashNumber } from "./tables/encode.ts";
export type { MessageHead } from "./read/heads.ts";
export type { ReadLineage } from "./lineage.ts";
export { readLineage } from "./lineage.ts";
export type { MessageText } from "./states/message-texts.ts";
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
export { MESSAGES, PARTS, SESSIONS, SUMMARIES } from "./tables/schema.ts";
export type { Storage } from "./store.ts";
export { openSessionStore, SessionStore } from "./store.ts";
export type { End, StateChoice } from "./states/history.ts";
export { ADOPTED, isSameState } from "./states/history.ts";
export type { RecordedState, SourceStates, StateHead } from "./tables/states.ts";
export type { SessionStandings } from "./states/read-standings.ts";
export type { EndRows, Standing } from "./states/standing.ts";
export type { StateView, StateViews } from "./read/state-views.ts";
export type { SessionSummary } from "./summaries/summarise.ts";
export { isPlain } from "./summaries/summarise.ts";
export type { StoreTree } from "./read/tree.ts";
export { compareByAge, messageCount, SummaryList } from "./summaries/summary-list.ts";
export type { IngestTables, Inserted } from "./tables/tables.ts";
export { ingestTables } from "./tables/tables.ts";
export type { RowRef, StoredMessage, StoredPart } from "./states/row-ref.ts";
export type { Damage, MaintenanceReport, TableCheck, TableHealth } from "../substrate/index.ts";
export type { Cleared } from "./damage.ts";
export { aloneIn, checkFiles, clearTheWay, forgetWhatWas, letGo, remainsOf } from "./damage.ts";
export type { StateName } from "./repair/put-back.ts";
export type { Shown, View } from "./read/view.ts";
