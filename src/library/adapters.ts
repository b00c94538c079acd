/**
 * `pond-db/adapters`: the clients pond knows, their files as trees without a store, and what an adapter for another client is
 * written with (docs/adapters/README.md). Of the kit it has what a client needs whose sources are JSONL logs; the rest of the
 * kit may change with any release.
 */

// The clients pond knows.
export { adapterNamed, adapters, hasSpans, openSpanTree } from "../adapters/index.ts";
export type { SpanAdapter, SpanRef, SpanTree } from "../adapters/index.ts";

// What an adapter is.
export type { Adapter, Advice, PresentSession } from "../adapters/kit/adapter/index.ts";

// Places and units: where a client keeps its sessions.
export {
  filesIn,
  folderInVariable,
  foldersIn,
  openPlace,
  unitsPerFile,
} from "../adapters/kit/sources/discovery.ts";
export { copyId, nameOfSource } from "../adapters/kit/sources/index.ts";
export type { PlaceReader } from "../adapters/kit/sources/discovery.ts";
export type {
  AdapterEnv,
  AdapterYield,
  Cursor,
  FileCursor,
  Inventory,
  Issue,
  IssueKind,
  OpenedPlace,
  Place,
  PlacedRequest,
  ReadRequest,
  RecordSource,
  ReadState,
  Unit,
  WalkOptions,
} from "../adapters/kit/sources/index.ts";
export type { FileStamp } from "../adapters/kit/files/index.ts";

// Values out of records: the only way into the model (spec.md#model-no-synthesis).
export {
  arrayField,
  extractBoolean,
  extractFailureByStatus,
  extractFromPath,
  extractItem,
  extractJson,
  extractName,
  extractPresence,
  extractPrintedFailure,
  extractSpan,
  extractString,
  extractTimestamp,
  extractWhole,
  field,
  integerField,
  isCanonicalTimestamp,
  objectField,
  without,
} from "../adapters/kit/extract/index.ts";
export { withFacts } from "../model/derived/index.ts";
export type { PondFacts, RecordedAuthor } from "../model/derived/index.ts";

// Reading a log: by a table of shapes, or by a mapping of one's own.
export { logReader } from "../adapters/kit/log/index.ts";
export type {
  JsonlItem,
  JsonlRecord,
  LogEvidence,
  LogFormat,
  LogHead,
  RecordMapping,
} from "../adapters/kit/log/index.ts";
export type {
  LogRecord,
  MessageDraft,
  PartDraft,
  PrefixFormat,
  RecordId,
  SessionLog,
} from "../adapters/kit/session/index.ts";
export { ShapedRecords, shapedRecord } from "../adapters/kit/shapes/index.ts";
export type { BlockShape, Injected, Pointer, RecordShapes, TurnShape } from "../adapters/kit/shapes/index.ts";

// Restoring: the same logs again, and what another client is told of the session.
export { logHashes, serializeLogs, sourceOf } from "../adapters/kit/restore/index.ts";
export type {
  LogInClient,
  NativeLogs,
  RecordGroup,
  Restored,
  RestoredFile,
  RestoredLog,
  Resume,
  SerializeOptions,
} from "../adapters/kit/restore/index.ts";
export type { RawLine, RecordHashes } from "../adapters/kit/files/index.ts";
export { failuresIn, keptBehind, lastCompaction } from "../adapters/kit/foreign/index.ts";
export type { ContextRule, Loss, ModelContext } from "../adapters/kit/foreign/index.ts";
