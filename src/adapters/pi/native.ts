/**
 * Canonical messages back to the records they came from, value for value (spec.md#adapter-native-restore-lossless):
 * what was taken out of a record is put back where it stood.
 */
import { PondError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { MessageWithParts, Part, SessionState } from "../../model/index.ts";
import { formatTimestamp } from "../../model/index.ts";
import type { RawLine } from "../seam/index.ts";
import { arrayField, extractString, field, integerField, objectField, wholeRecords } from "../seam/index.ts";
import { blocksOf, resultFields, textAt } from "./blocks.ts";

/** The records of a session's log, in order. */
export function recordsOf(state: SessionState): (JsonValue | RawLine)[] {
  const records: (JsonValue | RawLine)[] = [];
  let line: JsonValue[] = [];
  let missing = 0;
  const wholes = wholeRecords(state.messages);
  for (const entry of state.messages) {
    if (entry.message.seq === undefined) continue;
    const whole = wholes.get(entry.message.id);
    if (whole !== undefined) records.push(whole);
    if (whole !== undefined || wholes.has(recordIdOf(entry.message.id))) continue;
    const source = sourceOf(entry);
    const raw = extractString(source, "raw");
    if (raw !== undefined) {
      records.push({ raw: Buffer.from(raw, field(source, "encoding") === "base64" ? "base64" : "utf8") });
      continue;
    }
    // Several records on one line come back as one list.
    const count = integerField(source, "records");
    if (count !== undefined) {
      line = [];
      missing = count;
      records.push(line);
    }
    const record = recordOf(entry, source);
    if (missing > 0) line.push(record);
    else records.push(record);
    missing -= missing > 0 ? 1 : 0;
  }
  return records;
}

/** Of one of several messages of a record: `<id>/1`, ... */
const recordIdOf = (id: string): string => id.replace(/\/\d+$/, "");

export function sourceOf({ message }: Pick<MessageWithParts, "message">): JsonObject {
  return objectField(message.options, "source") ?? {};
}

function recordOf({ message, parts }: MessageWithParts, source: JsonObject): JsonValue {
  const rest = field(source, "record");
  if (rest === undefined)
    throw new PondError("validation_failed", `message ${message.id} does not hold a record of pi`, {
      reason: "unsupported",
      hint: "restore the session as foreign",
    });
  if (!isJsonObject(rest)) return rest;
  const record = { ...rest, ...envelopeOf(message, rest) };
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
function envelopeOf(message: MessageWithParts["message"], rest: JsonObject): JsonObject {
  const pond = objectField(message.options, "pond") ?? {};
  const parent = field(pond, "parent");
  const isUnnamed = Object.hasOwn(rest, "id") || field(pond, "id") === "derived";
  const isUntimed = Object.hasOwn(rest, "timestamp") || field(pond, "timestamp") === "carried";
  const isVersion4 = Object.hasOwn(rest, "kind");
  return {
    ...(isUnnamed ? {} : { id: message.id }),
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
