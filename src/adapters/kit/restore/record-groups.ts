/**
 * The messages of each record, in order: where the model's roles split a record over several messages, native restore
 * joins them again. They are told by the record's id; nothing is joined by its position (spec.md#model-order).
 */
import type { MessageWithParts } from "../../../model/events/index.ts";
import { pondFacts, revisionOf } from "../../../model/derived/index.ts";

/** A record as it is stored: one message, or several where roles split it. */
export interface RecordGroup {
  /** The record's id. */
  readonly record: string;
  readonly first: MessageWithParts;
  /** In order, the first included. */
  readonly pieces: readonly MessageWithParts[];
}

/** Of messages in the order of their log; what stands beside it is left out. */
export function recordGroups(messages: readonly MessageWithParts[]): readonly RecordGroup[] {
  const groups: { record: string; first: MessageWithParts; pieces: MessageWithParts[] }[] = [];
  for (const entry of messages) {
    if (entry.message.seq === undefined) continue;
    const last = groups.at(-1);
    if (last !== undefined && isPieceOf(entry, last)) last.pieces.push(entry);
    else groups.push({ record: revisionOf(entry.message).record, first: entry, pieces: [entry] });
  }
  return groups;
}

function isPieceOf({ message }: MessageWithParts, { record, first }: RecordGroup): boolean {
  const recorded = pondFacts(message.options).record;
  if (recorded !== undefined) return recorded === record;
  // Stored before pieces named their record: then they have its position and an id made from its own.
  const isOwn = message.id.startsWith(`${first.message.id}/`);
  return (
    isOwn && message.seq === first.message.seq && /^\d+$/.test(message.id.slice(first.message.id.length + 1))
  );
}
