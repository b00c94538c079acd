/** What is read: places, units, cursors, issues, and the states of sources. */
export type {
  AdapterEnv,
  AdapterYield,
  Inventory,
  OpenedPlace,
  Place,
  PlacedRequest,
  ReadRequest,
  RecordSource,
  Unit,
} from "./reading.ts";
export type { WalkOptions } from "./discovery.ts";
export { keysBelow, placesThatExist, STAGING, stampNow, walk } from "./discovery.ts";
export type { Cursor, FileCursor } from "./freshness.ts";
export { committedMark, committedSession, committedState, fileCursor, resumeOffset } from "./freshness.ts";
export type { Issue, IssueKind, SourceFault } from "./issue.ts";
export { issueOf, locate } from "./issue.ts";
export { copyId, nameOfSource } from "./source-name.ts";
export type { StoredHashes, ReadState } from "./source-state.ts";
export { cursorOf, isFresh } from "./unit-cursor.ts";
