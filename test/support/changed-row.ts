/** A stored row that says something else than was stored, as a fault of a disk or of a program would leave it. */
import { join } from "node:path";
import type { Context } from "../../src/handlers/index.ts";
import { loadLance } from "../../src/substrate/engine/lance.ts";

export interface Changed {
  readonly table: "messages" | "parts";
  /** Of which session. */
  readonly session: string;
  readonly column: string;
  /** The first row that says so says the other afterwards. */
  readonly from: string;
  readonly to: string;
}

/** Changes one row of a local store, or fails where none says what is to be changed. */
export async function changeRow(
  { config }: Context,
  { table, session, column, from, to }: Changed,
): Promise<void> {
  const connection = await loadLance().lancedb.connect(join(config.values.storage.url, "default"));
  const rows = await connection.openTable(table);
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const where = `session_id = ${quoted(session)} AND ${column} LIKE ${quoted(`%${from}%`)}`;
  const [row] = (await rows.query().where(where).select(["id"]).limit(1).toArray()) as { id: string }[];
  if (row === undefined) throw new Error(`no row of ${table} says ${from}`);
  await rows.update({
    where: `${where} AND id = ${quoted(row.id)}`,
    valuesSql: { [column]: `replace(${column}, ${quoted(from)}, ${quoted(to)})` },
  });
}
