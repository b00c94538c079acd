/**
 * Canonical messages back to the records they came from, value for value (spec.md#adapter-native-restore-lossless):
 * what was taken out of a record is put back where it stood.
 */
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { pondFacts } from "../../../model/derived/index.ts";
import type { RecordHashes } from "../../kit/files/index.ts";
import type { RecordGroup } from "../../kit/restore/index.ts";
import { extractString, field, integerField, objectField } from "../../kit/extract/index.ts";
import { logHashes, sourceOf, withUnmapped } from "../../kit/restore/index.ts";
import { joinedText } from "../../kit/session/index.ts";
import { blocksOf, resultFields } from "../parse/blocks.ts";

/** Several records on one line come back as one list. */
export const RECORDS = {
  record: ({ first, pieces, record }: RecordGroup): JsonValue =>
    integerField(sourceOf(first.message), "records") === undefined
      ? recordOf(first, record)
      : pieces.map((piece) => recordOf(piece, piece.message.id)),
};

export const hashes = (state: SessionState): RecordHashes => logHashes(state, RECORDS);

function recordOf({ message, parts }: MessageWithParts, id: string): JsonValue {
  const source = sourceOf(message);
  const rest = field(source, "record");
  if (rest === undefined)
    throw new PondError("validation_failed", `message ${message.id} does not contain a record of pi`, {
      reason: "unsupported",
      hint: "restore the session into another client",
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
  const { parent, ...facts } = pondFacts(message.options);
  const isUnnamed = Object.hasOwn(rest, "id") || facts.id === "derived";
  const isUntimed = Object.hasOwn(rest, "timestamp") || facts.timestamp === "carried";
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
    const name = extractString(sourceOf(part), "field");
    if (name !== undefined) texts[name] = joinedText(parts, index);
  }
  const form = field(source, "content");
  if (form === "absent" || Object.hasOwn(holder, "content")) return texts;
  if (form === "string") return { content: joinedText(parts, 0) };
  return { content: withUnmapped(blocksOf(parts), source) };
}
