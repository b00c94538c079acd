/**
 * How many messages with text the filters of a search leave. Filters on whole sessions are answered from their summaries;
 * those on messages by the table, which has no index on what has text: several searches in a row with the same filters, as
 * an agent asks them, count once for one state of the store.
 */
import type { MESSAGES, SessionStore, SessionSummary, SummaryList } from "../../sessions/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { and, isNull, not } from "../../substrate/engine/predicate.ts";
import type { Scope } from "./scope.ts";

/** Different filters whose counts are kept beside one list of summaries. */
const MOST_KEPT = 32;

const counted = new WeakMap<SummaryList, Map<string, Promise<number>>>();
/** Texts of lists of sessions: without a filter it is the same list of all, search after search. */
const summed = new WeakMap<readonly SessionSummary[], number>();

export function countSearchable(
  store: SessionStore,
  scope: Scope,
  summaries: SummaryList,
): number | Promise<number> {
  if (scope.parts !== undefined) return scope.parts.rows.size;
  if (scope.perMessage.length === 0) return textsOf(scope.sessions);
  const hasText = not(isNull("text_bytes"));
  const where = scope.messages === undefined ? hasText : and(scope.messages, hasText);
  const counts = counted.get(summaries) ?? new Map<string, Promise<number>>();
  counted.set(summaries, counts);
  return countOnce(store, where, counts);
}

function textsOf(sessions: readonly SessionSummary[]): number {
  const known = summed.get(sessions);
  if (known !== undefined) return known;
  const sum = sessions.reduce((texts, session) => texts + session.texts, 0);
  summed.set(sessions, sum);
  return sum;
}

function countOnce(
  store: SessionStore,
  where: Predicate<typeof MESSAGES>,
  counts: Map<string, Promise<number>>,
): Promise<number> {
  const key = JSON.stringify(where);
  const known = counts.get(key);
  if (known !== undefined) return known;
  const count = store.tables.messages.count(where);
  if (counts.size >= MOST_KEPT) counts.clear();
  counts.set(key, count);
  count.catch(() => counts.delete(key));
  return count;
}
