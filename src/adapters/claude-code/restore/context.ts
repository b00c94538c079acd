/** What Claude Code's model still had: the summary behind the last boundary, the messages that it preserved, and what came after. */
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { pondFacts } from "../../../model/derived/index.ts";
import type { ModelContext } from "../../kit/foreign/index.ts";
import { arrayField, extractName, objectField } from "../../kit/extract/index.ts";
import { authorOf, keptBehind, lastCompaction, thoughtsIn } from "../../kit/foreign/index.ts";
import { optional } from "../../../base/optional.ts";
import { attachmentTurn } from "./attachments.ts";

export function contextOf(
  branch: readonly MessageWithParts[],
  log: readonly MessageWithParts[] = branch,
): ModelContext {
  const turns = withWholeResponses(branch, log);
  const brokenOff = turns.filter(isFailedRequest);
  const left = new Set(brokenOff);
  const messages = withSummary(turns, log).filter((entry) => !left.has(entry));
  const more = {
    ...(left.size === 0 ? {} : { brokenOff }),
    ...optional("unsent", thoughtsOfOthers(messages)),
  };
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

/**
 * A response is written a block a record, and what follows one of its calls may pass the others by, where a record of progress
 * stands between them. The client sends responses whole: every record with the same id, and the results of its calls.
 */
function withWholeResponses(
  branch: readonly MessageWithParts[],
  log: readonly MessageWithParts[],
): readonly MessageWithParts[] {
  const shown = new Set(branch);
  const last = new Map<string, MessageWithParts>();
  for (const entry of branch) {
    const response = responseOf(entry);
    if (response !== undefined) last.set(response, entry);
  }
  const missing = new Map<MessageWithParts, MessageWithParts[]>();
  const calls = new Map<string, MessageWithParts>();
  for (const entry of log) {
    const after = shown.has(entry) ? undefined : last.get(responseOf(entry) ?? "");
    if (after === undefined || pondFacts(entry.message.options).aside === true) continue;
    missing.set(after, [...(missing.get(after) ?? []), entry]);
    for (const part of entry.parts)
      if (part.type === "tool_call" && part.call_id !== undefined) calls.set(part.call_id, after);
  }
  if (missing.size === 0) return branch;
  for (const entry of log) {
    if (shown.has(entry)) continue;
    const after = calls.get(entry.parts.find((part) => part.type === "tool_result")?.call_id ?? "");
    if (after !== undefined) missing.get(after)?.push(entry);
  }
  return branch.flatMap((entry) => [entry, ...(missing.get(entry) ?? [])]);
}

/** The response of the model that a record is a piece of. */
function responseOf({ message }: MessageWithParts): string | undefined {
  return message.role === "assistant" ? pondFacts(message.options).turn : undefined;
}

/** A signature counts for the model that gave it: after a change of models the client leaves out the thoughts of the former. */
function thoughtsOfOthers(messages: readonly MessageWithParts[]): readonly Part[] | undefined {
  const last = messages.findLast((entry) => modelOf(entry) !== undefined);
  const model = last && modelOf(last);
  return thoughtsIn(messages, (_, entry) => modelOf(entry) !== model);
}

/** Of an answer; what the client wrote in the place of one has no model. */
function modelOf({ message }: MessageWithParts): string | undefined {
  const model = message.role === "assistant" ? authorOf(message)?.model : undefined;
  return model === "<synthetic>" ? undefined : model;
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
