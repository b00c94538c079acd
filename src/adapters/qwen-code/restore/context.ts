/** What Qwen Code's model still had: the compressed history and what came after (docs/adapters/qwen-code.md#context). */
import { equalJson, isJsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { ModelContext } from "../../kit/foreign/index.ts";
import { arrayField, objectField } from "../../kit/extract/index.ts";
import { failuresIn, keptBehind, lastCompaction } from "../../kit/foreign/index.ts";
import { shapedRecord } from "../../kit/shapes/index.ts";
import { SHAPES } from "../parse/shapes.ts";

export function contextOf(messages: readonly MessageWithParts[]): ModelContext {
  // The interfaces that Qwen Code speaks have no flag for a tool that failed.
  const failures = failuresIn(messages);
  const summary = lastCompaction(messages);
  const entry = messages[summary];
  if (entry === undefined) return { messages, ...failures };
  const kept = keptTurns(entry, messages.slice(0, summary));
  return { ...keptBehind(messages, summary, (each) => kept.has(each)), ...failures };
}

/** The compressed history repeats the turns that it keeps, value for value and in order. */
function keptTurns(
  summary: MessageWithParts,
  before: readonly MessageWithParts[],
): ReadonlySet<MessageWithParts> {
  const record = objectField(objectField(summary.message.options, "source") ?? {}, "record") ?? {};
  const history = [...(arrayField(objectField(record, "systemPayload") ?? {}, "compressedHistory") ?? [])];
  const kept = new Set<MessageWithParts>();
  for (const entry of before.toReversed()) {
    const last = history.at(-1);
    if (last === undefined) break;
    if (entry.message.role === "system") continue;
    const turn = shapedRecord({ first: entry, pieces: [entry], record: entry.message.id }, SHAPES);
    const content = isJsonObject(turn) ? objectField(turn, "message") : undefined;
    if (content === undefined || !equalJson(content, last)) continue;
    kept.add(entry);
    history.pop();
  }
  return kept;
}
