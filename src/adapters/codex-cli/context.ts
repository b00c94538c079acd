/**
 * What Codex's model still had: what the last compaction put in the place of the history, and what came after. A summary
 * that the provider made is sealed: only the provider can read it.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Extracted, Message, MessageWithParts, Part } from "../../model/index.ts";
import { partId } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import { arrayField, extractString, keptBehind, lastCompaction, objectField } from "../seam/index.ts";
import { injectedKind } from "./provenance.ts";

export function contextOf(messages: readonly MessageWithParts[]): ModelContext {
  const at = lastCompaction(messages, ["summary", "boundary"]);
  const entry = messages[at];
  if (entry === undefined) return { messages };
  const record = objectField(objectField(entry.message.options, "source") ?? {}, "record") ?? {};
  const history = (arrayField(objectField(record, "payload") ?? {}, "replacement_history") ?? []).filter(
    isJsonObject,
  );
  const before = messages.slice(0, at);
  const kept = keptAmong(before, history);
  const summarised = withSummary(entry, history);
  if (summarised === undefined)
    return { messages, isSealed: true, past: before.filter((each) => !kept.has(each)) };
  const all = messages.map((each) => (each === entry ? summarised : each));
  return keptBehind(all, at, (each) => kept.has(each));
}

/** The compaction as a message that says its summary; undefined where nobody can read one. */
function withSummary(entry: MessageWithParts, history: readonly JsonObject[]): MessageWithParts | undefined {
  if (entry.parts.some((part) => part.type === "text" && (part.text ?? "") !== "")) return entry;
  for (const item of history.toReversed())
    for (const block of arrayField(item, "content") ?? []) {
      const text = isJsonObject(block) ? extractString(block, "text") : undefined;
      if (text === undefined || injectedKind(text) !== "compaction-summary") continue;
      return saying(entry.message, text);
    }
  return undefined;
}

function saying({ options, ...head }: Message, text: Extracted<string>): MessageWithParts {
  const { id, session_id, timestamp } = head;
  const part: Part = {
    id: partId("summary"),
    session_id,
    message_id: id,
    ordinal: 0,
    type: "text",
    text,
    provenance: "injected",
    options: { pond: { injected: "compaction-summary" } },
  };
  return { message: { id, session_id, timestamp, role: "user", options }, parts: [part] };
}

/** What of the history before stands in the list, by what it says. */
function keptAmong(
  before: readonly MessageWithParts[],
  history: readonly JsonObject[],
): ReadonlySet<MessageWithParts> {
  const open = Map.groupBy(
    before.filter(({ message }) => message.role === "user" || message.role === "assistant"),
    ({ message, parts }) => `${message.role}\n${textsOf(parts)}`,
  );
  const kept = new Set<MessageWithParts>();
  for (const item of history) {
    const text = (arrayField(item, "content") ?? []).map(textIn).join("");
    const entry = open.get(`${extractString(item, "role") ?? ""}\n${text}`)?.pop();
    if (entry !== undefined && text !== "") kept.add(entry);
  }
  return kept;
}

const textIn = (block: JsonValue): string =>
  isJsonObject(block) ? (extractString(block, "text") ?? "") : "";

const textsOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
