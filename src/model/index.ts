/** The canonical model: what every adapter parses into and every reader reads (spec.md#canonical-model). */
export type { Author, RecordedAuthor, Standpoint } from "./author.ts";
export { impliedAuthor, partAuthor } from "./author.ts";
export type { Truncation } from "./bound-text.ts";
export { boundText, MAX_TEXT_BYTES, truncationMarker } from "./bound-text.ts";
export { activeBranch } from "./branch.ts";
export { partTypes, provenances, relations, roles } from "./enums.ts";
export type { Extracted, ExtractedJson } from "./extracted.ts";
export { openJson } from "./extracted.ts";
export type { MessageName, PondFacts, Replayed } from "./facts.ts";
export { pondFacts, pondOf, valueAt } from "./facts.ts";
export { identifierPieces, piecesOf } from "./identifiers.ts";
export type { EntityKey, MessageId, MessageKey, PartId, PartKey, SessionId, SessionKey } from "./ids.ts";
export {
  describeKey,
  isMessageKey,
  isPartKey,
  isSameKey,
  keyOf,
  messageId,
  partId,
  sessionId,
} from "./ids.ts";
export { compareAcrossSessions, compareInSession, compareParts } from "./order.ts";
export type { Lineage, MessageWithParts, SessionState, StateSource } from "./replay.ts";
export { entityOf, eventsOf, replay } from "./replay.ts";
export type { Repeats } from "./repeats.ts";
export { decodeRepeats, encodeRepeats, repeatsOf, repeatsOfVersion } from "./repeats.ts";
export type { Revision } from "./revision.ts";
export { newestRevisions, revisionOf } from "./revision.ts";
export { searchText } from "./search-text.ts";
export type { Timestamp } from "./timestamp.ts";
export {
  formatTimestamp,
  isFormatOf,
  parseTimestamp,
  timestampFromMicros,
  timestampFromMillis,
} from "./timestamp.ts";
export { recordedTitle } from "./title.ts";
export { hydrateTree, lineageOf, loadTree, resolveTree, sessionsIn, stateOf } from "./tree/load.ts";
export { planParts, planTree } from "./tree/plan.ts";
export type {
  Fault,
  FaultKind,
  Found,
  Leaf,
  MessageNode,
  MessageOutline,
  MessagePlan,
  MessageRange,
  Outcome,
  PartNode,
  PartPlan,
  PartScope,
  PlanNode,
  RefTree,
  SessionNode,
  SessionOutline,
  SessionPlan,
  Staged,
  Total,
  TreeIssue,
  TreeScope,
  TreeSource,
} from "./tree/types.ts";
export type { Violation } from "./validate.ts";
export { EventValidator, isAllowed, sessionFault } from "./validate.ts";
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
