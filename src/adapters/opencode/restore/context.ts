/** What opencode's model still had: the summary, the messages from where its tail starts, and what came after. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { pondFacts } from "../../../model/derived/index.ts";
import type { ModelContext } from "../../kit/foreign/index.ts";
import type { ResultPart } from "../../kit/foreign/index.ts";
import { arrayField, extractName, extractWhole, field, objectField } from "../../kit/extract/index.ts";
import {
  authorOf,
  failuresIn,
  fileUrl,
  injectedKind,
  keptBehind,
  parseDataUrl,
  thoughtsIn,
} from "../../kit/foreign/index.ts";
import { optional } from "../../../base/optional.ts";

export function contextOf(turns: readonly MessageWithParts[]): ModelContext {
  const { answers, brokenOff } = withoutBrokenOff(turns);
  const messages = withPictures(asSent(answers));
  const unsent = optional("unsent", unsentThoughts(messages));
  const failures = failuresIn(messages, (part) => isFlagless(messages) || isUnflagged(part));
  const broken = brokenOff.length === 0 ? {} : { brokenOff };
  return { ...compactedContext(messages), ...failures, ...unsent, ...broken };
}

/**
 * An answer that ended with an error is not sent again, with all its steps; one that a person stopped is, where it said or
 * called something.
 */
function withoutBrokenOff(turns: readonly MessageWithParts[]): {
  readonly answers: readonly MessageWithParts[];
  readonly brokenOff: readonly MessageWithParts[];
} {
  const answers: MessageWithParts[] = [];
  const brokenOff: MessageWithParts[] = [];
  let broken: string | undefined;
  for (const entry of turns) {
    const { message } = entry;
    if (broken !== undefined && message.id.startsWith(`${broken}/`)) continue;
    broken = isBrokenOff(entry, turns) ? message.id : undefined;
    (broken === undefined ? answers : brokenOff).push(entry);
  }
  return { answers, brokenOff };
}

function isBrokenOff({ message }: MessageWithParts, turns: readonly MessageWithParts[]): boolean {
  const error = message.role === "assistant" ? objectField(recordOf(message), "error") : undefined;
  if (error === undefined) return false;
  if (field(error, "name") !== "MessageAbortedError") return true;
  const own = turns.filter(({ message: { id } }) => id === message.id || id.startsWith(`${message.id}/`));
  return !own.some(({ parts }) => parts.some(({ type }) => type === "text" || type === "tool_call"));
}

const recordOf = ({ options }: Pick<Part, "options">): JsonObject =>
  objectField(objectField(options, "source") ?? {}, "record") ?? {};

/** What its model is sent of a result that was cleared to save room. */
const CLEARED = "[Old tool result content cleared]";

/** Results as they are sent: cleared ones without their content, those of a tool that was interrupted with what it printed. */
function asSent(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const cleared = new Set<string>();
  const replaced = messages.map((entry) => {
    const parts = entry.parts.map((part): Part => {
      if (part.type !== "tool_result") return part;
      const text = isCleared(part) ? CLEARED : interruptedOutput(part);
      if (isCleared(part)) cleared.add(part.id);
      return text === undefined ? part : { ...part, result: extractWhole(text) };
    });
    return parts.every((part, at) => part === entry.parts[at]) ? entry : { message: entry.message, parts };
  });
  if (cleared.size === 0) return replaced;
  const isGone = ({ options }: Part): boolean => cleared.has(pondFacts(options).of ?? "");
  return replaced.map((entry) =>
    entry.parts.some(isGone)
      ? { message: entry.message, parts: entry.parts.filter((part) => !isGone(part)) }
      : entry,
  );
}

const isCleared = (part: ResultPart): boolean =>
  typeof field(objectField(recordOf(part), "time") ?? {}, "compacted") === "number";

function interruptedOutput(part: ResultPart): string | undefined {
  const record = recordOf(part);
  const metadata = objectField(record, "metadata") ?? {};
  if (field(record, "status") !== "error" || field(metadata, "interrupted") !== true) return undefined;
  const output = field(metadata, "output");
  return typeof output === "string" ? output : undefined;
}

