/**
 * Constructors for programs that make sessions of their own: plain values in, valid canonical objects out. What breaks a
 * rule of the model throws at once, with the rule and the field.
 */
import type { PondError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { INSTANT, isObject, shown } from "./fields.ts";
import { isTooOld, tooOld } from "./outside.ts";
import { parseMessage, parsePart, parseSession, refused } from "./parse.ts";
import type { MessageWithParts } from "./replay.ts";
import type { Timestamp } from "../timestamp.ts";
import type { Event, Provenance, Relation, Role, Session } from "../types.ts";
import { EventValidator } from "./validate.ts";

/** RFC 3339 text with a zone, a Date, or a Timestamp as sessions and messages have it (`parseTimestamp` makes one). */
export type Instant = string | Date | Timestamp;

export interface NewSession {
  /** Yours to choose, unique in the store. */
  readonly id: string;
  /** The program that ran it, for example `my-agent`, or `my-agent/reviewer` for an agent below it. */
  readonly source_agent: string;
  /** The working directory, or the nearest scope there is. */
  readonly project: string;
  readonly created_at: Instant;
  /** The session that this one came from; it may be stored later, or never. */
  readonly parent_session_id?: string;
  /** The message of the parent where this one began. Only together with `parent_session_id`. */
  readonly parent_message_id?: string;
  /** How it came from its parent: started by it, a copy that went on, its continuation, or that of its summary. */
  readonly relation?: Relation;
  /** Any JSON, under keys of your own; `options.pond` is pond's. */
  readonly options?: JsonObject;
}

/** A valid session. Throws `validation_failed` with the rule and the field. */
export function createSession(session: NewSession): Session {
  checkObject("session", session, "{ id, source_agent, project, created_at }");
  checkInstant(named("session", session), "created_at", session.created_at);
  return parseSession(withOptions(session));
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

/**
 * A message of a session with its parts, in the order given. The session is one that `createSession` made, or what that takes.
 * Throws `validation_failed` with the rule and the field, also for a part that its role may not have and for two parts with one
 * id.
 */
export function createMessage(
  session: NewSession,
  message: NewMessage,
  parts: readonly NewPart[] = [],
): MessageWithParts {
  checkObject("session", session, "one that createSession made");
  const owner = parseSession(withOptions(session));
  checkObject("message", message, "{ id, role, timestamp }");
  const whose = named("message", message);
  if (!Array.isArray(parts)) throw wrong("parts", `${whose}: parts must be an array, not ${shown(parts)}`);
  const validator = new EventValidator({ isOutside: true });
  const check = (event: Event): void => {
    const violation = validator.check(event);
    if (violation !== undefined) throw refused(violation);
  };
  check({ kind: "session", session: owner });
  checkInstant(whose, "timestamp", message.timestamp);
  if (message.role === "system" && message.content === undefined)
    throw wrong(
      "content",
      `${whose}: content is required: the text of a system message is there, not in a part`,
    );
  const session_id = owner.id;
  const built = parseMessage({ ...withOptions(message), session_id });
  check({ kind: "message", message: built });
  const keys = { session_id, message_id: built.id };
  // A hole is no part, and not one part less.
  const builtParts = Array.from(parts, (part: NewPart, ordinal) => {
    if (!isObject(part))
      throw wrong(
        "parts",
        `${whose}: part ${ordinal} must be one of textPart(text), toolCall({ ... }), ..., not ${shown(part)}`,
      );
    const given = { id: String(ordinal), provenance: "conversational", ...withOptions(part) };
    return parsePart({ ...given, ...keys, ordinal });
  });
  for (const part of builtParts) check({ kind: "part", part });
  return { message: built, parts: builtParts };
}

function withOptions(given: { readonly options?: JsonObject }): object {
  return { ...given, options: given.options ?? {} };
}

function checkObject(field: string, value: unknown, expected: string): void {
  if (!isObject(value)) throw wrong(field, `${field} must be an object, ${expected}, not ${shown(value)}`);
}

/** A number is a Timestamp, or a mistake that would be stored as 1970. */
function checkInstant(whose: string, field: string, instant: unknown): void {
  if (typeof instant === "number" && isTooOld(instant))
    throw wrong(field, `${whose}: ${field} ${INSTANT}; ${tooOld(instant)}`);
}

const named = (what: string, { id }: { readonly id: unknown }): string =>
  typeof id === "string" ? `${what} ${id}` : `a ${what}`;

const wrong = (field: string, message: string): PondError =>
  refused({ rule: "model-field-types", message, field });

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
  /** What it contains: a text as it is (`string`, base64 too), an address (`url`), or `bytes`. */
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

/** What a person or a model said. */
export const textPart = (text: string, facts: PartFacts = {}): NewPart => ({ ...facts, type: "text", text });
/** What a model thought; only in messages of the assistant. */
export const reasoningPart = (text: string, facts: PartFacts = {}): NewPart => ({
  ...facts,
  type: "reasoning",
  text,
});
/** A file or a picture: `filePart({ file_name, data: { kind: "bytes", value } })`. */
export const filePart = (file: NewFile & PartFacts): NewPart => ({ ...file, type: "file" });
/** A call that the assistant made; its result names the same `call_id`. */
export const toolCall = (call: NewToolCall & PartFacts): NewPart => ({ ...call, type: "tool_call" });
/** What a call gave, in a message of the tool or of the assistant. */
export const toolResult = (result: NewToolResult & PartFacts): NewPart => ({
  ...result,
  type: "tool_result",
});
