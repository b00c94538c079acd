/** Heads of messages, for who ranks and lists them: what names and places each, and what it repeats. */
import { readFacts } from "../states/message-texts.ts";
import type { MessageRows } from "../states/row-ref.ts";
import type { MessageKey, Role, Timestamp } from "../../model/index.ts";
import type { Repeats } from "../../model/derived/index.ts";
import { decodeRepeats, repeatsOf } from "../../model/derived/index.ts";
import { messageId, roles as allRoles, sessionId, timestampFromMicros } from "../../model/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { oneOf } from "../tables/rows.ts";
import type { MESSAGES } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";

/** What names and places a message, and what it repeats. */
export interface MessageHead extends MessageKey, Repeats {
  readonly role: Role;
  readonly timestamp: Timestamp;
  readonly row: bigint;
}

const HEAD_COLUMNS = ["session_id", "id", "role", "timestamp", "repeats"] as const;

/** The heads of some rows, in the order given. */
export async function readHeads(tables: SessionTables, rows: readonly bigint[]): Promise<MessageHead[]> {
  return rows.length === 0 ? [] : headsIn(tables, await tables.messages.take(rows, HEAD_COLUMNS));
}

/** The heads of the messages that a filter leaves, in no particular order, at most `limit`. */
export async function findHeads(
  tables: SessionTables,
  options: { readonly where: Predicate<typeof MESSAGES>; readonly limit?: number },
): Promise<MessageHead[]> {
  return headsIn(tables, await tables.messages.scan({ ...options, select: HEAD_COLUMNS, withRowId: true }));
}

async function headsIn(tables: SessionTables, rows: MessageRows): Promise<MessageHead[]> {
  const older = rows.rowIds().filter((_, at) => rows.isNull("repeats", at));
  const facts = await readFacts(tables, older);
  const factsByRow = new Map(older.map((row, at) => [row, facts[at] ?? {}]));
  const heads: MessageHead[] = [];
  for (let at = 0; at < rows.length; at++) {
    const role = oneOf(allRoles, rows.string("role", at));
    const timestamp = timestampFromMicros(rows.timestamp("timestamp", at));
    if (role === undefined || timestamp === undefined) continue;
    const id = messageId(rows.string("id", at));
    const row = rows.rowId(at);
    const own = factsByRow.get(row);
    const repeats =
      own === undefined
        ? decodeRepeats(rows.string("repeats", at), id)
        : repeatsOf({ id, timestamp, facts: own });
    heads.push({
      session_id: sessionId(rows.string("session_id", at)),
      id,
      role,
      timestamp,
      row,
      ...repeats,
    });
  }
  return heads;
}
