/** What pi's model still had: the summary, the entries from the first one that was kept on, and what came after. */
import type { JsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { partId } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { ModelContext } from "../../kit/foreign/index.ts";
import {
  arrayField,
  extractCompact,
  extractName,
  field,
  integerField,
  isEmpty,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { authorOf, failuresIn, keptBehind, lastCompaction, thoughtsIn } from "../../kit/foreign/index.ts";
import { optional } from "../../../base/optional.ts";

export function contextOf(all: readonly MessageWithParts[]): ModelContext {
  const brokenOff = all.filter(isBrokenOff);
  const shownOnly = all.filter(isShownOnly);
  const left = new Set([...brokenOff, ...shownOnly]);
  const messages = all.filter((entry) => !left.has(entry)).map(shellTurn);
  const more = {
    ...(brokenOff.length === 0 ? {} : { brokenOff }),
    ...(shownOnly.length === 0 ? {} : { shownOnly }),
    ...(isFlagged(messages) ? {} : failuresIn(messages)),
    ...optional("unsent", unsentThoughts(messages)),
  };
  const summary = lastCompaction(messages);
  const entry = messages[summary];
  if (entry === undefined) return { messages, ...more };
  const isKept = keptBy(recordOf(entry), messages);
  return { ...keptBehind(messages, summary, isKept), ...more };
}

/** A command that a person ran beside the conversation. */
function isShownOnly(entry: MessageWithParts): boolean {
  return field(objectField(recordOf(entry), "message") ?? {}, "excludeFromContext") === true;
}

/** That a command failed, was stopped or printed more is said with its output; pi has words of its own for it. */
function shellTurn(entry: MessageWithParts): MessageWithParts {
  const { message, parts } = entry;
  const holder = objectField(recordOf(entry), "message") ?? {};
  if (extractName(holder, "role") !== "bashExecution") return entry;
  const isSilent = (name: string): boolean =>
    name === "exitCode"
      ? (field(holder, name) ?? 0) === 0
      : name === "fullOutputPath"
        ? field(holder, "truncated") !== true
        : name !== "cancelled" || field(holder, name) !== true;
  const outcome = without(holder, new Set(Object.keys(holder).filter(isSilent)));
  if (isEmpty(outcome)) return entry;
  const part: Part = {
    id: partId("outcome"),
    session_id: message.session_id,
    message_id: message.id,
    ordinal: parts.length,
    type: "text",
    text: extractCompact(outcome),
    provenance: "injected",
    options: withFacts({}, { injected: "shell" }),
  };
  return { message, parts: [...parts, part] };
}

/** OpenAI's interfaces have no flag for a tool that failed: what the model knew of it stands in the text. */
function isFlagged(messages: readonly MessageWithParts[]): boolean {
  const last = messages.findLast(({ message }) => authorOf(message) !== undefined);
  const api = last && extractName(objectField(recordOf(last), "message") ?? {}, "api");
  return api?.startsWith("openai") !== true;
}

/** pi shows an answer that failed or was stopped, and does not send it again. */
function isBrokenOff(entry: MessageWithParts): boolean {
  if (entry.message.role !== "assistant") return false;
  const reason = extractName(objectField(recordOf(entry), "message") ?? {}, "stopReason");
  return reason === "error" || reason === "aborted";
}

/**
 * Its own model is sent a signed thought as it is; what is not signed and the thoughts of another model are sent as text. A
 * thought without text needs its seal, and a seal the model that gave it.
 */
function unsentThoughts(messages: readonly MessageWithParts[]): readonly Part[] | undefined {
  const last = messages.findLast(({ message }) => authorOf(message) !== undefined);
  const author = last && authorOf(last.message);
  return thoughtsIn(messages, (part, { message }) => {
    const block = objectField(objectField(part.options, "source") ?? {}, "block") ?? {};
    const isSealed = field(block, "redacted") === true;
    if (!isSealed && (part.text ?? "").trim() !== "") return false;
    const by = authorOf(message);
    const isOwn = by?.provider === author?.provider && by?.model === author?.model;
    return !isOwn || (extractName(block, "thinkingSignature") ?? "") === "";
  });
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
