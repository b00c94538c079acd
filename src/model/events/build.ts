/**
 * Constructors for programs that make sessions of their own: plain values in, valid canonical objects out. What breaks a
 * rule of the model throws at once, with the rule and the field.
 */
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { parseMessage, parsePart, parseSession, refused } from "./parse.ts";
import type { MessageWithParts } from "./replay.ts";
import type { Timestamp } from "../timestamp.ts";
import { timestampFromMillis } from "../timestamp.ts";
import type { Provenance, Relation, Role, Session } from "../types.ts";
import { EventValidator } from "./validate.ts";

/** RFC 3339 text, a Date, or a Timestamp. */
export type Instant = string | Date | Timestamp;

export interface NewSession {
  readonly id: string;
  /** The program that ran it, for example `my-agent`, or `my-agent/reviewer` for an agent below it. */
  readonly source_agent: string;
  /** The working directory, or the nearest scope there is. */
  readonly project: string;
  readonly created_at: Instant;
  readonly parent_session_id?: string;
  readonly parent_message_id?: string;
  readonly relation?: Relation;
  readonly options?: JsonObject;
}

export function createSession({ created_at, options = {}, ...given }: NewSession): Session {
  return parseSession({ ...given, created_at: textOrMicros(created_at), options });
}

export interface NewMessage {
  /** Unique in its session. */
  readonly id: string;
  readonly role: Role;
  readonly timestamp: Instant;
  /** Position in the session, from 0. Messages without one are ordered by time, then by id. */
  readonly seq?: number;
  /** The text of a system message; of no other. */
  readonly content?: string;
  readonly options?: JsonObject;
}

/** A message of a session with its parts, in the order given. */
export function createMessage(
  session: Session,
  { timestamp, options = {}, ...given }: NewMessage,
  parts: readonly NewPart[] = [],
): MessageWithParts {
  const session_id = session.id;
  const message = parseMessage({ ...given, session_id, timestamp: textOrMicros(timestamp), options });
  const owner = { session_id, message_id: message.id };
  const built = parts.map((part, ordinal) =>
    parsePart({ id: String(ordinal), provenance: "conversational", options: {}, ...part, ...owner, ordinal }),
  );
  const validator = new EventValidator();
  validator.check({ kind: "session", session });
  validator.check({ kind: "message", message });
  for (const part of built) {
    const violation = validator.check({ kind: "part", part });
    if (violation !== undefined) throw refused(violation);
  }
  return { message, parts: built };
}

/** A Date out of range stays one, and is refused as no instant. */
function textOrMicros(instant: Instant): unknown {
  return instant instanceof Date ? (timestampFromMillis(instant.getTime()) ?? instant) : instant;
}

/** What every part may be given. */
export interface PartFacts {
  /** Default: its position in the message. */
  readonly id?: string;
  /** Default `conversational`. Say `injected` where a program put it there, and neither a person nor a model said it. */
  readonly provenance?: Provenance;
  readonly options?: JsonObject;
}

/** A part that is not in a message yet. */
export type NewPart = PartFacts &
  (
    | { readonly type: "text" | "reasoning"; readonly text?: string }
    | ({ readonly type: "file" } & NewFile)
    | ({ readonly type: "tool_call" } & NewToolCall)
    | ({ readonly type: "tool_result" } & NewToolResult)
    | {
        readonly type: "tool_approval_request";
        readonly approval_id: string;
        readonly tool_call_id: string;
      }
    | {
        readonly type: "tool_approval_response";
        readonly approval_id: string;
        readonly approved?: boolean;
        readonly reason?: string;
      }
  );

export interface NewFile {
  readonly media_type?: string;
  readonly file_name?: string;
  readonly data:
    | { readonly kind: "string" | "url"; readonly value: string }
    | { readonly kind: "bytes"; readonly value: Uint8Array };
}

export interface NewToolCall {
  /** What the result names it by. */
  readonly call_id?: string;
  readonly name?: string;
  readonly params?: JsonValue;
  /** The provider of the model ran it, not the client. */
  readonly provider_executed?: boolean;
}

export interface NewToolResult {
  readonly call_id?: string;
  readonly name?: string;
  readonly is_failure?: boolean;
  readonly result?: JsonValue;
}

export const textPart = (text: string, facts: PartFacts = {}): NewPart => ({ ...facts, type: "text", text });
export const reasoningPart = (text: string, facts: PartFacts = {}): NewPart => ({
  ...facts,
  type: "reasoning",
  text,
});
export const filePart = (file: NewFile & PartFacts): NewPart => ({ ...file, type: "file" });
export const toolCall = (call: NewToolCall & PartFacts): NewPart => ({ ...call, type: "tool_call" });
export const toolResult = (result: NewToolResult & PartFacts): NewPart => ({
  ...result,
  type: "tool_result",
});
