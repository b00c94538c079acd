/** The canonical model: what every adapter parses into and every reader reads (spec.md#canonical-model). */
export { impliedAuthor, partAuthor } from "./derived/author.ts";
export type { Truncation } from "./bound-text.ts";
export { boundText, MAX_TEXT_BYTES, truncationMarker } from "./bound-text.ts";
export { activeBranch } from "./derived/branch.ts";
export type {
  Instant,
  NewFile,
  NewMessage,
  NewPart,
  NewSession,
  NewToolCall,
  NewToolResult,
  PartFacts,
} from "./build.ts";
export {
  createMessage,
  createSession,
  filePart,
  reasoningPart,
  textPart,
  toolCall,
  toolResult,
} from "./build.ts";
export { partTypes, provenances, relations, roles } from "./enums.ts";
export type { Extracted, ExtractedJson } from "./extracted.ts";
export { openJson } from "./extracted.ts";
export type {
  Author,
  FactsDraft,
  MessageName,
  PondFacts,
  RecordedAuthor,
  RecordedLineage,
  Replayed,
  TitleFact,
} from "./derived/facts.ts";
export { isOwnSpace, pondFacts, pondSpace, withFacts, withoutFacts, withPondSpace } from "./derived/facts.ts";
export { identifierPieces, piecesOf } from "./derived/identifiers.ts";
export type { EntityKey, MessageId, MessageKey, PartId, PartKey, SessionId, SessionKey } from "./ids.ts";
export { describeKey, isMessageKey, isPartKey, keyOf, messageId, partId, sessionId } from "./ids.ts";
export {
  decodeEvent,
  outsideEventFault,
  parseEvent,
  parseMessage,
  parsePart,
  parseSession,
} from "./parse.ts";
export { compareOldestFirst, compareInSession, compareParts } from "./order.ts";
export type { Lineage, MessageWithParts, SessionState } from "./replay.ts";
export { entityOf, eventsOf, replay } from "./replay.ts";
export type { Repeats } from "./derived/repeats.ts";
export {
  decodeRepeats,
  encodeRepeats,
  originalsOf,
  repeatsOf,
  repeatsOfVersion,
  replaysOf,
} from "./derived/repeats.ts";
export { newestRevisions, revisionOf } from "./derived/revision.ts";
export { searchText } from "./derived/search-text.ts";
export { brandOf, isOfAgent, isSubagent, subagentLabel, subagentOf } from "./derived/source-agent.ts";
export type { Timestamp } from "./timestamp.ts";
export {
  formatTimestamp,
  isFormatOf,
  parseTimestamp,
  timestampFromMicros,
  timestampFromMillis,
} from "./timestamp.ts";
export type { RecordedTitle } from "./derived/title.ts";
export { bestTitle, recordedTitle, titleIn, titleLine } from "./derived/title.ts";
export { hydrateTree, lineageOf, loadTree, resolveTree, sessionsIn, stateOf } from "./tree/load.ts";
export { planParts, planTree } from "./tree/plan.ts";
export { REF } from "./tree/types.ts";
export type {
  Fault,
  Found,
  Located,
  MessageNode,
  MessageOutline,
  MessagePlan,
  MessageRange,
  Outcome,
  Outline,
  PartNode,
  PartOutline,
  PartScope,
  PlanNode,
  RefTree,
  SessionNode,
  SessionOutline,
  SessionPlan,
  Staged,
  TreeIssue,
  TreeRef,
  TreeScope,
  TreeSource,
} from "./tree/types.ts";
export type { Violation } from "./validate.ts";
export { EventValidator, isAllowed } from "./validate.ts";
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
