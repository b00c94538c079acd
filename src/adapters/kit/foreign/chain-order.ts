/**
 * Messages behind those that they follow (spec.md#adapter-restore-order). Logs have them in the order in which they were
 * written, which is the order of the conversation but for a few: a result may be written before its call.
 */
import type { MessageWithParts } from "../../../model/events/index.ts";
import { pondFacts, revisionOf } from "../../../model/derived/index.ts";

/** In the order given, except that a message whose parent comes later waits for it. */
export function inChainOrder(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const records = recordsOf(messages);
  const there = new Set(records.map(({ key }) => key));
  const waiting = new Map<string, Record[]>();
  const done = new Set<string>();
  const ordered: MessageWithParts[] = [];
  const take = (first: Record): void => {
    // Not by recursion: a log may be one chain of any length.
    for (const queue = [first]; queue.length > 0;) {
      const record = queue.shift();
      if (record === undefined) break;
      ordered.push(...record.entries);
      done.add(record.key);
      queue.unshift(...(waiting.get(record.key) ?? []));
      waiting.delete(record.key);
    }
  };
  for (const record of records) {
    const { parent } = record;
    const isEarly = parent !== undefined && parent !== record.key && there.has(parent) && !done.has(parent);
    if (!isEarly) take(record);
    else waiting.set(parent, [...(waiting.get(parent) ?? []), record]);
  }
  // What waits for each other in a circle.
  const taken = new Set(ordered);
  return [...ordered, ...messages.filter((entry) => !taken.has(entry))];
}

interface Record {
  readonly key: string;
  readonly parent: string | undefined;
  readonly entries: MessageWithParts[];
}

/** One record may be split over several messages: the further ones stay with the first. */
function recordsOf(messages: readonly MessageWithParts[]): readonly Record[] {
  const records: Record[] = [];
  for (const entry of messages) {
    const { message } = entry;
    const { parent } = pondFacts(message.options);
    const last = records.at(-1);
    const previous = last?.entries.at(-1)?.message;
    const isPiece = parent === undefined && previous?.seq !== undefined && previous.seq === message.seq;
    if (isPiece) last?.entries.push(entry);
    else
      records.push({
        key: revisionOf(message).record,
        parent: parent ?? undefined,
        entries: [entry],
      });
  }
  return records;
}
