/** Sessions without their bodies: from short columns of their table, or from their summaries where those are at hand. */
import type { Found, SessionOutline } from "../../model/tree/index.ts";
import type { SessionId } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import { relations, sessionId, timestampFromMicros } from "../../model/index.ts";
import type { Rows } from "../../substrate/index.ts";
import type { OnFault, OutlineOptions } from "../states/message-outlines.ts";
import type { RowRef } from "../states/row-ref.ts";
import { oneOf } from "../tables/rows.ts";
import type { SESSIONS } from "../tables/schema.ts";
import type { SessionSummary } from "../summaries/summarise.ts";
import type { SessionTables } from "../tables/tables.ts";

const OUTLINE_COLUMNS = ["id", "parent_session_id", "relation", "source_agent", "created_at"] as const;

/** Sessions by their ids or their parents, in no particular order. */
export interface SessionQuery {
  readonly column: "id" | "parent_session_id";
  readonly values: readonly SessionId[];
  readonly version: Promise<number>;
}

export async function readSessionOutlines(
  tables: SessionTables,
  { column, values, version }: SessionQuery,
): Promise<Found<readonly SessionOutline<RowRef>[]>> {
  const { faults, onFault } = faultList();
  const value: SessionOutline<RowRef>[] = [];
  const options = { select: OUTLINE_COLUMNS, withRowId: true };
  for await (const rows of tables.sessions.scanIn(column, values, options))
    for (let at = 0; at < rows.length; at++) {
      const outline = outlineAt(rows, at, { version: await version, onFault });
      if (outline !== undefined) value.push(outline);
    }
  return { value, faults };
}

/** Without a reference: a summary does not have the row of its session. */
export function outlineOfSummary(summary: SessionSummary): SessionOutline<RowRef> {
  const { id, parent_session_id: parent, relation, source_agent, created_at } = summary;
  return {
    id,
    ...(parent === undefined ? {} : { parent_session_id: sessionId(parent) }),
    ...(relation === undefined ? {} : { relation }),
    source_agent,
    created_at,
  };
}

/** Faults that a look meets, and where to report them. */
export function faultList() {
  const faults: Found<unknown>["faults"][number][] = [];
  const onFault: OnFault = (key, fault) => void faults.push({ key, fault });
  return { faults, onFault };
}

function outlineAt(
  rows: Rows<typeof SESSIONS>,
  at: number,
  { version, onFault }: OutlineOptions,
): SessionOutline<RowRef> | undefined {
  const id = sessionId(rows.string("id", at));
  const micros = rows.timestamp("created_at", at);
  const created_at = timestampFromMicros(micros);
  if (created_at === undefined) {
    onFault?.({ id }, { kind: "unreadable", message: `it was created at ${micros} microseconds` });
    return undefined;
  }
  const parent = rows.stringOrNull("parent_session_id", at);
  const relation = oneOf(relations, rows.stringOrNull("relation", at));
  return {
    id,
    ...(parent === null ? {} : { parent_session_id: sessionId(parent) }),
    ...(relation === undefined ? {} : { relation }),
    source_agent: rows.string("source_agent", at),
    created_at,
    [REF]: { table: "sessions", key: { id }, row: rows.rowId(at), version },
  };
}
