/**
 * The complete surface of `pond-db`: every name here is API, and test/package.test.ts holds the list. The model, JSON and
 * adapters have subpaths of their own (src/library/).
 */
export { isPondError, PondError } from "./base/errors.ts";
export type { ErrorCode, ErrorDetails, ErrorReason } from "./base/errors.ts";
export type { Clock } from "./base/clock.ts";
export type { Issue, IssueKind } from "./adapters/index.ts";
export type { Loss } from "./adapters/restore.ts";
export { openPond } from "./library/open.ts";
export type { OpenOptions, Pond, SyncHooks, TreeOptions } from "./library/pond.ts";
export { plainText } from "./base/sentence.ts";
export type { FieldName, NextStep, Sentence } from "./base/sentence.ts";
export type { AdapterReport } from "./wire/setup.ts";
export type { RestoreReport, RestoreRequest } from "./wire/restore.ts";
export type { SourceFilter, SourceIssue } from "./wire/sources.ts";
export type { ClientReport, Stage, SyncProgress, SyncReport, SyncRequest } from "./wire/sync.ts";
export type { ClientVerification, VerifyReport } from "./wire/verify.ts";
export type {
  ChildView,
  EndView,
  GetRequest,
  GetResponse,
  Hit,
  HitSession,
  IngestRequest,
  IngestResponse,
  IssueView,
  MessageResult,
  MessageView,
  PartSummary,
  ProjectFilter,
  ResponseMode,
  RowError,
  RowResult,
  RowState,
  SearchFilters,
  SearchMode,
  SearchRequest,
  SearchResponse,
  SessionHead,
  SessionLine,
  SessionResult,
  SessionsRequest,
  SessionsResponse,
  StateView,
  WirePart,
} from "./wire/index.ts";
