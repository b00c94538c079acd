/** Maintenance on real tables: what it costs, and that nobody is disturbed by it. */
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { packingOf, packingUpdates } from "../arrow/schema.ts";
import { defineTable, openStore, type RowOf, type Table } from "../index.ts";
import { eq } from "../engine/predicate.ts";
import { type LanceTable, loadLance } from "../engine/lance.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: {
    box: { type: "utf8" },
    id: { type: "utf8" },
    kind: { type: "utf8" },
    body: { type: "utf8", packed: "together" },
  },
  indexes: [
    { column: "kind", kind: "bitmap" },
    { column: "body", kind: "fts" },
  ],
});
type Notes = Table<typeof NOTES>;

/** Text that does not compress away, different in each row. */
function note(i: number): RowOf<typeof NOTES> {
  const words = Array.from({ length: 40 }, (_, k) => ((i * 2654435761 + k * 40503) >>> 0).toString(36));
  return {
    box: `box ${i >> 5}`,
    id: `note ${i}`,
    kind: i % 3 === 0 ? "user" : "agent",
    body: `number${i} ${words.join(" ")}`,
  };
}
const notesOf = (from: number, count: number) => Array.from({ length: count }, (_, i) => note(from + i));

const bytesIn = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** Every row is found by key, by filter and by its own word. */
async function expectComplete(notes: Notes, count: number, probes: readonly number[]): Promise<void> {
  expect(await notes.count()).toBe(count);
  expect(await notes.count(eq("kind", "user"))).toBe(Math.ceil(count / 3));
  for (const i of probes) {
    expect(await notes.count(eq("id", `note ${i}`))).toBe(1);
    const found = await notes.search({
      column: "body",
      query: { match: `number${i}` },
      select: ["id"],
      limit: 5,
    });
    expect(Array.from({ length: found.length }, (_, row) => found.string("id", row))).toEqual([`note ${i}`]);
  }
}

const engineTable = async (path: string) =>
  (await loadLance().lancedb.connect(join(path, "default"))).openTable(NOTES.name);

const packingIn = async (path: string) => packingOf(await (await engineTable(path)).schema());

