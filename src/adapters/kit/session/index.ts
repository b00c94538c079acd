/** A session's log as events: ids, positions, bounds, and what is kept of a committed prefix. */
export { MAX_PAYLOAD_BYTES } from "./bound.ts";
export { DigestMap } from "./digest-map.ts";
export type { LineStart, Prefix, PrefixFormat, PrefixState } from "./prefix.ts";
export { resumeFrom, keptValue, keptPrefix, prefixToKeep } from "./prefix.ts";
export type { LogRecord, MessageDraft, PartDraft, RecordId } from "./session-log.ts";
export { SessionLog } from "./session-log.ts";
export type { TextSpan } from "./text-parts.ts";
export { isJoined, joinedText, textParts } from "./text-parts.ts";
export { wholeRecord } from "./whole.ts";
export { MessageIds } from "./message-ids.ts";
export { RewrittenLog } from "./rewritten-log.ts";
export type { SideRecord } from "./side-record.ts";
export { sideFilePart, sideHash } from "./side-record.ts";
export { RESTORED_FROM, restoredFrom } from "./restored-from.ts";
