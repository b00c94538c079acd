/**
 * What Codex's model still had: what the last compaction put in the place of the history, and what came after. A summary
 * that the provider made is sealed: only the provider can read it.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Message, Part } from "../../../model/index.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { partId } from "../../../model/index.ts";
import { pondFacts, withFacts } from "../../../model/derived/index.ts";
import type { ModelContext } from "../../kit/foreign/index.ts";
import { arrayField, extractString, objectField } from "../../kit/extract/index.ts";
import { failuresIn, keptBehind, lastCompaction, thoughtsIn } from "../../kit/foreign/index.ts";
import { optional } from "../../../base/optional.ts";
import { injectedKind } from "../records/provenance.ts";

/** What the developer's name tells the model is sent with every request, and another client has its own. */
export function contextOf(turns: readonly MessageWithParts[]): ModelContext {
  const context = compactedContext(turns);
  const past = new Set(context.past);
  const instructions = context.messages.filter((entry) => !past.has(entry) && isInstruction(entry));
  const left = new Set(instructions);
  const messages = context.messages
    .filter((entry) => !left.has(entry))
    .map((entry) => (past.has(entry) ? entry : withUnshown(entry)));
  // No output has a flag: what the model knew of a failure stands in its text.
  const failures = failuresIn(messages);
  // Summaries and raw thoughts of one item are sent as one.
  const pieces = optional(
    "pieces",
    thoughtsIn(messages, (part, { parts }) => part !== parts.find(({ type }) => type === "reasoning")),
  );
  return { ...context, messages, ...failures, ...pieces, ...(left.size === 0 ? {} : { instructions }) };
}

/** What the model said and the screen never showed is sent again like the rest. */
function withUnshown(entry: MessageWithParts): MessageWithParts {
  const isUnshown = ({ options }: Part): boolean => pondFacts(options).injected === "unshown";
  if (!entry.parts.some(isUnshown)) return entry;
  const parts = entry.parts.map((part) =>
    isUnshown(part) ? { ...part, provenance: "conversational" as const } : part,
  );
  return { message: entry.message, parts };
}

/** Carriers say nothing. */
function isInstruction({ message, parts }: MessageWithParts): boolean {
  return message.role === "system" && (message.content !== "" || parts.length > 0);
}

function compactedContext(messages: readonly MessageWithParts[]): ModelContext {
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
      return messageWith(entry.message, text);
    }
  return undefined;
}

function messageWith({ options, ...head }: Message, text: Extracted<string>): MessageWithParts {
  const { id, session_id, timestamp } = head;
  const part: Part = {
    id: partId("summary"),
    session_id,
    message_id: id,
    ordinal: 0,
    type: "text",
    text,
    provenance: "injected",
    options: withFacts({}, { injected: "compaction-summary" }),
  };
  return { message: { id, session_id, timestamp, role: "user", options }, parts: [part] };
}

/** What of the history before stands in the list, by what it says. */
function keptAmong(
  before: readonly MessageWithParts[],
  history: readonly JsonObject[],
): ReadonlySet<MessageWithParts> {
  const open = Map.groupBy(before, ({ message, parts }) =>
    message.role === "system" ? `system\n${message.content}` : `${message.role}\n${textsOf(parts)}`,
  );
  const kept = new Set<MessageWithParts>();
  for (const item of history) {
    const texts = (arrayField(item, "content") ?? []).map(textIn);
    const role = extractString(item, "role") ?? "";
    // Instructions are a message a block.
    const isSplit = role === "developer" || role === "system";
    for (const text of isSplit ? texts : [texts.join("")]) {
      const entry = open.get(`${isSplit ? "system" : role}\n${text}`)?.pop();
      if (entry !== undefined && text !== "") kept.add(entry);
    }
  }
  return kept;
}

const textIn = (block: JsonValue): string =>
  isJsonObject(block) ? (extractString(block, "text") ?? "") : "";

const textsOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
