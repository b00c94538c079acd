/** Events: made and parsed from what programs outside give, checked, and replayed into sessions (spec.md#canonical-model). */
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
export {
  decodeEvent,
  outsideEventFault,
  parseEvent,
  parseMessage,
  parsePart,
  parseSession,
} from "./parse.ts";
export { isObject } from "./fields.ts";
export { parseExactTimestamp } from "../timestamp.ts";
export type { Lineage, MessageWithParts, SessionState } from "./replay.ts";
export { entityOf, eventsOf, replay } from "./replay.ts";
export type { Violation } from "./validate.ts";
export { EventValidator, isAllowed } from "./validate.ts";
