/**
 * What the engine does not promise by itself, and that this room's interface cannot express the dangerous
 * forms (spec.md#storage-exactly-once).
 */
import { describe, expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { BatchBuilder } from "./arrow/batch.ts";
import { schemaOf } from "./arrow/schema.ts";
import { defineTable, openStore, Table } from "./index.ts";
import { type LanceTable, loadLance, nativeMerge } from "./engine/lance.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: { box: { type: "utf8" }, id: { type: "utf8" } },
});
const ROWS = Array.from({ length: 300 }, (_, i) => ({ box: `box ${i % 3}`, id: String(i) }));

function ipcOf(): Buffer {
  const builder = new BatchBuilder(loadLance(), NOTES);
  for (const row of ROWS) builder.add(row);
  return builder.finish().ipc;
}

/**
 * Writers that know of one another's commits only by the engine's own check insert the same rows `on` these columns. What
 * two at once do in a race that nobody can arrange, two do for certain that have both seen the empty table.
 */
async function rowsAfterRace(
  path: string,
  options: { readonly withKey: boolean; readonly on: readonly string[] },
): Promise<number> {
  const lance = loadLance();
  const schema = schemaOf(lance, NOTES);
  const fields = options.withKey
    ? schema.fields
    : schema.fields.map((field) => new lance.arrow.Field(field.name, field.type, field.nullable));
  // Without an interval a table stays at the version that it was opened at.
  const connections = await Promise.all([0, 1].map(() => lance.lancedb.connect(path)));
  await connections[0]?.createEmptyTable("notes", new lance.arrow.Schema(fields));
  const tables: LanceTable[] = await Promise.all(
    connections.map((connection) => connection.openTable("notes")),
  );
  for (const table of tables) expect(await table.countRows()).toBe(0);
  for (const table of tables) await nativeMerge(table, options.on).execute(ipcOf());
  const later = await lance.lancedb.connect(path);
  return (await later.openTable("notes")).countRows();
}

describe("concurrent inserts of the same rows", () => {
  test("the raw engine doubles them without key metadata, and with the key in another order", async () => {
    await using dir = await tempDir();
    expect(await rowsAfterRace(`${dir.path}/none`, { withKey: false, on: ["box", "id"] })).toBe(600);
    expect(await rowsAfterRace(`${dir.path}/order`, { withKey: true, on: ["id", "box"] })).toBe(600);
    expect(await rowsAfterRace(`${dir.path}/key`, { withKey: true, on: ["box", "id"] })).toBe(300);
  });

  test("through a table they are stored once", async () => {
    await using dir = await tempDir();
    const stores = await Promise.all([1, 2, 3, 4].map((freshnessMs) => openStore(dir.path, { freshnessMs })));
    const tables = await Promise.all(stores.map((store) => store.table(NOTES)));
    const results = await Promise.all(
      tables.map((table) => {
        const batch = table.batch();
        for (const row of ROWS) batch.add(row);
        return table.insert(batch.finish());
      }),
    );
    expect(results.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(300);
    expect(await tables[0]?.count()).toBe(300);
    for (const store of stores) store.close();
  });

  test("a table has no way to append or update, nor to delete or merge on columns of the caller's choice", () => {
    const methods = Object.getOwnPropertyNames(Table.prototype).toSorted();
    expect(methods).toEqual([
      "batch",
      "checkPattern",
      "constructor",
      "count",
      "explain",
      "fetchBlobs",
      "firstKeysOf",
      "health",
      "insert",
      "insertRows",
      "isReadable",
      "keptRows",
      "knownKeys",
      "maintain",
      "nearest",
      "putBack",
      "remakeIndexes",
      "scan",
      "scanBatches",
      "scanIn",
      "search",
      "settle",
      "take",
      "takeMatches",
      "takeOut",
      "takeOutKeys",
      "takePresent",
      "version",
    ]);
    expect(Table.prototype.insert.length).toBe(1);
  });

  test("a table whose key is not declared as ours is refused", async () => {
    await using dir = await tempDir();
    await rowsAfterRace(`${dir.path}/default`, { withKey: false, on: ["box", "id"] });
    await using store = await openStore(dir.path);
    await expect(store.table(NOTES)).rejects.toMatchObject({
      code: "storage_unavailable",
      reason: "unsupported",
    });
  });

  test("a batch of another table is refused", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const OTHER = defineTable({ ...NOTES, name: "other" });
    const other = (await store.table(OTHER)).batch();
    other.add({ box: "a", id: "1" });
    // @ts-expect-error -- the types refuse it as well
    await expect(notes.insert(other.finish())).rejects.toThrow(/a batch of other for notes/);
  });
});
