/** Text and vector queries, with and without indexes, and what is pushed into them. */
import { describe, expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { and, eq, startsWith } from "./engine/predicate.ts";
import { defineTable, openStore, type Rows, type TextQuery } from "./index.ts";
import { gt } from "./engine/predicate.ts";

const DOCS = defineTable({
  name: "docs",
  version: 1,
  primaryKey: ["box", "id"],
  columns: {
    box: { type: "utf8" },
    id: { type: "utf8" },
    role: { type: "utf8" },
    at: { type: "timestamp_us" },
    body: { type: "utf8", packed: "together", nullable: true },
    vector: { type: "float16_vector", dim: 8, nullable: true },
  },
  indexes: [
    { column: "role", kind: "bitmap" },
    { column: "at", kind: "btree" },
    { column: "body", kind: "fts", positions: true },
    { column: "vector", kind: "vector", minRows: 1000 },
  ],
});
type Docs = typeof DOCS;

const TEXTS = [
  "the quick brown fox",
  "the brown quick fox",
  "parseHttpRequest in src/lib.ts failed with E0308",
  "Caf\u00e9 \u4f60\u597d\u4e16\u754c \u041f\u0440\u0438\u0432\u0435\u0442",
  `hash ${"0123456789abcdef".repeat(4)}`,
  "foo_bar and baz",
];
const ids = (rows: Rows<Docs>): string[] =>
  Array.from({ length: rows.length }, (_, i) => rows.string("id", i));

describe("full text", () => {
  const cases: readonly (readonly [string, TextQuery, readonly string[]])[] = [
    ["any word", { match: "fox baz" }, ["0", "1", "5"]],
    ["all words", { match: "fox the", operator: "and" }, ["0", "1"]],
    ["a stop word", { match: "the" }, ["0", "1"]],
    ["a phrase", { phrase: "quick brown" }, ["0"]],
    ["one but not the other", { must: [{ match: "fox" }], mustNot: [{ phrase: "quick brown" }] }, ["1"]],
    ["should", { should: [{ match: "baz" }, { match: "e0308" }] }, ["2", "5"]],
    ["Chinese", { match: "\u4e16\u754c" }, ["3"]],
    ["Cyrillic, any case", { match: "\u043f\u0440\u0438\u0432\u0435\u0442" }, ["3"]],
    ["accents", { match: "cafe" }, ["3"]],
    ["a part of a path", { match: "lib" }, ["2"]],
    ["a part of an identifier", { match: "bar" }, ["5"]],
    ["a hash of 64 digits", { match: "0123456789abcdef".repeat(4) }, ["4"]],
    ["a lone surrogate", { match: "fox \ud83d" }, ["0", "1"]],
  ];

  test("finds the same before any maintenance, after it, and in the tail behind it", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const docs = await store.table(DOCS);
    const insert = (box: string) =>
      docs.insertRows(TEXTS.map((body, i) => ({ box, id: String(i), role: "user", at: i, body })));
    const expectAll = async (box: string): Promise<void> => {
      for (const [name, query, expected] of cases) {
        const rows = await docs.search({
          column: "body",
          query,
          where: eq("box", box),
          select: ["id", "body"],
          limit: 10,
        });
        expect([box, name, ids(rows).toSorted()]).toEqual([box, name, expected]);
        for (let i = 0; i < rows.length; i++)
          expect(rows.string("body", i)).toBe(TEXTS[Number(rows.string("id", i))]);
      }
    };
    await insert("first");
    await expectAll("first");
    await docs.maintain({ force: true });
    await expectAll("first");
    await insert("tail");
    await expectAll("tail");
    await expectAll("first");
  });

  test("a search that only excludes is the caller's mistake", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const docs = await store.table(DOCS);
    const search = docs.search({
      column: "body",
      query: { mustNot: [{ match: "x" }] },
      select: ["id"],
      limit: 1,
    });
    await expect(search).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("pages by limit and offset, best first", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const docs = await store.table(DOCS);
    await docs.insertRows(
      Array.from({ length: 30 }, (_, i) => ({
        box: "a",
        id: String(i),
        role: "user",
        at: i,
        body: `fox ${"fox ".repeat(i)}`,
      })),
    );
    const query = { column: "body", query: { match: "fox" }, select: ["id"] } as const;
    const all = await docs.search({ ...query, limit: 30 });
    const page = await docs.search({ ...query, limit: 10, offset: 10 });
    expect(ids(page)).toEqual(ids(all).slice(10, 20));
    const scores = Array.from({ length: all.length }, (_, i) => all.score(i));
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });
});

describe("vectors", () => {
  test("the nearest are found by scan, by index, and in the tail behind the index", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const docs = await store.table(DOCS);
    const vectorOf = (i: number): number[] =>
      Array.from({ length: 8 }, (_, k) => Math.sin((i + 1) * (k + 1) * 0.7));
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        box: "a",
        id: String(from + i),
        role: i % 2 === 0 ? "user" : "agent",
        at: i,
        vector: i % 10 === 9 ? null : vectorOf(from + i),
      }));
    const nearestTo = (i: number, more: object = {}) =>
      docs.nearest({
        column: "vector",
        vector: Float32Array.from(vectorOf(i)),
        select: ["id", "role"],
        limit: 3,
        nprobes: 20,
        refineFactor: 20,
        ...more,
      });
    await docs.insertRows(rows(0, 1100));
    expect(ids(await nearestTo(500))[0]).toBe("500");
    const report = await docs.maintain();
    expect(
      report.done.map((action) => (action.kind === "build_index" ? action.index.column : action.kind)),
    ).toContain("vector");
    await docs.insertRows(rows(2000, 50));
    for (const i of [0, 500, 2000, 2007]) {
      const found = await nearestTo(i);
      expect(ids(found)[0]).toBe(String(i));
      expect(found.distance(0)).toBeLessThan(0.001);
    }
    expect(ids(await nearestTo(500, { where: eq("role", "agent") }))).not.toContain("500");
  });
});

describe("plans", () => {
  test("filters are answered by indexes, also in front of a text search", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const docs = await store.table(DOCS);
    await docs.insertRows(TEXTS.map((body, i) => ({ box: "a", id: String(i), role: "user", at: i, body })));
    await docs.maintain();
    const scan = (where: Parameters<typeof docs.count>[0]) =>
      docs.explain({ select: ["id"], ...(where === undefined ? {} : { where }) });
    expect(await scan(and(eq("box", "a"), eq("id", "1")))).toMatch(/ScalarIndexQuery.*box_btree.*id_btree/);
    expect(await scan(startsWith("id", "1"))).toContain("id_btree");
    expect(await scan(gt("at", 3))).toContain("at_btree");
    expect(await scan(eq("role", "user"))).toContain("role_bitmap");
    const plan = await docs.explain({
      column: "body",
      query: { match: "fox" },
      where: eq("role", "user"),
      select: ["id"],
      limit: 5,
    });
    expect(plan).toContain("MatchQuery");
    expect(plan).toContain("role_bitmap");
  });
});
