/**
 * Canonical messages back to the records they came from, value for value (spec.md#adapter-native-restore-lossless):
 * what was taken out of a record is put back where it stood.
 */
import type { RecordHashes } from "../../kit/files/index.ts";
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { pondFacts } from "../../../model/derived/index.ts";
import type { RecordGroup } from "../../kit/restore/index.ts";
import { extractString, field, objectField } from "../../kit/extract/index.ts";
import { isJoined, joinedText } from "../../kit/session/index.ts";
import { logHashes, sourceOf, withUnmapped } from "../../kit/restore/index.ts";
import { blockOfParts } from "../parse/blocks.ts";

export const RECORDS = { record: recordOf, sideFiles: sideFilesOf };

export const hashes = (state: SessionState): RecordHashes => logHashes(state, RECORDS);

/** The newest content of each file beside the log, by its path relative to the log's folder. */
function sideFilesOf(state: SessionState): Map<string, Uint8Array> {
  const newest = new Map<string, { readonly at: number; readonly data: Uint8Array }>();
  for (const { message, parts } of state.messages) {
    const name = extractString(sourceOf(message), "file");
    const [part] = parts;
    if (name === undefined || part?.type !== "file" || part.data.kind !== "bytes") continue;
    const before = newest.get(name);
    if (before === undefined || before.at <= message.timestamp)
      newest.set(name, { at: message.timestamp, data: part.data.value });
  }
  return new Map([...newest].map(([name, { data }]) => [name, data]));
}

function recordOf({ first, pieces, record: id }: RecordGroup): JsonValue {
  const { message } = first;
  const source = sourceOf(message);
  const rest = field(source, "record");
  if (rest === undefined)
    throw new PondError(
      "validation_failed",
      `message ${message.id} does not contain a record of Claude Code`,
      {
        reason: "unsupported",
        hint: "restore the session into another client",
      },
    );
  if (!isJsonObject(rest)) return rest;
  const record = { ...rest, ...envelopeOf(message, { rest, id }) };
  if (message.role === "system")
    return message.content === "" ? record : { ...record, content: message.content };
  const parts = pieces.flatMap((entry) => entry.parts);
  const content = contentOf(source, parts);
  const attachment = field(rest, "type") === "attachment" ? objectField(rest, "attachment") : undefined;
  if (attachment !== undefined) return { ...record, attachment: { ...attachment, prompt: content ?? null } };
  return turnOf(record, first, content);
}

/** uuid, timestamp and parent, where they were taken out. */
function envelopeOf(
  message: MessageWithParts["message"],
  { rest, id }: { readonly rest: JsonObject; readonly id: string },
): JsonObject {
  const { parent, replays, ...facts } = pondFacts(message.options);
  // Where the record kept its own parent, pond's is the logical one of a compaction.
  const parentField = ["parentUuid", "logicalParentUuid"].find((name) => !Object.hasOwn(rest, name));
  const isUnnamed = Object.hasOwn(rest, "uuid") || facts.id === "derived";
  const isUntimed = Object.hasOwn(rest, "timestamp") || facts.timestamp === "carried";
  return {
    ...(parent === undefined || parentField === undefined ? {} : { [parentField]: parent }),
    ...(isUnnamed ? {} : { uuid: id }),
    ...(isUntimed ? {} : { timestamp: formatTimestamp(message.timestamp) }),
    ...(typeof replays !== "object" || Object.hasOwn(rest, "forkedFrom")
      ? {}
      : {
          forkedFrom: {
            sessionId: replays.session_id,
            messageUuid: replays.message_id ?? null,
          },
        }),
  };
}

function turnOf(
  record: JsonObject,
  { message }: MessageWithParts,
  content: JsonValue | undefined,
): JsonObject {
  const slot = message.role === "assistant" ? "assistant" : "user";
  const rest = objectField(message.options, "anthropic") ?? {};
  const { turn } = pondFacts(message.options);
  // The type is taken out together with the role, so that a record without a role gets none.
  const hadRole = !Object.hasOwn(record, "type");
  return {
    ...record,
    ...(hadRole ? { type: slot } : {}),
    message: {
      ...rest,
      ...(turn === undefined ? {} : { id: turn }),
      ...(hadRole ? { role: slot } : {}),
      ...(content === undefined || Object.hasOwn(rest, "content") ? {} : { content }),
    },
  };
}

/** The text or the blocks of a turn: parts in order, with the blocks that no part expressed at their positions. */
function contentOf(source: JsonObject, parts: readonly Part[]): JsonValue | undefined {
  const form = field(source, "content");
  if (form === "absent") return undefined;
  if (form === "string") return joinedText(parts);
  const blocks: JsonValue[] = [];
  let run: Part[] = [];
  for (const part of parts) {
    if (run.length > 0 && !isJoined(part)) {
      blocks.push(blockOfParts(run));
      run = [];
    }
    run.push(part);
  }
  if (run.length > 0) blocks.push(blockOfParts(run));
  return withUnmapped(blocks, source);
}
