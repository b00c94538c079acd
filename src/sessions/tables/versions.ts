/** What is stored of records, in which versions and by which read: asked before and after rows are written. */
import { decodeRepeats } from "../../model/derived/index.ts";
import type { Rows } from "../../substrate/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import { joinKey } from "../../substrate/index.ts";
import type { StoredVersion } from "./claim.ts";
import { isRestoreRecord } from "./restore-records.ts";
import type { MESSAGES } from "./schema.ts";
import type { RecordedState, StateHead } from "./states.ts";
import { STATE_COLUMNS, stateAt } from "./states.ts";
import type { SessionTables } from "./tables.ts";

/** By whole sessions, or by the ids of messages, whatever their sessions. */
export type VersionScope = { readonly sessions: readonly string[] } | { readonly ids: readonly string[] };

const VERSION_COLUMNS = ["session_id", "id", "repeats", "hash", "origin", "seq", "parts"] as const;

export async function readVersions(tables: SessionTables, scope: VersionScope): Promise<StoredVersion[]> {
  const [column, values] =
    "ids" in scope ? (["id", scope.ids] as const) : (["session_id", scope.sessions] as const);
  const versions: StoredVersion[] = [];
  if (values.length === 0) return versions;
  for await (const rows of tables.messages.scanIn(column, values, { select: VERSION_COLUMNS }))
    for (let row = 0; row < rows.length; row++) versions.push(versionAt(rows, row));
  // What is told to be stored is as safe from a power cut as an insert is.
  if (versions.length > 0) await tables.messages.settle();
  return versions;
}

export function versionAt(rows: Rows<typeof MESSAGES>, row: number): StoredVersion {
  const id = rows.string("id", row);
  return {
    session_id: rows.string("session_id", row),
    id,
    record: decodeRepeats(rows.stringOrNull("repeats", row) ?? "", id).record,
    hash: rows.intOrNull("hash", row),
    origin: rows.stringOrNull("origin", row),
    seq: rows.intOrNull("seq", row),
    parts: rows.intOrNull("parts", row),
  };
}

export const byKey = (versions: Iterable<StoredVersion>): Map<string, StoredVersion> =>
  new Map([...versions].map((version) => [joinKey([version.session_id, version.id]), version]));

/** The recorded states of some sessions, in no particular order. */
export async function readStates(
  tables: Pick<SessionTables, "sources">,
  sessions: Iterable<string>,
): Promise<RecordedState[]> {
  const states: RecordedState[] = [];
  if (tables.sources === undefined) return states;
  const select = [...STATE_COLUMNS, "content"] as const;
  for await (const rows of tables.sources.scanIn("session_id", sessions, { select }))
    for (let row = 0; row < rows.length; row++)
      if (!isRestoreRecord(rows, row)) states.push(stateAt(rows, row));
  return states;
}

/** Every state that is recorded of a client's sources, without what it holds, in no particular order. */
export async function readStateHeads(
  tables: Pick<SessionTables, "sources">,
  adapter: string,
): Promise<StateHead[]> {
  const heads: StateHead[] = [];
  if (tables.sources === undefined) return heads;
  const options = { select: STATE_COLUMNS, where: eq("adapter", adapter) };
  for await (const rows of tables.sources.scanBatches(options))
    for (let row = 0; row < rows.length; row++) {
      if (isRestoreRecord(rows, row)) continue;
      const { content: _, ...head } = stateAt(rows, row);
      heads.push(head);
    }
  return heads;
}
