/**
 * Canonical messages back to the records they came from, value for value (spec.md#adapter-native-restore-lossless):
 * what was taken out of a record is put back where it stood.
 */
import { PondError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { MessageWithParts, Part, SessionState } from "../../model/index.ts";
import { formatTimestamp } from "../../model/index.ts";
import type { RawLine, RecordGroup, RecordHashes } from "../seam/index.ts";
import {
  arrayField,
  extractString,
  field,
  integerField,
  objectField,
  recordGroups,
  recordHash,
  wholeRecord,
} from "../seam/index.ts";
import { blocksOf, resultFields, textAt } from "./blocks.ts";

/** The records of a session's log, in order. */
export function recordsOf(state: SessionState): (JsonValue | RawLine)[] {
  return recordGroups(state.messages).map(lineOf);
}

/** The hashes of what is restored (spec.md#sources-state). */
export function hashes(state: SessionState): RecordHashes {
  const log = recordGroups(state.messages).map((group) => ({
    record: group.record,
    hash: recordHash(lineOf(group)),
  }));
  return { log, side: new Map() };
}

function lineOf({ first, pieces, record }: RecordGroup): JsonValue | RawLine {
  const whole = wholeRecord(pieces);
  if (whole !== undefined) return whole;
  const source = sourceOf(first);
  const raw = extractString(source, "raw");
  if (raw !== undefined)
    return { raw: Buffer.from(raw, field(source, "encoding") === "base64" ? "base64" : "utf8") };
  // Several records on one line come back as one list.
  if (integerField(source, "records") !== undefined)
    return pieces.map((piece) => recordOf(piece, piece.message.id));
  return recordOf(first, record);
}

export function sourceOf({ message }: Pick<MessageWithParts, "message">): JsonObject {
  return objectField(message.options, "source") ?? {};
}

function recordOf({ message, parts }: MessageWithParts, id: string): JsonValue {
  const source = sourceOf({ message });
  const rest = field(source, "record");
  if (rest === undefined)
    throw new PondError("validation_failed", `message ${message.id} does not hold a record of pi`, {
      reason: "unsupported",
      hint: "restore the session as foreign",
    });
  if (!isJsonObject(rest)) return rest;
  const record = { ...rest, ...envelopeOf(message, { rest, id }) };
  if (message.role === "system") return record;
  const isTurn = !Object.hasOwn(rest, "type");
  const inner = isTurn || rest["type"] === "message" ? objectField(rest, "message") : undefined;
  if (inner === undefined) return { ...record, ...contentOf(source, parts, rest) };
  return {
    ...record,
    ...(isTurn ? { type: "message" } : {}),
    message: {
      ...(isTurn ? { role: message.role === "tool" ? "toolResult" : message.role } : {}),
      ...inner,
      ...contentOf(source, parts, inner),
    },
  };
}

/** Id, parent and instant, where they were taken out. */
function envelopeOf(
  message: MessageWithParts["message"],
  { rest, id }: { readonly rest: JsonObject; readonly id: string },
): JsonObject {
  const pond = objectField(message.options, "pond") ?? {};
  const parent = field(pond, "parent");
  const isUnnamed = Object.hasOwn(rest, "id") || field(pond, "id") === "derived";
  const isUntimed = Object.hasOwn(rest, "timestamp") || field(pond, "timestamp") === "carried";
  const isVersion4 = Object.hasOwn(rest, "kind");
  return {
    ...(isUnnamed ? {} : { id }),
    ...(parent === undefined || Object.hasOwn(rest, "parentId") ? {} : { parentId: parent }),
    ...(isUntimed
      ? {}
      : { timestamp: isVersion4 ? message.timestamp / 1000 : formatTimestamp(message.timestamp) }),
  };
}

/** The fields that the parts of a turn took out of `holder`. */
function contentOf(source: JsonObject, parts: readonly Part[], holder: JsonObject): JsonObject {
  const [first] = parts;
  if (first?.type === "tool_result") return resultFields(first);
  const texts: Record<string, JsonValue> = {};
  for (const [index, part] of parts.entries()) {
    const name = extractString(objectField(part.options, "source") ?? {}, "field");
    if (name !== undefined) texts[name] = textAt(parts, index);
  }
  const form = field(source, "content");
  if (form === "absent" || Object.hasOwn(holder, "content")) return texts;
  if (form === "string") return { content: textAt(parts, 0) };
  const blocks = blocksOf(parts);
  for (const entry of arrayField(source, "blocks") ?? []) {
    if (!Array.isArray(entry)) continue;
    const [index, block] = entry;
    if (typeof index === "number" && block !== undefined) blocks.splice(index, 0, block);
  }
  return { content: blocks };
}
