/** What Claude Code's model still had: the summary behind the last boundary, the messages that it preserved, and what came after. */
import type { MessageWithParts } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import { arrayField, extractName, keptBehind, lastCompaction, objectField } from "../seam/index.ts";
import { attachmentTurn } from "./attachments.ts";

export function contextOf(
  turns: readonly MessageWithParts[],
  log: readonly MessageWithParts[] = turns,
): ModelContext {
  const brokenOff = turns.filter(isFailedRequest);
  const left = new Set(brokenOff);
  const messages = withSummary(turns, log).filter((entry) => !left.has(entry));
  const more = left.size === 0 ? {} : { brokenOff };
  const summary = lastCompaction(messages);
  if (summary === -1) return { messages: messages.map(attachmentTurn), ...more };
  const preserved = preservedBefore(messages[summary], log);
  const context = keptBehind(messages, summary, ({ message }) => preserved?.has(message.id) === true);
  // The past is shown as it is: nothing of it was before the model any more.
  const past = new Set(context.past);
  return {
    ...context,
    ...more,
    messages: context.messages.map((each) => (past.has(each) ? each : attachmentTurn(each))),
  };
}

/** In the place of an answer: that the provider refused a request is shown and never sent. */
function isFailedRequest({ message }: MessageWithParts): boolean {
  const record = objectField(objectField(message.options, "source") ?? {}, "record") ?? {};
  return record["isApiErrorMessage"] === true;
}

/**
 * Where messages were preserved, what comes after the summary follows these and not the summary: the way back from the end
 * passes the compaction by. The client links them anew when it opens the log.
 */
function withSummary(
  turns: readonly MessageWithParts[],
  log: readonly MessageWithParts[],
): readonly MessageWithParts[] {
  const at = lastCompaction(log);
  const summary = log[at];
  if (summary === undefined || turns.includes(summary)) return turns;
  const preserved = preservedBefore(summary, log);
  const later = new Set(log.slice(at + 1));
  const isPassedBy =
    turns.some((entry) => later.has(entry)) &&
    turns.some(({ message }) => preserved?.has(message.id) === true);
  if (!isPassedBy) return turns;
  const before = turns.filter((entry) => !later.has(entry));
  return [...before, summary, ...turns.filter((entry) => later.has(entry))];
}

/** What the boundary before a summary preserved: all by their ids, or by the first and the last of a stretch. */
function preservedBefore(
  summary: MessageWithParts | undefined,
  log: readonly MessageWithParts[],
): ReadonlySet<unknown> | undefined {
  const before = log.slice(0, summary === undefined ? 0 : log.indexOf(summary));
  const boundary = before[lastCompaction(before, ["boundary"])];
  if (boundary === undefined) return undefined;
  const record = objectField(objectField(boundary.message.options, "source") ?? {}, "record") ?? {};
  const metadata = objectField(record, "compactMetadata") ?? {};
  const listed = arrayField(objectField(metadata, "preservedMessages") ?? {}, "uuids");
  if (listed !== undefined) return new Set(listed);
  const segment = objectField(metadata, "preservedSegment") ?? {};
  const ids = before.map((entry) => entry.message.id as string);
  const [head, tail] = ["headUuid", "tailUuid"].map((name) => ids.indexOf(extractName(segment, name) ?? ""));
  if (head === undefined || tail === undefined || head === -1 || tail === -1) return undefined;
  return new Set(ids.slice(head, tail + 1));
}
