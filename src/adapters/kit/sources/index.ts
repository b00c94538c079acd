/** What is read: places, units, cursors, issues, and the states of sources. */
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
export type { Cursor, FileCursor } from "./freshness.ts";
export {
  committedMark,
  committedSession,
  committedState,
  fileCursor,
  hashedFrom,
  resumeOffset,
  TailHash,
  tailHash,
} from "./freshness.ts";
export type { Issue, IssueKind, SourceFault } from "./issue.ts";
export { issueOf, locate } from "./issue.ts";
export { copyId, nameOfSource } from "./source-name.ts";
export type { StoredHashes, ToldState } from "./source-state.ts";
export { cursorOf, isFresh } from "./unit-cursor.ts";
