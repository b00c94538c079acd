/**
 * The canonical types as plain interfaces: what a program outside sees too. The schemas are proven equal to them
 * (types.type-test.ts).
 */
import type { JsonObject } from "../base/json/json.ts";
import type { partTypes, provenances, relations, roles } from "./enums.ts";
import type { Extracted, ExtractedJson } from "./extracted.ts";
import type { MessageId, PartId, SessionId } from "./ids.ts";
import type { Timestamp } from "./timestamp.ts";

export type Provenance = (typeof provenances)[number];
export type Relation = (typeof relations)[number];
export type Role = (typeof roles)[number];
export type PartType = (typeof partTypes)[number];

/** One conversation as its client recorded it (spec.md#canonical-model). */
export interface Session {
  readonly id: SessionId;
  readonly parent_session_id?: SessionId;
  /** Where in the parent it branched off, if the source says so. */
  readonly parent_message_id?: MessageId;
  readonly relation?: Relation;
  /** `<client>` or `<client>/<agent>`; never changes once stored. */
  readonly source_agent: string;
  readonly created_at: Timestamp;
  /** The working directory, or the nearest scope that the source has; never changes once stored. */
  readonly project: Extracted<string>;
  readonly options: JsonObject;
}

interface MessageBase {
  /** Unique in its session. */
  readonly id: MessageId;
  readonly session_id: SessionId;
  /** Position of the record in the session's own log, from 0. */
  readonly seq?: number;
  readonly timestamp: Timestamp;
  readonly options: JsonObject;
}

export interface SystemMessage extends MessageBase {
  readonly role: "system";
  /** Empty for a carrier. */
  readonly content: Extracted<string> | "";
}

export interface UserMessage extends MessageBase {
  readonly role: "user";
}

export interface AssistantMessage extends MessageBase {
  readonly role: "assistant";
}

export interface ToolMessage extends MessageBase {
  readonly role: "tool";
}

/** One entry of a session; what it says is in its parts, but for a system message. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** What a file part contains: text as the source wrote it (base64 mostly), raw bytes, or an address. */
export type FileData =
  | { readonly kind: "string"; readonly value: Extracted<string> }
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  | { readonly kind: "url"; readonly value: Extracted<string> };

interface PartBase {
  /** Unique in its message. */
  readonly id: PartId;
  readonly session_id: SessionId;
  readonly message_id: MessageId;
  /** Its position in the message, from 0. */
  readonly ordinal: number;
  /** `injected`: put there by a program, not said by a person or a model. */
  readonly provenance: Provenance;
  readonly options: JsonObject;
}

export interface TextPart extends PartBase {
  readonly type: "text";
  readonly text?: Extracted<string>;
}

export interface ReasoningPart extends PartBase {
  readonly type: "reasoning";
  readonly text?: Extracted<string>;
}

export interface FilePart extends PartBase {
  readonly type: "file";
  readonly media_type?: Extracted<string>;
  readonly file_name?: Extracted<string>;
  readonly data: FileData;
}

export interface ToolCallPart extends PartBase {
  readonly type: "tool_call";
  readonly call_id?: Extracted<string>;
  readonly name?: Extracted<string>;
  readonly params?: ExtractedJson;
  readonly provider_executed?: Extracted<boolean>;
}

export interface ToolResultPart extends PartBase {
  readonly type: "tool_result";
  readonly call_id?: Extracted<string>;
  readonly name?: Extracted<string>;
  readonly is_failure?: Extracted<boolean>;
  readonly result?: ExtractedJson;
}

export interface ToolApprovalRequestPart extends PartBase {
  readonly type: "tool_approval_request";
  readonly approval_id: Extracted<string>;
  readonly tool_call_id: Extracted<string>;
}

export interface ToolApprovalResponsePart extends PartBase {
  readonly type: "tool_approval_response";
  readonly approval_id: Extracted<string>;
  readonly approved?: Extracted<boolean>;
  readonly reason?: Extracted<string>;
}

/** One piece of a message. What some source cannot always supply is optional (spec.md#model-schema-honesty). */
export type Part =
  | TextPart
  | ReasoningPart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | ToolApprovalRequestPart
  | ToolApprovalResponsePart;

/** One canonical object tagged with its kind: what adapters stream and ingest accepts. */
export type Event =
  | { readonly kind: "session"; readonly session: Session }
  /** `record`: only from a reader of a source. */
  | { readonly kind: "message"; readonly message: Message; readonly record?: RecordPiece }
  | { readonly kind: "part"; readonly part: Part };

/** Which record of its source a message is of. Never stored as such: it decides what is stored (spec.md#storage-versions). */
export interface RecordPiece {
  /** The record's id: that of its first message, in its first version. */
  readonly id: string;
  /** What tells one version of it from another: 128 bits of the record's value, in hex. */
  readonly hash: string;
  /** The hash of the value alone, where `hash` stands for more than that. */
  readonly value?: string;
  /** Its place among the messages that the record is split over. */
  readonly piece: number;
}
