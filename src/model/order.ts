/**
 * The one order of messages (spec.md#model-order). Inside a session the position in its own log decides; across
 * sessions, and where a source has no positions, the recorded instant does, then the position, then the id.
 */
import type { Message, Session } from "./types.ts";

type Ordered = Pick<Message, "id" | "seq" | "timestamp">;

/** Order inside one session. Messages without a position come after those with one, by time. */
export function compareInSession(a: Ordered, b: Ordered): number {
  if (a.seq !== undefined && b.seq !== undefined) return a.seq - b.seq || compareSplitIds(a.id, b.id);
  if (a.seq !== undefined) return -1;
  if (b.seq !== undefined) return 1;
  return a.timestamp - b.timestamp || compareIds(a.id, b.id);
}

/** Order across sessions: total, and independent of the order of arrival. */
export function compareAcrossSessions(a: Ordered & Pick<Message, "session_id">, b: typeof a): number {
  return (
    a.timestamp - b.timestamp ||
    (a.seq ?? Number.MAX_SAFE_INTEGER) - (b.seq ?? Number.MAX_SAFE_INTEGER) ||
    compareIds(a.session_id, b.session_id) ||
    compareSplitIds(a.id, b.id)
  );
}

/** Sessions, the oldest first: the children of a session are listed so. */
export function compareOldestFirst(a: Pick<Session, "created_at" | "id">, b: typeof a): number {
  return a.created_at - b.created_at || compareIds(a.id, b.id);
}

/** Parts of one message. */
export function compareParts(a: { readonly ordinal: number }, b: { readonly ordinal: number }): number {
  return a.ordinal - b.ordinal;
}

/** One record split over several messages gives `<id>`, `<id>/1`, ... `<id>/10`: shorter first, then by text. */
function compareSplitIds(a: string, b: string): number {
  return a.length - b.length || compareIds(a, b);
}

/** By UTF-16 code unit: the same everywhere, whatever the locale. */
function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
