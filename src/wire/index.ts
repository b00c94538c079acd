/**
 * The shapes that pond speaks (spec.md#wire-handlers): types, bounds and error bodies. The schemas are in
 * schema.ts; the requests and reports of each other operation are in a file of its own, which is its door.
 */
export { CODES } from "./error-codes.ts";
export type { IngestRequest, IngestResponse, RowError, RowResult } from "./ingest.ts";
export {
  CONTEXT_LIMITS,
  GET_LIMITS,
  MAX_EVENTS,
  MAX_QUERY,
  PAGE_BYTES,
  PROTOCOL_VERSION,
  SEARCH_LIMITS,
  SESSIONS_LIMITS,
} from "./limits.ts";
export { includesSubagents } from "./filters.ts";
export type {
  ChildView,
  EndView,
  StateView,
  ErrorBody,
  GetRequest,
  GetResponse,
  Hit,
  HitSession,
  IssueView,
  MessageResult,
  MessageView,
  PartSummary,
  ProjectFilter,
  ResponseMode,
  RowState,
  SearchExplanation,
  SearchFilters,
  SearchMode,
  SearchRequest,
  SearchResponse,
  SessionHead,
  SessionLine,
  SessionResult,
  SessionsRequest,
  SessionsResponse,
  WirePart,
} from "./types.ts";
