/**
 * Making a table without losing rows to a race (spec.md#lance-table-creation-safe). The engine's own
 * creation is not safe: between its two looks for an existing table another process may have made it and
 * stored rows, which it then overwrites with an empty table and reports success (create.test.ts shows it).
 *
 * On a local disk a table is made under a name of its own and renamed, which only one process can do. An
 * object store cannot rename; there the overwriter notices, because its table does not begin at version 1,
 * and puts the rows back.
 */
import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { errnoOf, toPondError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Arrow, LanceConnection, LanceTable } from "../engine/lance.ts";
import { Durability } from "../local/durable.ts";
import { faultOf } from "../engine/retry.ts";

export interface Creation {
  readonly connection: LanceConnection;
  readonly name: string;
  readonly schema: Arrow.Schema;
  /** Directory of a table by name; undefined where the store is not on a local disk. */
  readonly directory: ((name: string) => string) | undefined;
  readonly clock: Clock;
  /** Runs on the new table before others see it, where that is possible. */
  readonly prepare?: (table: LanceTable) => Promise<void>;
  /** Runs when this creation overwrote a table that was there. */
  readonly repair: (table: LanceTable) => Promise<void>;
}

/** Row ids that survive compaction, and the file version that blobs and packed columns were measured with. */
/** Row ids that survive compaction (spec.md#lance-table-creation-stable-row-ids), and the stable format. */
const TABLE_OPTIONS = { new_table_enable_stable_row_ids: "true", new_table_data_storage_version: "2.2" };
/** Names of drafts; a leftover of a killed process is not listed and harms nothing. */
export const RESERVED = "pond_";

/** Makes the table, or leaves the one that another process made meanwhile. */
export async function createTable(creation: Creation): Promise<void> {
  if (creation.directory === undefined) return createInPlace(creation);
  const draft = `${RESERVED}new_${randomUUID()}`;
  const from = creation.directory(draft);
  const table = await creation.connection.createEmptyTable(draft, creation.schema, {
    storageOptions: TABLE_OPTIONS,
  });
  await creation.prepare?.(table);
  table.close();
  await new Durability(from, creation.clock).settle();
  try {
    await rename(from, creation.directory(creation.name));
  } catch (error) {
    await rm(from, { recursive: true, force: true });
    // A directory with something in it cannot be renamed over: another process was first.
    if (!["ENOTEMPTY", "EEXIST", "EPERM"].includes(errnoOf(error) ?? "")) throw toPondError(error);
  }
}

async function createInPlace(creation: Creation): Promise<void> {
  const { connection, name, schema } = creation;
  try {
    const table = await connection.createEmptyTable(name, schema, { storageOptions: TABLE_OPTIONS });
    if ((await table.version()) > 1) await creation.repair(table);
    await creation.prepare?.(table);
  } catch (error) {
    if (faultOf(error) !== "exists") throw error;
  }
}
