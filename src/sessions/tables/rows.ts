/**
 * Rows back to canonical objects: the inverse of encode.ts, value for value. What was stored came from a source,
 * so this is one of the few places that seal values (spec.md#model-no-synthesis).
 */
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { isJsonObject, stringifyJson } from "../../base/json/json.ts";
import { sealExtracted, sealExtractedJson } from "../../model/extracted.ts";
import type { FileData, Message, Part, Session } from "../../model/index.ts";
import type { MessageOutline, PartOutline } from "../../model/tree/index.ts";
import { decodeRepeats, pondFacts, withFacts } from "../../model/derived/index.ts";
import { messageId, relations, roles, sessionId, timestampFromMicros } from "../../model/index.ts";
import type { Rows } from "../../substrate/index.ts";
import { corrupt, decodeOptions, parseObject } from "./options-text.ts";
import { pieceOf } from "./piece.ts";
import type { MESSAGES, SESSIONS } from "./schema.ts";

/** The columns that decoding needs, by table. */
export const SESSION_COLUMNS = [
  "id",
  "parent_session_id",
  "parent_message_id",
  "relation",
  "source_agent",
  "project",
  "created_at",
  "options",
] as const;
/** Of a message only its body: the rest is known from its outline. */
export const MESSAGE_BODY_COLUMNS = ["content", "options"] as const;
/** Of a part only its body: the rest is known from its outline. */
export const PART_BODY_COLUMNS = ["variant_data", "options"] as const;

export function decodeSession(rows: Rows<typeof SESSIONS>, row: number): Session {
  const { options, exact } = decodeOptions(rows.string("options", row));
  const parent = rows.stringOrNull("parent_session_id", row);
  const cut = rows.stringOrNull("parent_message_id", row);
  const relation = oneOf(relations, rows.stringOrNull("relation", row));
  return {
    id: sessionId(rows.string("id", row)),
    ...(parent === null ? {} : { parent_session_id: sessionId(parent) }),
    ...(cut === null ? {} : { parent_message_id: messageId(cut) }),
    ...(relation === undefined ? {} : { relation }),
    source_agent: rows.string("source_agent", row),
    created_at: instant(rows.timestamp("created_at", row)),
    project: sealExtracted(exact["project"] ?? rows.string("project", row)),
    options,
  };
}

export function decodeMessageRow(rows: Rows<typeof MESSAGES>, row: number): Message {
  const id = messageId(rows.string("id", row));
  const seq = rows.intOrNull("seq", row);
  const role = oneOf(roles, rows.string("role", row));
  if (role === undefined) throw corrupt(`message ${id} has role ${rows.string("role", row)}`);
  const head = {
    id,
    session_id: sessionId(rows.string("session_id", row)),
    ...(seq === null ? {} : { seq }),
    timestamp: instant(rows.timestamp("timestamp", row)),
    role,
    ...revisesAt(rows, row),
  };
  return decodeMessage(head, messageBodyAt(rows, row));
}

/** The record that a row is another version of; nothing where it is the first, or a piece. */
export function revisesAt(rows: Rows<typeof MESSAGES>, row: number): { readonly revises?: string } {
  const repeats = rows.stringOrNull("repeats", row);
  if (repeats === null || repeats === "") return {};
  const id = rows.string("id", row);
  const { record } = decodeRepeats(repeats, id);
  return record === id || pieceOf({ id, record }) !== undefined ? {} : { revises: record };
}

/** The body columns of a message. */
export interface MessageBody {
  readonly content: string | null;
  readonly options: string;
}

/** Content may be left out of what is read of a message that has none. */
export function messageBodyAt(rows: Rows<typeof MESSAGES>, row: number): MessageBody {
  const content = rows.has("content") ? rows.stringOrNull("content", row) : null;
  return { content, options: rows.string("options", row) };
}

export function decodeMessage(
  { id, session_id, seq, timestamp, role, revises }: Omit<MessageOutline, "bytes" | "text_bytes">,
  body: MessageBody,
): Message {
  const { options: stored, exact } = decodeOptions(body.options);
  const isRecorded = revises === undefined || pondFacts(stored).revises !== undefined;
  const options = isRecorded ? stored : withFacts(stored, { revises });
  const base = { id, session_id, ...(seq === undefined ? {} : { seq }), timestamp, options };
  if (role !== "system") return { ...base, role };
  return { ...base, role, content: sealExtracted(exact["content"] ?? body.content ?? "") };
}

