/** What is read: places, units, files, their stamps and cursors, issues, and the digests of their records. */
export type {
  AdapterEnv,
  AdapterYield,
  Inventory,
  OnRecord,
  OpenedPlace,
  Place,
  PlacedRequest,
  PrefixKeeper,
  ReadRequest,
  RecordOrigin,
  RecordSource,
  RecordYield,
  Unit,
} from "./reading.ts";
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
export type { Issue, IssueKind } from "./issue.ts";
export { locate } from "./issue.ts";
export { SourceFile } from "./source-file.ts";
export { copyId, nameOfSource } from "./source-name.ts";
export type { RawLine } from "./raw-line.ts";
export { isRawLine } from "./raw-line.ts";
export type { RecordHashes, StateDigest } from "./record-chain.ts";
export { bytesHash, digestOf, fileHashes, linkTo, NO_RECORDS, recordHash } from "./record-chain.ts";
export type { LogMark } from "./record-chain.ts";
export type { StoredHashes, ToldState } from "./source-state.ts";
export { decodeText } from "./text-file.ts";
export type { FileStamp } from "./stamp.ts";
export { isSameStamp, isSettled, settledFrom, stampOf } from "./stamp.ts";
export { uuidFrom, valueHash } from "../../../base/json/value-hash.ts";
export type { ZstdFault } from "./zstd.ts";
export { readZstd } from "./zstd.ts";
