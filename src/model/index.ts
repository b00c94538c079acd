/** The canonical model: what every adapter parses into and every reader reads (spec.md#canonical-model). What is made of it has doors of its own: events, derived, tree. */
export { partTypes, provenances, relations, roles } from "./enums.ts";
export type { Extracted, ExtractedJson } from "./extracted.ts";
export { openJson } from "./extracted.ts";
export type { EntityKey, MessageId, MessageKey, PartId, PartKey, SessionId, SessionKey } from "./ids.ts";
export { describeKey, isMessageKey, isPartKey, entityKeyOf, messageId, partId, sessionId } from "./ids.ts";
export { compareOldestFirst, compareInSession, compareParts } from "./order.ts";
export type { Timestamp } from "./timestamp.ts";
export {
  formatTimestamp,
  isFormatOf,
  parseTimestamp,
  timestampFromMicros,
  timestampFromMillis,
} from "./timestamp.ts";
export type {
  Event,
  FileData,
  Message,
  Part,
  PartType,
  Provenance,
  RecordPiece,
  Relation,
  Role,
  Session,
} from "./types.ts";