/** The body columns of a part, and its payload: of a file part, null where it is empty or was not asked for. */
export interface PartBody {
  readonly variant_data: string;
  readonly options: string;
  readonly payload: Uint8Array | null;
}

export function decodePart(plan: PartOutline, body: PartBody): Part {
  const variant = parseObject(body.variant_data);
  const { id, session_id, message_id, ordinal, provenance, type } = plan;
  const { options } = decodeOptions(body.options);
  const base = { id, session_id, message_id, ordinal, provenance, options };
  const name = { ...text("name", variant["name"] ?? plan.tool_name) };
  const call = { ...text("call_id", variant["call_id"] ?? plan.call_id) };
  switch (type) {
    case "text":
    case "reasoning":
      return { ...base, type, ...text("text", variant["text"]) };
    case "file":
      return {
        ...base,
        type,
        ...text("media_type", variant["media_type"]),
        ...text("file_name", variant["file_name"]),
        data: decodePayload(variant["data"], body.payload ?? new Uint8Array(0)),
      };
    case "tool_call":
      return {
        ...base,
        type,
        ...call,
        ...name,
        ...json("params", variant["params"]),
        ...flag("provider_executed", variant["provider_executed"]),
      };
    case "tool_result":
      return {
        ...base,
        type,
        ...call,
        ...name,
        ...flag("is_failure", plan.is_failure),
        ...json("result", variant["result"]),
      };
    case "tool_approval_request":
      return {
        ...base,
        type,
        approval_id: required(variant, "approval_id"),
        tool_call_id: required(variant, "tool_call_id"),
      };
    case "tool_approval_response":
      return {
        ...base,
        type,
        approval_id: required(variant, "approval_id"),
        ...flag("approved", variant["approved"]),
        ...text("reason", variant["reason"]),
      };
  }
}

function decodePayload(stored: JsonValue | undefined, bytes: Uint8Array): FileData {
  if (!isJsonObject(stored)) throw corrupt("a file part has no data");
  const { kind, value, encoding } = stored;
  if (kind === "bytes")
    return { kind, value: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  if (kind !== "string" && kind !== "url")
    throw corrupt(`a file part has data of kind ${stringifyJson(kind ?? null)}`);
  if (typeof value === "string") return { kind, value: sealExtracted(value) };
  if (encoding !== "base64" && encoding !== "utf8" && encoding !== "utf16le")
    throw corrupt(`a file part has data in encoding ${stringifyJson(encoding ?? null)}`);
  return {
    kind,
    value: sealExtracted(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)),
  };
}

/** The value if it is one of these: what is stored may have been written by nobody we know. */
export function oneOf<T extends string>(allowed: readonly T[], value: string | null): T | undefined {
  return allowed.find((candidate) => candidate === value);
}

/* oxlint-disable typescript/no-unsafe-type-assertion -- tsc widens a computed key to string */
function text<K extends string>(name: K, value: JsonValue | undefined) {
  return (typeof value === "string" ? { [name]: sealExtracted(value) } : {}) as {
    [P in K]?: ReturnType<typeof sealExtracted<string>>;
  };
}

function flag<K extends string>(name: K, value: JsonValue | undefined) {
  return (typeof value === "boolean" ? { [name]: sealExtracted(value) } : {}) as {
    [P in K]?: ReturnType<typeof sealExtracted<boolean>>;
  };
}

function json<K extends string>(name: K, value: JsonValue | undefined) {
  return (value === undefined ? {} : { [name]: sealExtractedJson(value) }) as {
    [P in K]?: ReturnType<typeof sealExtractedJson>;
  };
}
/* oxlint-enable typescript/no-unsafe-type-assertion */

function required(variant: JsonObject, name: string) {
  const value = variant[name];
  if (typeof value !== "string") throw corrupt(`an approval part has no ${name}`);
  return sealExtracted(value);
}

export function instant(micros: number): Message["timestamp"] {
  const timestamp = timestampFromMicros(micros);
  if (timestamp === undefined) throw corrupt(`a timestamp of ${micros} microseconds is out of range`);
  return timestamp;
}
