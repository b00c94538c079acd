/** What pi's model still had: the summary, the entries from the first one that was kept on, and what came after. */
import type { JsonObject } from "../../base/json.ts";
import type { MessageWithParts } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import {
  arrayField,
  extractName,
  integerField,
  keptBehind,
  lastCompaction,
  objectField,
} from "../seam/index.ts";

export function contextOf(all: readonly MessageWithParts[]): ModelContext {
  const brokenOff = all.filter(isBrokenOff);
  const left = new Set(brokenOff);
  const messages = left.size === 0 ? all : all.filter((entry) => !left.has(entry));
  const more = left.size === 0 ? {} : { brokenOff };
  const summary = lastCompaction(messages);
  const entry = messages[summary];
  if (entry === undefined) return { messages, ...more };
  const isKept = keptBy(recordOf(entry), messages);
  return { ...keptBehind(messages, summary, isKept), ...more };
}

/** pi shows an answer that failed or was stopped, and does not send it again. */
function isBrokenOff(entry: MessageWithParts): boolean {
  if (entry.message.role !== "assistant") return false;
  const reason = extractName(objectField(recordOf(entry), "message") ?? {}, "stopReason");
  return reason === "error" || reason === "aborted";
}

/** By the id of an entry; the first version of the format counted entries, the fourth lists them. */
function keptBy(
  record: JsonObject,
  messages: readonly MessageWithParts[],
): (entry: MessageWithParts, at: number) => boolean {
  const tail = arrayField(record, "retainedTail");
  if (tail !== undefined) return ({ message }) => tail.includes(message.id);
  const index = integerField(record, "firstKeptEntryIndex");
  if (index !== undefined) return ({ message }) => (message.seq ?? -1) >= index;
  const id = extractName(record, "firstKeptEntryId");
  const ids: readonly string[] = messages.map(({ message }) => message.id);
  const first = id === undefined ? -1 : ids.indexOf(id);
  return (_, at) => first !== -1 && at >= first;
}

function recordOf({ message }: MessageWithParts): JsonObject {
  return objectField(objectField(message.options, "source") ?? {}, "record") ?? {};
}
