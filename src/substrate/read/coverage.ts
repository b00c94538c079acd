/** How many rows of a table no index covers yet: what is faster to read in two steps depends on it, never what is right. */
import { call, type Handle } from "../handle/handle.ts";
import { indexName } from "../engine/spec.ts";

/** How long an answer is believed; asking costs a twentieth of a read. */
const BELIEVED_MS = 500;

interface Asked {
  readonly at: number;
  readonly rows: Promise<number | undefined>;
}

const asked = new WeakMap<Handle, Asked>();

/** By the index on the first key column; undefined where there is none yet. */
export function unindexedRows(handle: Handle): Promise<number | undefined> {
  const now = handle.policy.clock.now();
  const last = asked.get(handle);
  if (last !== undefined && Math.abs(now - last.at) < BELIEVED_MS) return last.rows;
  const rows = ask(handle);
  asked.set(handle, { at: now, rows });
  rows.catch(() => asked.delete(handle));
  return rows;
}

async function ask(handle: Handle): Promise<number | undefined> {
  const name = indexName({ column: handle.spec.primaryKey[0], kind: "btree" });
  const { value } = await call(handle, "read the indexes of", (table) => table.indexStats(name));
  return value?.numUnindexedRows;
}
