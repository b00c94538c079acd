/**
 * Messages that match, best first: by words (BM25 over the conversation, and over the pieces of its names), by exact text
 * or by a pattern. Rows that no index covers yet are found too.
 */
import { PondError } from "../base/errors.ts";
import type { MessageId, SessionId, Timestamp } from "../model/index.ts";
import { messageId, roles, sessionId, timestampFromMicros } from "../model/index.ts";
import type { Role } from "../model/index.ts";
import type { MESSAGES, SessionTables } from "../sessions/index.ts";
import type { Predicate, Rows } from "../substrate/index.ts";
import { and, contains, isNull, matches, not } from "../substrate/index.ts";

export interface Candidate {
  readonly session_id: SessionId;
  readonly message_id: MessageId;
  readonly role: Role;
  readonly timestamp: Timestamp;
  readonly row: bigint;
  /** 0 to 1, relative to the best of this search. */
  readonly score: number;
}

const COLUMNS = ["session_id", "id", "role", "timestamp"] as const;
/** A piece of a name says less than a word that was written. */
const NAME_WEIGHT = 0.5;

export async function byWords(
  tables: SessionTables,
  query: string,
  { where, pool }: { readonly where: Predicate; readonly pool: number },
): Promise<Candidate[]> {
  const arm = (column: "search_text" | "identifiers") =>
    tables.messages.search({
      column,
      query: { match: query },
      where,
      select: COLUMNS,
      limit: pool,
      withRowId: true,
    });
  const [texts, names] = await Promise.all([arm("search_text"), arm("identifiers")]);
  const best = new Map<string, Candidate>();
  for (const [rows, weight] of [
    [texts, 1],
    [names, NAME_WEIGHT],
  ] as const) {
    const top = rows.length === 0 ? 1 : Math.max(rows.score(0), Number.MIN_VALUE);
    for (let row = 0; row < rows.length; row++) {
      const candidate = candidateAt(rows, row, (rows.score(row) / top) * weight);
      const key = `${candidate.session_id}\0${candidate.message_id}`;
      const other = best.get(key);
      best.set(key, { ...candidate, score: Math.min(1, candidate.score + (other?.score ?? 0)) });
    }
  }
  return [...best.values()].toSorted(byScoreThenAge);
}

/** Newest first; every match scores the same. */
export async function byText(
  tables: SessionTables,
  query: string,
  options: { readonly where: Predicate; readonly pool: number; readonly mode: "exact" | "regex" },
): Promise<Candidate[]> {
  const filter =
    options.mode === "exact" ? contains("search_text", query) : matches("search_text", checkPattern(query));
  const where = and(options.where, not(isNull("text_bytes")), filter);
  const rows = await tables.messages.scan({
    select: COLUMNS,
    where,
    orderBy: [{ column: "timestamp", descending: true }],
    limit: options.pool,
    withRowId: true,
  });
  return Array.from({ length: rows.length }, (_, row) => candidateAt(rows, row, 1));
}

/** How many messages with text the filters leave: an empty answer is honest only beside this. */
export function searchable(tables: SessionTables, where: Predicate): Promise<number> {
  return tables.messages.count(and(where, not(isNull("text_bytes"))));
}

/** The engine's plan for the same search. */
export function explainWords(tables: SessionTables, query: string, where: Predicate): Promise<string> {
  return tables.messages.explain({
    column: "search_text",
    query: { match: query },
    where,
    select: COLUMNS,
    limit: 10,
  });
}

function candidateAt(rows: Rows<typeof MESSAGES>, row: number, score: number): Candidate {
  const role = roles.find((candidate) => candidate === rows.string("role", row));
  const timestamp = timestampFromMicros(rows.timestamp("timestamp", row));
  if (role === undefined || timestamp === undefined)
    throw new PondError("internal", `message ${rows.string("id", row)} cannot be read`, {
      reason: "corrupt",
    });
  return {
    session_id: sessionId(rows.string("session_id", row)),
    message_id: messageId(rows.string("id", row)),
    role,
    timestamp,
    row: rows.rowId(row),
    score,
  };
}

function checkPattern(pattern: string): string {
  try {
    void new RegExp(pattern, "u");
    return pattern;
  } catch (cause) {
    throw new PondError("validation_failed", `${JSON.stringify(pattern)} is no pattern`, {
      hint: "mend the regular expression, or search with mode exact",
      data: { field: "query" },
      cause,
    });
  }
}

/** Ties must not depend on the order of arrival. */
function byScoreThenAge(a: Candidate, b: Candidate): number {
  return b.score - a.score || b.timestamp - a.timestamp || (a.message_id < b.message_id ? -1 : 1);
}
