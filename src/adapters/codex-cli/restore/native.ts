/** A record as its source had it: what is left over, with what became typed put back (the inverse of records/). */
import type { RawLine, RecordHashes } from "../../kit/files/index.ts";
import { recordHash } from "../../kit/files/index.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, stringifyJson } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { formatTimestamp, openJson } from "../../../model/index.ts";
import { pondFacts, revisionOf } from "../../../model/derived/index.ts";
import type { RecordGroup } from "../../kit/restore/index.ts";
import { logHashes, logLines, sourceOf } from "../../kit/restore/index.ts";
import { field, objectField } from "../../kit/extract/index.ts";
import { blocksOf, sourceBlock } from "../records/blocks.ts";
import { CALLS, RESULTS, TEXT_TYPES, THOUGHTS } from "../records/items.ts";
import { isItemId } from "../records/record.ts";
import { SCREEN_TYPES } from "../records/records.ts";
import { twinVersion } from "../records/twins.ts";

const RECORDS = {
  record: ({ first, pieces, record: id }: RecordGroup): JsonValue => {
    const record = field(sourceOf(first.message), "record") ?? null;
    return isJsonObject(record) ? withInstant(withItem(record, { id, pieces }), first) : record;
  },
  version: ({ first }: RecordGroup, hash: string): string | undefined =>
    pondFacts(first.message.options).twin === undefined ? undefined : twinVersion(hash),
};

export const recordsOf = (state: SessionState): readonly (JsonValue | RawLine)[] => logLines(state, RECORDS);

/** The hashes of what is restored (spec.md#sources-state); beside the log are lines of the index of threads. */
export function hashes(state: SessionState): RecordHashes {
  const side = state.messages
    .filter(({ message }) => message.seq === undefined)
    .map(({ message }): [string, string] => {
      const line = field(sourceOf(message), "record") ?? null;
      return [revisionOf(message).record, recordHash(line)];
    });
  return { ...logHashes(state, RECORDS), side: new Map(side) };
}

function withInstant(record: JsonObject, { message }: MessageWithParts): JsonObject {
  const isCarried = pondFacts(message.options).timestamp === "carried";
  if (isCarried || Object.hasOwn(record, "timestamp")) return record;
  return { ...record, timestamp: formatTimestamp(message.timestamp) };
}

/** A record's own id, and the messages that it was split over. */
interface Pieces {
  readonly id: string;
  readonly pieces: readonly MessageWithParts[];
}

function withItem(record: JsonObject, group: Pieces): JsonObject {
  const payload = typeof field(record, "type") === "string" ? objectField(record, "payload") : undefined;
  if (payload === undefined) return restoreItem(record, group);
  if (field(record, "type") === "response_item") return { ...record, payload: restoreItem(payload, group) };
  return { ...record, payload: restoreEvent(record, payload, group.pieces) };
}

function restoreItem(item: JsonObject, { id, pieces: group }: Pieces): JsonObject {
  const first = group[0];
  if (first === undefined) return item;
  const { message, parts } = first;
  const withId = isItemId(id) && !Object.hasOwn(item, "id") ? { ...item, id } : item;
  const type = field(item, "type");
  if (message.role === "system") return { ...withId, ...instructions(item, group) };
  if (type === "message" && message.role !== "tool")
    return { ...withId, role: message.role, content: contentOf(first, TEXT_TYPES[message.role]) };
  if (type === "agent_message") return { ...withId, content: blocksOf(parts, TEXT_TYPES.user) };
  if (type === "reasoning") return { ...withId, ...thoughts(first) };
  const [part] = parts;
  if (typeof type !== "string" || part === undefined) return withId;
  if (part.type === "tool_call") return { ...withId, ...callFields(type, part), ...pictureOf(parts) };
  return part.type === "tool_result" ? { ...withId, ...resultFields(type, part) } : withId;
}

function contentOf({ message, parts }: MessageWithParts, textType: string): JsonValue {
  const source = objectField(message.options, "source");
  if (source === undefined || field(source, "content") !== "string") return blocksOf(parts, textType);
  return joinedText(parts);
}

