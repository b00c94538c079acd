/** Ids of rows are an order of commits, whoever commits them at once: what signatures rely on (spec.md#search-signatures). */
import { expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { createdAfter, not, rowIdsIn } from "./engine/predicate.ts";
import { defineTable, openStore } from "./index.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: { box: { type: "utf8" }, id: { type: "utf8" }, bits: { type: "binary", nullable: true } },
});

test("rows of a later commit have higher ids, of several writers at once and after maintenance", async () => {
  await using dir = await tempDir();
  const stores = await Promise.all([1, 2, 3].map(() => openStore(dir.path)));
  const tables = await Promise.all(stores.map((store) => store.table(NOTES)));
  const write = async (writer: number, round: number): Promise<void> => {
    const ids = Array.from({ length: 20 }, (_, at) => `${round}.${at + writer * 10}`);
    await tables[writer]?.insertRows(ids.map((id) => ({ box: `${round % 3}`, id })));
  };
  for (let round = 0; round < 8; round++) {
    await Promise.all([0, 1, 2].map((writer) => write(writer, round)));
    if (round === 4) await tables[0]?.maintain({ force: true });
  }
  const [table] = tables;
  const idsOf = async (where: Parameters<NonNullable<typeof table>["count"]>[0]): Promise<number[]> => {
    const rows = await table!.scan({
      select: [],
      withRowId: true,
      ...(where === undefined ? {} : { where }),
    });
    return rows.rowIds().map(Number);
  };
  const newest = await table!.version();
  for (let version = 1; version < newest; version++) {
    const before = await idsOf(not(createdAfter(version)));
    const since = await idsOf(createdAfter(version));
    expect(Math.max(-1, ...before)).toBeLessThan(Math.min(Number.POSITIVE_INFINITY, ...since));
  }
  const all = (await idsOf(undefined)).toSorted((a, b) => a - b);
  expect(all).toHaveLength(8 * 40);
  const [from, to] = [all[50] ?? 0, all[120] ?? 0];
  const some = await idsOf(rowIdsIn(BigInt(from), BigInt(to)));
  expect(some.toSorted((a, b) => a - b)).toEqual(all.slice(50, 120));
  for (const store of stores) store.close();
});

test("short bytes are stored as they are, null, empty and many of them", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const table = await store.table(NOTES);
  const values = [null, new Uint8Array(0), Uint8Array.of(0, 255, 10), new Uint8Array(70_000).fill(7), null];
  await table.insertRows(values.map((bits, at) => ({ box: "a", id: String(at), bits })));
  await table.insertRows([{ box: "b", id: "0", bits: null }]);
  const stored: (readonly number[] | null)[] = [];
  for await (const rows of table.scanBatches({ select: ["bits"] }))
    for (let row = 0; row < rows.length; row++) {
      const bits = rows.bytes("bits", row);
      stored.push(bits === null ? null : [...bits]);
    }
  expect(stored).toEqual([...values, null].map((bits) => (bits === null ? null : [...bits])));
});
