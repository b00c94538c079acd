/** What Claude Code's model still had: the summary behind the last boundary, the messages that it preserved, and what came after. */
import type { MessageWithParts } from "../../model/index.ts";
import type { ModelContext } from "../seam/index.ts";
import { arrayField, extractName, keptBehind, lastCompaction, objectField } from "../seam/index.ts";

export function contextOf(messages: readonly MessageWithParts[]): ModelContext {
  const summary = lastCompaction(messages);
  if (summary === -1) return { messages };
  const boundary = messages[lastCompaction(messages.slice(0, summary), ["boundary"])];
  const preserved = boundary === undefined ? undefined : preservedBy(boundary, messages);
  return { messages: keptBehind(messages, summary, ({ message }) => preserved?.has(message.id) === true) };
}

/** All by their ids, or by the first and the last of a stretch. */
function preservedBy(
  { message }: MessageWithParts,
  messages: readonly MessageWithParts[],
): ReadonlySet<unknown> | undefined {
  const record = objectField(objectField(message.options, "source") ?? {}, "record") ?? {};
  const metadata = objectField(record, "compactMetadata") ?? {};
  const listed = arrayField(objectField(metadata, "preservedMessages") ?? {}, "uuids");
  if (listed !== undefined) return new Set(listed);
  const segment = objectField(metadata, "preservedSegment") ?? {};
  const ids = messages.map((entry) => entry.message.id as string);
  const [head, tail] = ["headUuid", "tailUuid"].map((name) => ids.indexOf(extractName(segment, name) ?? ""));
  if (head === undefined || tail === undefined || head === -1 || tail === -1) return undefined;
  return new Set(ids.slice(head, tail + 1));
}
