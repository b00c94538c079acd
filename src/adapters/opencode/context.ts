/** What opencode's model still had: the summary, the messages from where its tail starts, and what came after. */
import type { MessageWithParts, Part } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import type { ResultPart } from "../seam/index.ts";
import {
  authorOf,
  extractName,
  failuresIn,
  field,
  injectedKind,
  keptBehind,
  objectField,
  optional,
  thoughtsIn,
} from "../seam/index.ts";

export function contextOf(messages: readonly MessageWithParts[]): ModelContext {
  const unsent = optional("unsent", unsentThoughts(messages));
  const failures = failuresIn(messages, (part) => isFlagless(messages) || isUnflagged(part));
  return { ...compactedContext(messages), ...failures, ...unsent };
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
    const record = objectField(objectField(part.options, "source") ?? {}, "record") ?? {};
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
function isUnflagged({ options }: ResultPart): boolean {
  const record = objectField(objectField(options, "source") ?? {}, "record") ?? {};
  if (field(record, "status") === "error") return false;
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
  for (const { options } of entry?.parts ?? []) {
    const record = objectField(objectField(options, "source") ?? {}, "record") ?? {};
    const start = extractName(record, "tail_start_id");
    if (start !== undefined) return start;
  }
  return undefined;
}
