/** Messages of a session without their bodies, from short columns only (spec.md#lance-chokepoints-read). */
import type { EntityKey, SessionId } from "../../model/index.ts";
import type { Fault } from "../../model/tree/index.ts";
import { compareInSession, messageId, roles as allRoles, timestampFromMicros } from "../../model/index.ts";
import { decodeRepeats } from "../../model/derived/index.ts";
import { REF } from "../../model/tree/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import type { TEXT_COLUMNS } from "./message-texts.ts";
import type { MessageRows, StoredMessage } from "./row-ref.ts";
import { oneOf, revisesAt } from "../tables/rows.ts";
import type { SessionTables } from "../tables/tables.ts";

/** What is reported of a row that is left out; nothing where nobody asks. */
export type OnFault = (key: EntityKey, fault: Fault) => void;

export interface OutlineOptions {
  /** Of the table, at the time of the read. */
  readonly version?: number;
  readonly onFault?: OnFault;
}

const OUTLINE_COLUMNS = [
  "id",
  "seq",
  "timestamp",
  "role",
  "text_bytes",
  "bytes",
  "repeats",
  "origin",
  "parts",
] as const;

/** All messages of a session, in no particular order; bodies unread but for the columns named. */
export function scanMessages(
  tables: SessionTables,
  session: SessionId,
  long: readonly (typeof TEXT_COLUMNS)[number][] = [],
): Promise<MessageRows> {
  const select = [...OUTLINE_COLUMNS, ...long];
  return tables.messages.scan({ select, where: eq("session_id", session), withRowId: true, few: true });
}

/** Every message of a session in its order, bodies unread. */
export async function readMessageOutlines(
  tables: SessionTables,
  session: SessionId,
): Promise<StoredMessage[]> {
  return messageOutlinesIn(await scanMessages(tables, session), session);
}

/** The messages of a session in its order, with their bodies at hand where the rows have them. */
export function messageOutlinesIn(
  rows: MessageRows,
  session: SessionId,
  { version, onFault }: OutlineOptions = {},
): StoredMessage[] {
  const outlines: StoredMessage[] = [];
  let origin: string | null = null;
  for (let at = 0; at < rows.length; at++) {
    const id = messageId(rows.string("id", at));
    // Of one read all rows share it: one text is kept, and not as many as there are rows.
    const own = rows.stringOrNull("origin", at);
    if (own !== origin) origin = own;
    const seq = rows.intOrNull("seq", at);
    const role = oneOf(allRoles, rows.string("role", at));
    const micros = rows.timestamp("timestamp", at);
    const timestamp = timestampFromMicros(micros);
    if (role === undefined || timestamp === undefined) {
      const message = `it is of role ${rows.string("role", at)}, at ${micros} microseconds`;
      onFault?.({ session_id: session, id }, { kind: "unreadable", message });
      continue;
    }
    const textBytes = rows.intOrNull("text_bytes", at);
    // The content of system messages is left out where there seemed to be none.
    const hasBody = rows.has("options") && (role !== "system" || rows.has("content"));
    outlines.push({
      session_id: session,
      id,
      ...(seq === null ? {} : { seq }),
      timestamp,
      role,
      ...(textBytes === null ? {} : { text_bytes: textBytes }),
      bytes: rows.intOrNull("bytes", at) ?? 0,
      ...revisesAt(rows, at),
      [REF]: {
        table: "messages",
        key: { session_id: session, id },
        row: rows.rowId(at),
        version,
        record: decodeRepeats(rows.stringOrNull("repeats", at) ?? "", id).record,
        origin,
        seq,
        parts: rows.intOrNull("parts", at),
        body: hasBody ? { rows, at } : undefined,
      },
    });
  }
  return outlines.toSorted(compareInSession);
}