/** Pictures that a tool attached are sent with its result, or right behind it where the interface takes none there. */
function withPictures(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const results = new Map<string, ResultPart>();
  for (const { parts } of messages)
    for (const part of parts) if (part.type === "tool_result") results.set(part.id, part);
  const pictures = new Map<string, JsonObject[]>();
  const isPicture = (part: Part): boolean => {
    const result = results.get(pondFacts(part.options).of ?? "");
    const picture = result && pictureOf(part, result);
    if (result === undefined || picture === undefined) return false;
    pictures.set(result.id, [...(pictures.get(result.id) ?? []), picture]);
    return true;
  };
  const rest = messages.map((entry) => {
    const parts = entry.parts.filter((part) => !isPicture(part));
    return parts.length === entry.parts.length ? entry : { message: entry.message, parts };
  });
  if (pictures.size === 0) return messages;
  return rest.map((entry) => {
    const isSeen = entry.parts.some(({ type, id }) => type === "tool_result" && pictures.has(id));
    if (!isSeen) return entry;
    const parts = entry.parts.map((part) =>
      part.type === "tool_result" ? withBlocks(part, pictures.get(part.id) ?? []) : part,
    );
    return { message: entry.message, parts };
  });
}

/** Of an attachment, what its list in the result says of its address: how it begins. */
function pictureOf(part: Part, result: ResultPart): JsonObject | undefined {
  const item = arrayField(recordOf(result), "attachments")?.[pondFacts(part.options).index ?? -1];
  const head = isJsonObject(item) ? extractName(item, "url") : undefined;
  if (part.type !== "file" || head?.endsWith(";base64,") !== true) return undefined;
  const inline = parseDataUrl(fileUrl(part) ?? "");
  if (inline?.mediaType.startsWith("image/") !== true) return undefined;
  return {
    type: "image",
    source: { type: "base64", media_type: inline.mediaType, data: inline.base64 },
  };
}

function withBlocks(part: ResultPart, pictures: readonly JsonObject[]): ResultPart {
  if (pictures.length === 0) return part;
  const text = part.result === undefined ? undefined : openJson(part.result);
  const blocks: readonly JsonValue[] = [
    ...(typeof text === "string" && text !== "" ? [{ type: "text", text }] : []),
    ...pictures,
  ];
  return { ...part, result: extractWhole(blocks) };
}

/** Where their packages look for the seal of a thought: they send none without it. Others send the text. */
const SEALS: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic"],
  ["github-copilot", "copilot"],
  ["openai", "openai"],
]);

/**
 * Its own model is sent a thought with its seal, another one the text alone. What is left is not sent: a thought without
 * text whose seal is another model's, and one without a seal where the provider wants one.
 */
function unsentThoughts(messages: readonly MessageWithParts[]): readonly Part[] | undefined {
  const last = messages.findLast(({ message }) => authorOf(message) !== undefined);
  const author = last && authorOf(last.message);
  return thoughtsIn(messages, (part, { message }) => {
    const record = recordOf(part);
    const by = authorOf(message);
    const isOwn = by?.provider === author?.provider && by?.model === author?.model;
    const metadata = objectField(record, "metadata");
    const isBlank = (part.text ?? "").trim() === "";
    if (!isOwn) return isBlank;
    const seal = SEALS.get(by?.provider ?? "");
    return seal === undefined ? metadata === undefined && isBlank : field(metadata ?? {}, seal) === undefined;
  });
}

/** The interfaces of these have no flag for a tool that failed. */
const FLAGLESS: ReadonlySet<string> = new Set(["github-copilot", "openai"]);

function isFlagless(messages: readonly MessageWithParts[]): boolean {
  const last = messages.findLast(({ message }) => authorOf(message) !== undefined);
  return last !== undefined && FLAGLESS.has(authorOf(last.message)?.provider ?? "");
}

/** The model is told of a failure by the status `error`; of a command that completed it gets the output alone. */
function isUnflagged(part: ResultPart): boolean {
  const record = recordOf(part);
  if (field(record, "status") === "error") return interruptedOutput(part) !== undefined;
  const metadata = objectField(record, "metadata");
  return (
    Object.hasOwn(record, "error") || (metadata !== undefined && typeof field(metadata, "exit") === "number")
  );
}

function compactedContext(messages: readonly MessageWithParts[]): ModelContext {
  const summary = messages.findLastIndex(
    ({ message, parts }) =>
      message.role === "assistant" &&
      parts.some((part) => part.type === "text" && injectedKind(part) === "compaction-summary"),
  );
  if (summary === -1) return { messages };
  const asked = messages.slice(0, summary).findLastIndex(({ message }) => message.role === "user");
  const start = tailStart(messages[asked]);
  const ids: readonly string[] = messages.map(({ message }) => message.id);
  const first = start === undefined ? -1 : ids.indexOf(start);
  return keptBehind(messages, summary, (_, at) => first !== -1 && at >= first && at < asked);
}

/** The prompt that asks for a compaction says from where on the messages before it stay. */
function tailStart(entry: MessageWithParts | undefined): string | undefined {
  for (const part of entry?.parts ?? []) {
    const start = extractName(recordOf(part), "tail_start_id");
    if (start !== undefined) return start;
  }
  return undefined;
}