/** Instructions of the developer: one message a block. A carrier of an item that was no turn has all it needs. */
function instructions(item: JsonObject, group: readonly MessageWithParts[]): JsonObject {
  const role = field(item, "role");
  const isSplit = field(item, "type") === "message" && (role === "developer" || role === "system");
  return isSplit && group.every(holdsBlock) ? { content: group.map(instructionBlock) } : {};
}

function holdsBlock({ message, parts }: MessageWithParts): boolean {
  if (message.role !== "system") return false;
  return message.content !== "" || parts.length > 0 || sourceBlock(message.options) !== undefined;
}

function instructionBlock({ message, parts }: MessageWithParts): JsonValue {
  if (message.role !== "system") return null;
  const rest = sourceBlock(message.options);
  if (message.content !== "")
    return { type: TEXT_TYPES.user, ...(isJsonObject(rest) ? rest : {}), text: message.content };
  return parts.length > 0 ? (blocksOf(parts, TEXT_TYPES.user)[0] ?? null) : (rest ?? null);
}

function thoughts({ message, parts }: MessageWithParts): JsonObject {
  const encrypted = objectField(message.options, "openai")?.["encrypted_content"];
  const restored: Record<string, JsonValue> = encrypted === undefined ? {} : { encrypted_content: encrypted };
  for (const [name, textType] of Object.entries(THOUGHTS)) {
    const entries = parts.filter((part) => listOf(part) === name && !isBareThought(part));
    if (entries.length > 0) restored[name] = blocksOf(entries, textType);
  }
  return restored;
}

function listOf(part: Part): string {
  const list = objectField(part.options, "source")?.["in"];
  return typeof list === "string" ? list : "summary";
}

/** The part that stands for a thought of which the log has no text. */
function isBareThought(part: Part): boolean {
  return part.type === "reasoning" && part.text === undefined && sourceBlock(part.options) === undefined;
}

function callFields(type: string, part: Extract<Part, { type: "tool_call" }>): JsonObject {
  const fields = CALLS.get(type);
  if (fields === undefined) return {};
  const restored: Record<string, JsonValue> = {};
  if (part.call_id !== undefined) restored["call_id"] = part.call_id;
  if (fields.name !== undefined && part.name !== undefined) restored[fields.name] = part.name;
  if (part.params === undefined) return restored;
  const params = openJson(part.params);
  const isPrinted = objectField(part.options, "source")?.["arguments"] === "json";
  restored[fields.params] = isPrinted ? stringifyJson(params) : params;
  return restored;
}

function pictureOf(parts: readonly Part[]): JsonObject {
  const file = parts.find((part) => part.type === "file");
  return file?.type === "file" && file.data.kind === "string" ? { result: file.data.value } : {};
}

function resultFields(type: string, part: Extract<Part, { type: "tool_result" }>): JsonObject {
  const name = RESULTS.get(type);
  if (name === undefined) return {};
  return {
    ...(part.call_id === undefined ? {} : { call_id: part.call_id }),
    ...(part.result === undefined ? {} : { [name]: openJson(part.result) }),
  };
}

/** What is no item: an event that stands for its message, the summary of a compaction, or a carrier as it is. */
function restoreEvent(
  record: JsonObject,
  payload: JsonObject,
  group: readonly MessageWithParts[],
): JsonObject {
  const first = group[0];
  if (first === undefined) return payload;
  const { message, parts } = first;
  if (message.role === "system") return payload;
  if (field(record, "type") === "inter_agent_communication")
    return { ...payload, content: joinedText(parts) };
  const item = field(payload, "type") === "item_completed" ? objectField(payload, "item") : undefined;
  if (item === undefined) return { ...payload, message: joinedText(parts) };
  const textType = message.role === "user" ? SCREEN_TYPES.user : SCREEN_TYPES.assistant;
  return { ...payload, item: { ...item, content: blocksOf(parts, textType) } };
}

function joinedText(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}
