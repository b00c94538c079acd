/** What opencode's model still had: the summary, the messages from where its tail starts, and what came after. */
import type { MessageWithParts } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import type { ResultPart } from "../seam/index.ts";
import { extractName, failuresIn, field, injectedKind, keptBehind, objectField } from "../seam/index.ts";

export function contextOf(messages: readonly MessageWithParts[]): ModelContext {
  return { ...compactedContext(messages), ...failuresIn(messages, isUnflagged) };
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
