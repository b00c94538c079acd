/**
 * Which messages with text have no vector under a model, and their texts (spec.md#session-embed-from-canonical). First their
 * rows are listed, a few bytes each: embedding them may take hours, and no scan of the engine stays open for so long.
 */
import type { MessageId, SessionId } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import type { KeySet, Rows } from "../../substrate/index.ts";
import { and, createdAfter, isNull, not } from "../../substrate/engine/predicate.ts";
import type { MESSAGES } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";

/** A message without a vector, with what a search filters it by. */
export interface Unembedded {
  readonly session_id: SessionId;
  readonly id: MessageId;
  readonly row: bigint;
  readonly timestamp: number;
  readonly role: string;
  readonly source_agent: string;
  readonly project: string;
  readonly text: string;
}

/** A message to be read, and how long its text is. */
interface Listed {
  readonly row: bigint;
  readonly bytes: number;
  readonly timestamp: number;
}

/** Stored keys of some sessions. */
type KnownKeys = (sessions: ReadonlySet<string>) => Promise<KeySet>;

/** Messages, and bytes of their texts, that are read together: some megabytes whatever people pasted. */
const AT_ONCE = { messages: 2000, bytes: 8_000_000 };

/** Messages without a vector that were stored after a version of their table, the newest first. */
export async function listUnembedded(
  { messages }: SessionTables,
  after: number,
  knownKeys: KnownKeys,
): Promise<readonly Listed[]> {
  const listed: Listed[] = [];
  const select = ["session_id", "id", "timestamp", "text_bytes"] as const;
  const where = and(createdAfter(after), not(isNull("text_bytes")));
  for await (const rows of messages.scanBatches({ select, where, withRowId: true })) {
    const known = await knownKeys(sessionsIn(rows));
    for (let at = 0; at < rows.length; at++)
      if (!known.has(rows.string("session_id", at), rows.string("id", at)))
        listed.push({
          row: rows.rowId(at),
          bytes: rows.int("text_bytes", at),
          timestamp: rows.timestamp("timestamp", at),
        });
  }
  return listed.toSorted((a, b) => b.timestamp - a.timestamp);
}

function sessionsIn(rows: Rows<typeof MESSAGES>): ReadonlySet<string> {
  const sessions = new Set<string>();
  for (let at = 0; at < rows.length; at++) sessions.add(rows.string("session_id", at));
  return sessions;
}

/** In parts that are read together. */
export function* partsOf(listed: readonly Listed[]): Generator<readonly bigint[]> {
  let part: bigint[] = [];
  let size = 0;
  for (const { row, bytes } of listed) {
    if (part.length === AT_ONCE.messages || (part.length > 0 && size + bytes > AT_ONCE.bytes)) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(row);
    size += bytes;
  }
  if (part.length > 0) yield part;
}

const COLUMNS = ["session_id", "id", "timestamp", "role", "source_agent", "project", "search_text"] as const;

/** Those that are still there. */
export async function readUnembedded(
  { messages }: SessionTables,
  part: readonly bigint[],
): Promise<readonly Unembedded[]> {
  const rows = await messages.takePresent(part, COLUMNS);
  return Array.from({ length: rows.length }, (_, at) => ({
    session_id: sessionId(rows.string("session_id", at)),
    id: messageId(rows.string("id", at)),
    row: rows.rowId(at),
    timestamp: rows.timestamp("timestamp", at),
    role: rows.string("role", at),
    source_agent: rows.string("source_agent", at),
    project: rows.string("project", at),
    text: rows.stringOrNull("search_text", at) ?? "",
  }));
}
