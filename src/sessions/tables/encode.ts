/**
 * Canonical objects to rows, without loss (spec.md#model-lossless-projection). A plain text column holds UTF-8, which
 * cannot spell a lone surrogate: there it becomes U+FFFD and the exact text is kept in the options (options-text.ts).
 */
import type { JsonValue } from "../../base/json/json.ts";
import { stringifyJson } from "../../base/json/json.ts";
import type { FileData, Message, Part, Session } from "../../model/index.ts";
import { identifierPieces } from "../../model/derived/identifiers.ts";
import { encodeRepeats } from "../../model/derived/index.ts";
import { openJson } from "../../model/index.ts";
import type { RowOf } from "../../substrate/index.ts";
import { encodeOptions } from "./options-text.ts";
import type { MESSAGES, PARTS, SESSIONS } from "./schema.ts";

export type SessionRow = RowOf<typeof SESSIONS>;
export type MessageRow = RowOf<typeof MESSAGES>;
export type PartRow = RowOf<typeof PARTS>;

export function sessionRow(session: Session, ingestedAt: number): SessionRow {
  return {
    id: session.id,
    parent_session_id: session.parent_session_id ?? null,
    parent_message_id: session.parent_message_id ?? null,
    relation: session.relation ?? null,
    source_agent: session.source_agent,
    project: session.project,
    created_at: session.created_at,
    ingested_at: ingestedAt,
    options: encodeOptions(session.options, { project: session.project }),
  };
}

/** What a message's row needs beside the message: its session's labels, and what is known once it has all its parts. */
export interface MessageFacts extends Pick<MessageRow, "source_agent" | "project" | "ingested_at"> {
  readonly searchText: string | undefined;
  /** How many parts it has, and the bytes of their rows. */
  readonly parts: number;
  readonly partBytes: number;
  /** Of its record's value, and the read that tells it. */
  readonly hash: number;
  readonly origin: string;
}

/** As many bits of a hash as a number holds exactly: enough to tell versions of one record apart. */
export function hashNumber(hash: string): number {
  return Number.parseInt(hash.slice(0, 13), 16);
}

export function messageRow(message: Message, facts: MessageFacts): MessageRow {
  const content = message.role === "system" ? message.content : undefined;
  const options = encodeOptions(message.options, content === undefined ? {} : { content });
  const { searchText } = facts;
  return {
    session_id: message.session_id,
    id: message.id,
    seq: message.seq ?? null,
    timestamp: message.timestamp,
    role: message.role,
    source_agent: facts.source_agent,
    project: facts.project,
    content: content ?? null,
    search_text: searchText ?? null,
    text_bytes: searchText === undefined ? null : Buffer.byteLength(searchText),
    bytes: Buffer.byteLength(options) + Buffer.byteLength(content ?? "") + facts.partBytes,
    repeats: encodeRepeats(message),
    identifiers: (searchText === undefined ? undefined : identifierPieces(searchText)) ?? null,
    hash: facts.hash,
    origin: facts.origin,
    parts: facts.parts,
    ingested_at: facts.ingested_at,
    options,
  };
}

/** Bytes of a part's texts and payload, as the message's `bytes` counts them. */
export function partBytes(row: PartRow): number {
  return Buffer.byteLength(row.variant_data) + Buffer.byteLength(row.options) + (row.data?.length ?? 0);
}

export function partRow(part: Part): PartRow {
  const variant: Record<string, JsonValue> = {};
  const columns = variantOf(part, variant);
  return {
    session_id: part.session_id,
    message_id: part.message_id,
    id: part.id,
    ordinal: part.ordinal,
    type: part.type,
    provenance: part.provenance,
    tool_name: columns.tool_name ?? null,
    call_id: columns.call_id ?? null,
    is_failure: columns.is_failure ?? null,
    variant_data: stringifyJson(variant),
    data: columns.data ?? null,
    options: encodeOptions(part.options, {}),
  };
}

type VariantColumns = Partial<Pick<PartRow, "tool_name" | "call_id" | "is_failure" | "data">>;

/** Fills `variant` with the fields of the type that have no column, and gives the columns. */
function variantOf(part: Part, variant: Record<string, JsonValue>): VariantColumns {
  switch (part.type) {
    case "text":
    case "reasoning":
      if (part.text !== undefined) variant["text"] = part.text;
      return {};
    case "file":
      if (part.media_type !== undefined) variant["media_type"] = part.media_type;
      if (part.file_name !== undefined) variant["file_name"] = part.file_name;
      return payloadOf(part.data, variant);
    case "tool_call":
      if (part.params !== undefined) variant["params"] = openJson(part.params);
      if (part.provider_executed !== undefined) variant["provider_executed"] = part.provider_executed;
      return { tool_name: hot("name", part.name, variant), call_id: hot("call_id", part.call_id, variant) };
    case "tool_result":
      if (part.result !== undefined) variant["result"] = openJson(part.result);
      return {
        tool_name: hot("name", part.name, variant),
        call_id: hot("call_id", part.call_id, variant),
        is_failure: part.is_failure ?? null,
      };
    case "tool_approval_request":
      variant["approval_id"] = part.approval_id;
      variant["tool_call_id"] = part.tool_call_id;
      return {};
    case "tool_approval_response":
      variant["approval_id"] = part.approval_id;
      if (part.approved !== undefined) variant["approved"] = part.approved;
      if (part.reason !== undefined) variant["reason"] = part.reason;
      return {};
  }
}

/** A derived column. Text that UTF-8 cannot spell stays in `variant` as well, where JSON escapes it. */
function hot(name: string, value: string | undefined, variant: Record<string, JsonValue>): string | null {
  if (value === undefined) return null;
  if (!value.isWellFormed()) variant[name] = value;
  return value;
}

/** Addresses up to this length stay readable in `variant_data`; longer ones are payload (data: addresses). */
const MAX_INLINE_ADDRESS = 2048;

/** The payload as bytes in the blob column; base64 is decoded when encoding it again gives the same text. */
function payloadOf(data: FileData, variant: Record<string, JsonValue>): VariantColumns {
  if (data.kind === "bytes") {
    variant["data"] = { kind: "bytes" };
    return { data: data.value };
  }
  const text: string = data.value;
  if (data.kind === "url" && text.length <= MAX_INLINE_ADDRESS) {
    variant["data"] = { kind: "url", value: text };
    return {};
  }
  if (data.kind === "string") {
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") === text) {
      variant["data"] = { kind: "string", encoding: "base64" };
      return { data: bytes };
    }
  }
  if (text.isWellFormed()) {
    variant["data"] = { kind: data.kind, encoding: "utf8" };
    return { data: Buffer.from(text, "utf8") };
  }
  variant["data"] = { kind: data.kind, encoding: "utf16le" };
  return { data: Buffer.from(text, "utf16le") };
}