describe("maintenance", () => {
  test("200 syncs of one row each write less than 5 times the live bytes", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(notesOf(0, 6000));
    await notes.maintain();
    const before = bytesIn(dir.path);
    const done: string[] = [];
    for (let i = 0; i < 200; i++) {
      await notes.insertRows([note(6000 + i)]);
      done.push(...(await notes.maintain()).done.map(({ kind }) => kind));
    }
    // Nothing is an hour old, so nothing was removed: what is there is what was written.
    const written = bytesIn(dir.path) - before;
    const { facts } = await notes.health();
    expect(written).toBeLessThan(5 * facts.liveBytes);
    expect(done.filter((kind) => kind === "compact").length).toBeLessThanOrEqual(1);
    expect(done.length).toBeGreaterThan(0);
    expect(Math.max(...facts.indexes.map(({ unindexedRows }) => unindexedRows))).toBeLessThan(130);
    await expectComplete(notes, 6200, [0, 5999, 6000, 6128, 6199]);
  });

  test("reads are complete before, between and after every step", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(notesOf(0, 40));
    await expectComplete(notes, 40, [0, 39]);
    expect((await notes.health()).due.map(({ kind }) => kind)).toContain("build_index");
    await notes.maintain();
    await expectComplete(notes, 40, [0, 39]);
    await notes.insertRows(notesOf(40, 10));
    await expectComplete(notes, 50, [0, 39, 40, 49]);
    const report = await notes.maintain({ force: true });
    expect(report.done.at(-1)).toMatchObject({ kind: "compact" });
    expect((await notes.health()).facts).toMatchObject({ rows: 50, fragments: 1 });
    await notes.insertRows(notesOf(50, 1));
    await expectComplete(notes, 51, [0, 49, 50]);
    expect((await notes.maintain()).done).toEqual([]);
  });

  test("old versions go after the retention, and readers of other processes go on", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    // Looks for new versions only when it must, like a reader on an object store.
    await using lazy = await openStore(dir.path, { freshnessMs: 3_600_000 });
    const notes = await store.table(NOTES);
    await notes.insertRows(notesOf(0, 300));
    const reader = await lazy.table(NOTES);
    expect(await reader.count()).toBe(300);
    for (let i = 0; i < 5; i++) await notes.insertRows(notesOf(300 + i * 10, 10));
    await notes.maintain({ force: true, retentionMs: 0 });
    const stored = bytesIn(dir.path);
    const second = await notes.maintain({ force: true, retentionMs: 0 });
    expect(second.bytesRemoved).toBeGreaterThan(0);
    expect(bytesIn(dir.path)).toBeLessThan(stored);
    const rows = await reader.scan({ select: ["id", "body"], where: eq("box", "box 1") });
    expect(rows.length).toBe(32);
    await expectComplete(notes, 350, [0, 349]);
  });

  test("what is merged is packed tighter, unchanged, and new rows come in fast again", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    // Each row takes up what some row far away said: found in a large chunk only.
    const said = (i: number): string => Array.from({ length: 20 }, (_, k) => note(i * 7 + k).body).join(" ");
    const rows = Array.from({ length: 4000 }, (_, i) => ({ ...note(i), body: `${i} ${said(i % 150)}` }));
    for (const from of [0, 2000]) await notes.insertRows(rows.slice(from, from + 2000));
    const before = bytesIn(join(dir.path, "default/notes.lance/data"));
    await notes.maintain({ force: true, retentionMs: 0 });
    await notes.maintain({ force: true, retentionMs: 0 });
    expect(bytesIn(join(dir.path, "default/notes.lance/data"))).toBeLessThan(before * 0.6);
    const stored = await notes.scan({ select: ["id", "body"] });
    const bodies = Array.from({ length: stored.length }, (_, i) => [
      stored.string("id", i),
      stored.string("body", i),
    ]);
    expect(new Map(bodies as [string, string][])).toEqual(new Map(rows.map(({ id, body }) => [id, body])));
    expect(await packingIn(dir.path)).toBe("fresh");
  });

  test("a table that a killed compaction left tight takes new rows fast after the next maintenance", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(notesOf(0, 10));
    await (await engineTable(dir.path)).updateFieldMetadata(packingUpdates(NOTES, "tight"));
    expect(await packingIn(dir.path)).toBe("tight");
    await notes.insertRows(notesOf(10, 10));
    await notes.maintain();
    expect(await packingIn(dir.path)).toBe("fresh");
    await expectComplete(notes, 20, [0, 9, 10, 19]);
  });

  test("so it does where other maintainers are faster some times", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(notesOf(0, 10));
    const engine = await engineTable(dir.path);
    await engine.updateFieldMetadata(packingUpdates(NOTES, "tight"));
    const update = vi.spyOn(Object.getPrototypeOf(engine) as typeof engine, "updateFieldMetadata");
    onTestFinished(() => update.mockRestore());
    const lost = new Error("This UpdateConfig transaction is incompatible with concurrent transaction");
    for (let times = 0; times < 3; times++) update.mockRejectedValueOnce(lost);
    await notes.maintain();
    expect(await packingIn(dir.path)).toBe("fresh");
  });

  test("old versions that another process has removed meanwhile leave the work to the next time", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    for (const from of [0, 10]) await notes.insertRows(notesOf(from, 10));
    await notes.maintain();
    const optimize = vi.spyOn(Object.getPrototypeOf(await engineTable(dir.path)) as LanceTable, "optimize");
    onTestFinished(() => optimize.mockRestore());
    optimize.mockRejectedValue(new Error("Not found: default/notes.lance/_versions/3.manifest, local.rs"));
    expect(await notes.maintain({ force: true })).toMatchObject({ done: [], left: [{ kind: "compact" }] });
    expect(await packingIn(dir.path)).toBe("fresh");
    optimize.mockRejectedValue(new Error("Not found: default/notes.lance/data/1.lance, local.rs"));
    await expect(notes.maintain({ force: true })).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  test("several tables at once have enough memory to sort in", async () => {
    await using dir = await tempDir();
    const script = `
      const { defineTable, openStore } = await import(process.argv[1]);
      const columns = { box: { type: "utf8" }, id: { type: "utf8" }, kind: { type: "utf8" } };
      const tables = [];
      for (const name of ["one", "two", "three", "four"]) {
        const spec = defineTable({ name, version: 1, primaryKey: ["box", "id"], columns, indexes: [{ column: "kind", kind: "bitmap" }] });
        const table = await (await openStore(process.argv[2] + "/" + name)).table(spec);
        for (const half of [0, 1])
          await table.insertRows(Array.from({ length: 4000 }, (_, i) => ({ box: "box " + half, id: "id " + i, kind: "kind " + (i % 9) })));
        tables.push(table);
      }
      await Promise.all(tables.map((table) => table.maintain({ force: true })));
    `;
    const substrate = join(import.meta.dirname, "../index.ts");
    // Enough for one; the engine's own is for three or so.
    const env = { ...process.env, LANCE_MEM_POOL_SIZE: "25000000" };
    const args = ["--input-type=module", "-e", script, substrate, dir.path];
    await expect(promisify(execFile)(process.execPath, args, { env })).resolves.toMatchObject({ stderr: "" });
  });

  test("two maintainers at once do no harm", async () => {
    await using dir = await tempDir();
    await using one = await openStore(dir.path);
    await using two = await openStore(dir.path, { freshnessMs: 1 });
    const [a, b] = [await one.table(NOTES), await two.table(NOTES)];
    for (let i = 0; i < 4; i++) await a.insertRows(notesOf(i * 20, 20));
    await Promise.all([
      a.maintain({ force: true }),
      b.maintain({ force: true }),
      a.insertRows(notesOf(80, 5)),
    ]);
    await expectComplete(a, 85, [0, 79, 80, 84]);
    await a.maintain({ force: true });
    await expectComplete(b, 85, [0, 79, 80, 84]);
  });
});
