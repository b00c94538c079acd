/**
 * Where the rows of some sessions stand, from their short columns and the states of their sources. Of sessions without
 * recorded states also from what an older pond kept in the options of rewritten records.
 */
import { readFacts } from "./message-texts.ts";
import type { MessageRows, StoredMessage } from "./row-ref.ts";
import { messageId } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import { revisionOf } from "../../model/derived/index.ts";
import { SessionHistory } from "./history.ts";
import { pieceOf } from "../tables/piece.ts";
import type { PondFacts } from "../../model/derived/index.ts";
import { instant } from "../tables/rows.ts";
import type { RowStatus, DatedRow, RowStates } from "./row-states.ts";
import { rowStatesOf } from "./row-states.ts";
import type { SessionTables } from "../tables/tables.ts";
import { readStates, versionAt } from "../tables/versions.ts";

const PLACE_COLUMNS = ["session_id", "id", "timestamp", "repeats", "hash", "origin", "seq", "parts"] as const;

/** A row that can be asked what it says of itself. */
export interface LocatedRow extends DatedRow {
  readonly row: bigint;
  /** True where an older pond stored it without saying in short what it repeats. */
  readonly isOlder: boolean;
}

export interface SessionRowStates extends RowStates {
  /** By the engine's row. */
  readonly ofRow: ReadonlyMap<bigint, RowStatus>;
}

/** By session; what is not stored is left out. */
export async function readRowStates(
  tables: SessionTables,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, SessionRowStates>> {
  const [rows, recorded] = await Promise.all([readPlaces(tables, sessions), readStates(tables, sessions)]);
  const bySession = Map.groupBy(recorded, ({ session_id }) => session_id);
  const found = new Map<string, SessionRowStates>();
  for (const [session, own] of rows) {
    const history = new SessionHistory(bySession.get(session) ?? []);
    const states = rowStatesOf(history, history.isRecorded ? own : await withPond(tables, own));
    const ofRow = new Map(own.map(({ id, row }) => [row, states.of.get(id) ?? "current"]));
    found.set(session, { ...states, ofRow });
  }
  return found;
}

async function readPlaces(
  tables: SessionTables,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, LocatedRow[]>> {
  const found = new Map<string, LocatedRow[]>();
  const options = { select: PLACE_COLUMNS, withRowId: true };
  for await (const rows of tables.messages.scanIn("session_id", sessions, options))
    for (let row = 0; row < rows.length; row++) {
      const session = rows.string("session_id", row);
      const own = found.get(session);
      if (own === undefined) found.set(session, [locatedAt(rows, row)]);
      else own.push(locatedAt(rows, row));
    }
  return found;
}

function locatedAt(rows: MessageRows, row: number): LocatedRow {
  const { id, record, origin, seq } = versionAt(rows, row);
  return {
    id: messageId(id),
    record,
    origin,
    seq,
    timestamp: instant(rows.timestamp("timestamp", row)),
    row: rows.rowId(row),
    isOlder: rows.isNull("repeats", row),
  };
}

/** The rows of a session, by its outlines. */
export function locatedRows(messages: readonly StoredMessage[]): LocatedRow[] {
  return messages.map(({ id, timestamp, [REF]: { record, origin, seq, row } }) => ({
    id,
    timestamp,
    record,
    origin,
    seq,
    row,
    isOlder: origin === null,
  }));
}

/** With what their options say, where a record has several rows: of all others nothing needs to be known. */
export async function withPond<T extends LocatedRow>(
  tables: SessionTables,
  rows: readonly T[],
): Promise<readonly T[]> {
  const counts = new Map<string, number>();
  for (const { record } of rows) counts.set(record, (counts.get(record) ?? 0) + 1);
  const isAlone = ({ id, record, isOlder }: T): boolean =>
    !isOlder && record === id && counts.get(record) === 1;
  const asked = rows.filter((row) => !isAlone(row));
  const facts = await readFacts(
    tables,
    asked.map(({ row }) => row),
  );
  const byId = new Map(asked.map(({ id }, at) => [id, facts[at] ?? {}]));
  return rows.map((row) => {
    const own = byId.get(row.id);
    return own === undefined ? row : withVersion(row, own);
  });
}

/** A version that was told apart when it was stored says so in its short column only. */
function withVersion<T extends LocatedRow>(row: T, facts: PondFacts): T {
  const { id, timestamp } = row;
  if (row.isOlder) return { ...row, facts, record: revisionOf({ id, timestamp, facts }).record };
  const isVersion = row.record !== row.id && pieceOf(row) === undefined;
  return { ...row, facts: isVersion ? { revises: row.record, ...facts } : facts };
}
