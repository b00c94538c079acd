/** The seam between client formats and the canonical model: all that an adapter builds with. */
export type {
  Adapter,
  AdapterEnv,
  Advice,
  AdapterYield,
  Inventory,
  Place,
  PrefixKeeper,
  PresentSession,
  ReadRequest,
  RecordSource,
  RecordYield,
  Told,
  Trace,
  Unit,
} from "./adapter.ts";
export { brandOf } from "./adapter.ts";
export type { Lineage } from "../../model/index.ts";
export { MAX_PAYLOAD_BYTES } from "./bound.ts";
export { compareFile, describeDifference, FileComparer, isEqualFile } from "./compare.ts";
export type { FileComparison, RecordDifference } from "./compare.ts";
export {
  batchesOf,
  isFolder,
  issuesOf,
  keysBelow,
  placesThatExist,
  STAGING,
  stampNow,
  walk,
} from "./discovery.ts";
export type { Walked, WalkOptions } from "./discovery.ts";
export {
  arrayField,
  defineField,
  extractBoolean,
  extractCompact,
  extractFailure,
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
  isEmpty,
  objectField,
  optional,
  without,
} from "./extract.ts";
export type { KeptMap } from "./digest-map.ts";
export { DigestMap } from "./digest-map.ts";
export { fileTime } from "./file-time.ts";
export type { Cursor, FileCursor } from "./freshness.ts";
export {
  committedMark,
  committedSession,
  committedState,
  hashedFrom,
  resumeOffset,
  TailHash,
  tailHash,
} from "./freshness.ts";
export { authorOf, usageOf } from "./foreign/author.ts";
export type { ContextRule, ModelContext } from "./foreign/context.ts";
export { failuresIn, keptBehind, lastCompaction, thoughtsIn } from "./foreign/context.ts";
export type { HandedOver } from "./foreign/handed-over.ts";
export {
  differenceToHandedOver,
  handedOver,
  messagesBehind,
  messagesSaying,
  INTERRUPTED,
  NO_PROMPT,
  NO_RESULT,
} from "./foreign/handed-over.ts";
export type { History, HistoryOptions } from "./foreign/history.ts";
export { historyOf } from "./foreign/history.ts";
export type { CallPart, FilePart } from "./foreign/parts.ts";
export {
  callId,
  callInput,
  compactionSummary,
  countSystem,
  fileUrl,
  injectedKind,
  isAnswer,
  isCarried,
  loseFile,
  loseNote,
  parseDataUrl,
  toolName,
} from "./foreign/parts.ts";
export type { Result, ResultPart } from "./foreign/results.ts";
export { CallResults, resultBlocks, resultJson } from "./foreign/results.ts";
export type { HandedTokens } from "./foreign/tokens.ts";
export { tokensOf } from "./foreign/tokens.ts";
export type { Issue, IssueKind } from "./issue.ts";
export { locate } from "./issue.ts";
export type { BadLine, JsonlItem, JsonlRecord, JsonlStart, ReadJsonlOptions } from "./jsonl.ts";
export { JsonlSplitter, readJsonl } from "./jsonl.ts";
export { JsonlLog } from "./jsonl-log.ts";
export type { LineStart, Prefix, PrefixFormat, PrefixState } from "./prefix.ts";
export { goOn, keptValue, keptPrefix, prefixToKeep } from "./prefix.ts";
export type { RecordGroup } from "./record-groups.ts";
export { recordedDirectories } from "./recorded-directories.ts";
export { recordGroups } from "./record-groups.ts";
export type { LogReading } from "./read-log.ts";
export { Committed, tellLog, untilUnreadable } from "./read-log.ts";
export { SourceFile } from "./source-file.ts";
export { copyId, nameOfSource } from "./source-name.ts";
export type {
  Loss,
  RawLine,
  Restored,
  Resume,
  RestoredFile,
  RestoredLog,
  RestoredRow,
  RestoredRows,
  RestoredTable,
  SerializeOptions,
} from "./restore.ts";
export { isRawLine, LossReport, printFile } from "./restore.ts";
export type { RecordHashes, StateDigest } from "./record-chain.ts";
export { bytesHash, digestOf, fileHashes, linkTo, NO_RECORDS, recordHash } from "./record-chain.ts";
export { RestoredFiles } from "./restored-files.ts";
export type { LogEntry, LogMark, MessageDraft, PartDraft, RecordId } from "./session-log.ts";
export { SessionLog } from "./session-log.ts";
export type { SqliteAccess, SqlRow, SqlValue } from "./sqlite.ts";
export { jsonOfSql, MAX_COPY_BYTES, SqliteFile } from "./sqlite.ts";
export type { IndexRequest, SpanAdapter } from "./span-index.ts";
export { hasSpans } from "./span-index.ts";
export type { SpanRef, SpanTree } from "./span-source.ts";
export { openSpanTree } from "./span-source.ts";
export type { StoredHashes, ToldState } from "./source-state.ts";
export { decodeText } from "./text-file.ts";
export type { TextSpan } from "./text-parts.ts";
export { isJoined, textParts } from "./text-parts.ts";
export { toldBy } from "./told.ts";
export type { FileStamp } from "./stamp.ts";
export { isSameStamp, isSettled, settledFrom, stampOf } from "./stamp.ts";
export { uuidFrom, valueHash } from "../../base/value-hash.ts";
export { isWhole, wholeRecord } from "./whole.ts";
export type { ZstdFault } from "./zstd.ts";
export { readZstd } from "./zstd.ts";
