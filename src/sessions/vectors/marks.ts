/**
 * Marks in a table of vectors: up to which version of the table of messages everything has one, so that who looks for
 * messages without one looks at newer rows only. A mark is a row without a session and a vector, written after the rows that
 * it speaks for; the newest one counts, for the store may have been put back to an earlier state.
 */
import { randomUUID } from "node:crypto";
import type { RowOf, Table } from "../../substrate/index.ts";
import { eq, ne } from "../../substrate/engine/predicate.ts";
import type { VectorSpec } from "./vector-spec.ts";

export interface Mark {
  /** Of the table of messages. */
  readonly version: number;
  /** Who left it: the reader that a machine is. */
  readonly reader: string;
}

export async function newestMark(table: Table<VectorSpec>): Promise<Mark | undefined> {
  const where = eq("session_id", NO_SESSION);
  const rows = await table.scan({ select: ["row", "source_agent"], where, withRowId: true });
  let newest: number | undefined;
  for (let at = 0; at < rows.length; at++)
    if (newest === undefined || rows.rowId(at) > rows.rowId(newest)) newest = at;
  if (newest === undefined) return undefined;
  return { version: rows.int("row", newest), reader: rows.string("source_agent", newest) };
}

export async function leaveMark(
  table: Table<VectorSpec>,
  { version, reader, model }: Mark & { readonly model: string },
): Promise<void> {
  const mark: RowOf<VectorSpec> = {
    session_id: NO_SESSION,
    id: randomUUID(),
    row: version,
    timestamp: 0,
    role: "",
    source_agent: reader,
    project: "",
    embedding_model: model,
    vector: null,
  };
  await table.insertRows([mark]);
}

const NO_SESSION = "";

/** Rows that are of messages. */
export const OF_MESSAGES = ne("session_id", NO_SESSION);
