/**
 * `pond-db/model`: the canonical model for programs outside. Constructors and parsers make valid objects, trees read them in
 * stages. Loads neither the engine nor zod.
 */
export {
  createMessage,
  createSession,
  filePart,
  reasoningPart,
  textPart,
  toolCall,
  toolResult,
} from "../model/events/index.ts";
export type {
  Instant,
  NewFile,
  NewMessage,
  NewPart,
  NewSession,
  NewToolCall,
  NewToolResult,
  PartFacts,
} from "../model/events/index.ts";
export { parseEvent, parseMessage, parsePart, parseSession } from "../model/events/index.ts";
export { eventsOf, replay } from "../model/events/index.ts";
export { openJson } from "../model/index.ts";
export { partAuthor, searchText } from "../model/derived/index.ts";
export { describeKey } from "../model/index.ts";
export { messageId, partId, sessionId } from "./ids.ts";
export { formatTimestamp } from "../model/index.ts";
export { parseExactTimestamp as parseTimestamp } from "../model/events/index.ts";
export type { Author } from "../model/derived/index.ts";
export type {
  EntityKey,
  Event,
  Extracted,
  ExtractedJson,
  FileData,
  Message,
  MessageId,
  MessageKey,
  Part,
  PartId,
  PartKey,
  PartType,
  Provenance,
  Relation,
  Role,
  Session,
  SessionId,
  SessionKey,
  Timestamp,
} from "../model/index.ts";
export type { Lineage, MessageWithParts, SessionState } from "../model/events/index.ts";

// Trees in stages: what there is, where it is, what it says.
export {
  hydrateTree,
  lineageOf,
  loadTree,
  planParts,
  planTree,
  REF,
  resolveTree,
  sessionsIn,
  stateOf,
} from "../model/tree/index.ts";
export type {
  MessageNode,
  MessagePlan,
  MessageRange,
  PartNode,
  PartOutline,
  PlanNode,
  RefTree,
  SessionNode,
  SessionPlan,
  Staged,
  TreeIssue,
  TreeRef,
  TreeScope,
  TreeSource,
} from "../model/tree/index.ts";
