/** What consumers lean on: rows come back equal, keys stay unique, reads are complete before maintenance. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { and, createdAfter, eq, isIn } from "./engine/predicate.ts";
import { defineTable, openStore, type RowOf, type Table } from "./index.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: {
    box: { type: "utf8" },
    id: { type: "utf8" },
    at: { type: "timestamp_us" },
    rank: { type: "int32", nullable: true },
    big: { type: "int64", nullable: true },
    done: { type: "bool", nullable: true },
    title: { type: "utf8", nullable: true },
    body: { type: "utf8", nullable: true, packed: "together" },
    vector: { type: "float16_vector", dim: 4, nullable: true },
    data: { type: "blob" },
  },
  indexes: [
    { column: "at", kind: "btree" },
    { column: "body", kind: "fts", positions: true },
  ],
});
type Note = RowOf<typeof NOTES>;

const note = (box: string, id: string, more: Partial<Note> = {}): Note => ({
  box,
  id,
  at: 1_700_000_000_000_001,
  ...more,
});

async function keys(table: Table<typeof NOTES>): Promise<string[]> {
  const rows = await table.scan({ select: ["box", "id"] });
  return Array.from(
    { length: rows.length },
    (_, i) => `${rows.string("box", i)}/${rows.string("id", i)}`,
  ).toSorted();
}

describe("a table", () => {
  test("gives back every value it was given", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const anyRow = fc.record({
      at: fc.maxSafeInteger(),
      rank: fc.option(fc.integer()),
      big: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      done: fc.option(fc.boolean()),
      title: fc.option(text),
      body: fc.option(text),
      vector: fc.option(
        fc.array(fc.constantFrom(0, 1, -2, 0.5, 65504, 2 ** -24), { minLength: 4, maxLength: 4 }),
      ),
      data: fc.option(fc.uint8Array({ maxLength: 200 })),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 30 }), async (values) => {
        const box = `box ${round++}`;
        const written = values.map((value, i) => ({ box, id: String(i), ...value }));
        expect(await notes.insertRows(written)).toEqual({
          inserted: written.length,
          matched: 0,
          duplicates: 0,
        });
        const rows = await notes.scan({
          where: eq("box", box),
          select: ["id", "at", "rank", "big", "done", "title", "body", "vector", "data"],
          withRowId: true,
        });
        const blobs = await notes.fetchBlobs("data", rows.rowIds());
        const read = Array.from({ length: rows.length }, (_, i) => {
          const vector = rows.vector("vector", i);
          const blob = blobs[i];
          expect(rows.blobSize("data", i)).toBe(blob?.length ?? null);
          return {
            box,
            id: rows.string("id", i),
            at: rows.timestamp("at", i),
            rank: rows.intOrNull("rank", i),
            big: rows.bigint("big", i),
            done: rows.boolOrNull("done", i),
            title: rows.stringOrNull("title", i),
            body: rows.stringOrNull("body", i),
            vector: vector === null ? null : [...vector],
            data: blob === null || blob === undefined ? null : new Uint8Array(blob),
          };
        });
        expect(read.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(written);
      }),
      { numRuns: 20 },
    );
  });

  test("keeps one row of a key, however often it is written", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const batch = notes.batch();
    expect(batch.add(note("a", "1", { title: "first" }))).toBe("added");
    expect(batch.add(note("a", "1", { title: "second" }))).toBe("duplicate");
    expect(batch.add(note("a", "2"))).toBe("added");
    const finished = batch.finish();
    expect(await notes.insert(finished)).toMatchObject({ inserted: 2, attempts: 1 });
    expect(await notes.insert(finished)).toMatchObject({ inserted: 0 });
    expect(await notes.insertRows([note("a", "1"), note("a", "3"), note("a", "3")])).toEqual({
      inserted: 1,
      matched: 1,
      duplicates: 1,
    });
    expect(await keys(notes)).toEqual(["a/1", "a/2", "a/3"]);
    const rows = await notes.scan({ select: ["title"], where: and(eq("box", "a"), eq("id", "1")) });
    expect(rows.string("title", 0)).toBe("first");
  });

  test("names the keys it knows, whatever characters they hold", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([note("a", "b\0c"), note("a\0b", "c"), note("x'y", "%_\\\n"), note("other", "1")]);
    const known = await notes.knownKeys(["a", "a\0b", "x'y", "absent"]);
    expect(known.size).toBe(3);
    expect(known.has("a", "b\0c")).toBe(true);
    expect(known.has("a\0b", "c")).toBe(true);
    expect(known.has("x'y", "%_\\\n")).toBe(true);
    expect(known.has("a", "b")).toBe(false);
    expect(known.has("other", "1")).toBe(false);
  });

  test("gives the same few rows whether indexes cover them, some of them, or none", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const box = (at: number): string => `box ${at % 40}`;
    const insert = (from: number, to: number): Promise<unknown> =>
      notes.insertRows(
        Array.from({ length: to - from }, (_, i) =>
          note(box(from + i), String(from + i), {
            rank: from + i,
            title: i % 3 === 0 ? null : `t${i}`,
            body: `body ${from + i}`,
          }),
        ),
      );
    const read = async (few: boolean, long: readonly "body"[] = []): Promise<unknown[]> => {
      const rows = await notes.scan({
        select: ["id", "title", ...long],
        where: eq("box", "box 7"),
        orderBy: [{ column: "rank", descending: true }],
        limit: 30,
        withRowId: true,
        few,
      });
      return rows
        .rowIds()
        .map((row, i) => [
          row,
          rows.string("id", i),
          rows.stringOrNull("title", i),
          rows.int("rank", i),
          rows.has("body") ? rows.string("body", i) : undefined,
        ]);
    };
    const compare = async (rows: number): Promise<void> => {
      expect(await read(true)).toEqual(await read(false));
      expect(await read(true, ["body"])).toEqual(await read(false, ["body"]));
      expect(await read(true)).toHaveLength(Math.min(30, rows / 40));
    };
    for (const rows of [600, 1200, 1800, 2400]) {
      await insert(rows - 600, rows);
      await compare(rows);
      if (rows !== 1200) continue;
      await notes.maintain({ force: true });
      await compare(rows);
    }
    expect((await notes.health()).facts.indexes[0]).toMatchObject({ indexedRows: 1200, unindexedRows: 1200 });
  });

  test("answers long columns in the order of the scan, and rows by id in the order asked", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(
      Array.from({ length: 50 }, (_, i) => note("a", `${i}`, { at: 1000 - i, body: `body ${i}` })),
    );
    const rows = await notes.scan({
      where: eq("box", "a"),
      select: ["id", "body"],
      orderBy: [{ column: "at" }],
      limit: 5,
      withRowId: true,
    });
    expect(Array.from({ length: 5 }, (_, i) => rows.string("body", i))).toEqual([
      "body 49",
      "body 48",
      "body 47",
      "body 46",
      "body 45",
    ]);
    const [first, second] = rows.rowIds();
    const taken = await notes.take([second ?? 0n, first ?? 0n, second ?? 0n], ["id"]);
    expect([taken.string("id", 0), taken.string("id", 1), taken.string("id", 2)]).toEqual(["48", "49", "48"]);
  });

  test("tells the bytes of a text without the text", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([note("a", "1", { body: "h\u00e9llo" }), note("a", "2")]);
    const rows = await notes.scan({ select: ["id"], bytesOf: ["body"], orderBy: [{ column: "id" }] });
    expect([rows.byteLength("body", 0), rows.byteLength("body", 1)]).toEqual([6, null]);
  });

  test("keeps values of 32 MiB, several in one row", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const body = "\u20ac\0'\n".repeat((32 * 1024 * 1024) / 6);
    const data = new Uint8Array(40_000_000).fill(7);
    await notes.insertRows([note("a", "1", { body, title: body, data }), note("a", "2", { body })]);
    await notes.maintain({ force: true });
    const rows = await notes.scan({
      select: ["id", "title", "body"],
      where: eq("box", "a"),
      orderBy: [{ column: "id" }],
      withRowId: true,
    });
    expect(
      rows.string("body", 0) === body && rows.string("title", 0) === body && rows.string("body", 1) === body,
    ).toBe(true);
    expect(Buffer.compare((await notes.fetchBlobs("data", rows.rowIds()))[0] ?? new Uint8Array(), data)).toBe(
      0,
    );
  });

  test("hands out raw columns for bulk copies", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([note("a", "1", { title: "one" }), note("a", "2")]);
    const rows = await notes.scan({ select: ["id", "at", "title"] });
    const [title] = rows.raw("title");
    expect(title?.length).toBe(2);
    expect([...(title?.offsets ?? [])].slice(0, 2)).toEqual([0, 3]);
    expect((title?.validity?.[0] ?? 0) & 3).toBe(1);
    expect(rows.raw("at")[0]?.values).toBeInstanceOf(BigInt64Array);
  });

  test("finds text and vectors without any index", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([
      note("a", "1", { body: "the lance engine", vector: [1, 0, 0, 0] }),
      note("a", "2", { body: "a pond of sessions", vector: [0, 1, 0, 0] }),
      note("b", "3", { body: "another lance", vector: [0.9, 0.1, 0, 0] }),
    ]);
    const found = await notes.search({
      column: "body",
      query: { match: "lance" },
      where: eq("box", "a"),
      select: ["id", "body"],
      limit: 10,
    });
    expect(Array.from({ length: found.length }, (_, i) => found.string("body", i))).toEqual([
      "the lance engine",
    ]);
    expect(found.score(0)).toBeGreaterThan(0);
    const near = await notes.nearest({
      column: "vector",
      vector: Float32Array.of(1, 0, 0, 0),
      select: ["id", "body"],
      limit: 2,
    });
    expect([near.string("id", 0), near.string("id", 1)]).toEqual(["1", "3"]);
    expect(near.distance(0)).toBeCloseTo(0);
  });

  test("feeds what was committed after a version", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([note("a", "1")]);
    const seen = await notes.version();
    await notes.insertRows([note("a", "2"), note("a", "3")]);
    expect(await notes.count(createdAfter(seen))).toBe(2);
  });

  test("scans a list of any length", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows(Array.from({ length: 1200 }, (_, i) => note(`box ${i}`, "1")));
    let found = 0;
    const wanted = Array.from({ length: 2400 }, (_, i) => `box ${i}`);
    for await (const rows of notes.scanIn("box", wanted, { select: ["id"] })) found += rows.length;
    expect(found).toBe(1200);
    await expect(notes.count(isIn("box", wanted))).rejects.toThrow(/split it/);
  });
});
