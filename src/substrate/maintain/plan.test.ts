/** The rule of maintenance, on numbers alone. */
import { describe, expect, test } from "vitest";
import type { IndexSpec } from "../engine/spec.ts";
import type { IndexState } from "./indexes.ts";
import { planMaintenance, type TableFacts } from "./plan.ts";

const MB = 1_000_000;
const BTREE: IndexSpec = { column: "id", kind: "btree" };
const TEXT: IndexSpec = { column: "body", kind: "fts" };
const VECTOR: IndexSpec = { column: "vector", kind: "vector" };

const index = (spec: IndexSpec, more: Partial<IndexState> = {}): IndexState => ({
  spec,
  built: "yes",
  indexedRows: 100_000,
  unindexedRows: 0,
  bytes: 0,
  ...more,
});

const facts = (more: Partial<TableFacts> = {}): TableFacts => ({
  rows: 100_000,
  fragments: 1,
  liveBytes: 40 * MB,
  deadBytes: 0,
  staleVersions: 0,
  indexes: [index(BTREE), index(TEXT)],
  remembered: { scalar: 1, text: 1 },
  isObjectStore: false,
  ...more,
});

const plan = (more: Partial<TableFacts>): string[] =>
  planMaintenance(facts(more)).map((action) => (action.kind === "compact" ? "compact" : action.index.column));
const tail = (rows: number): IndexState[] => [
  index(BTREE, { unindexedRows: rows }),
  index(TEXT, { unindexedRows: rows }),
];

describe("maintenance", () => {
  test("has nothing to do for an empty table or one that is up to date", () => {
    expect(plan({ rows: 0, indexes: [index(BTREE, { built: "absent" })] })).toEqual([]);
    expect(plan({})).toEqual([]);
  });

  test("builds what is missing or was built otherwise", () => {
    expect(
      plan({ indexes: [index(BTREE, { built: "absent" }), index(TEXT, { built: "different" })] }),
    ).toEqual(["body", "id"]);
  });

  test("builds a vector index only for many vectors, and rarely again", () => {
    expect(plan({ rows: 99_999, indexes: [index(VECTOR, { built: "absent" })] })).toEqual([]);
    expect(plan({ rows: 100_000, indexes: [index(VECTOR, { built: "absent" })] })).toEqual(["vector"]);
    expect(plan({ indexes: [index(VECTOR, { unindexedRows: 15_000 })] })).toEqual([]);
    expect(plan({ indexes: [index(VECTOR, { unindexedRows: 25_000 })] })).toEqual(["vector"]);
  });

  test("leaves a short tail alone", () => {
    expect(plan({ fragments: 32, indexes: tail(31) })).toEqual([]);
  });

  test("folds the cheap indexes after 32 commits, the text index after 128", () => {
    expect(plan({ fragments: 33, indexes: tail(32) })).toEqual(["id"]);
    expect(plan({ fragments: 129, indexes: tail(128), remembered: { scalar: 120, text: 1 } })).toEqual([
      "body",
    ]);
  });

  test("folds the cheap indexes when the tail has 5 percent of the rows, at least 2,000 and at most 20,000", () => {
    const scalar = (rows: number): IndexState[] => tail(rows).slice(0, 1);
    expect(plan({ fragments: 2, indexes: scalar(4_999) })).toEqual([]);
    expect(plan({ fragments: 2, indexes: tail(5_000) })).toEqual(["body", "id"]);
    expect(plan({ rows: 5_000, fragments: 2, indexes: scalar(1_999) })).toEqual([]);
    expect(plan({ rows: 5_000, fragments: 2, indexes: tail(2_000) })).toEqual(["body", "id"]);
    expect(plan({ rows: 5_000_000, fragments: 2, indexes: tail(20_000) })).toEqual(["body", "id"]);
  });

  test("folds the text index when its tail is felt, on object stores with the others", () => {
    const isDue = (rows: number, unindexed: number): boolean =>
      plan({ rows, fragments: 2, indexes: tail(unindexed) }).includes("body");
    const least = (rows: number): number => {
      let unindexed = 1;
      while (!isDue(rows, unindexed)) unindexed++;
      return unindexed;
    };
    expect([1_000, 10_000, 100_000, 500_000, 5_000_000].map(least)).toEqual([500, 650, 2055, 4596, 5000]);
    expect(plan({ fragments: 2, indexes: tail(4_999), isObjectStore: true })).toEqual([]);
  });

  test.each([10_000, 100_000, 1_000_000])(
    "200 syncs of 50 rows into %i write less than 3 times the live bytes of text index",
    (before) => {
      const bytes = { row: 440, indexed: 110 };
      let rows = before;
      let written = 0;
      let unindexedRows = 0;
      let fragments = 1;
      let remembered = { scalar: 1, text: 1 };
      for (let sync = 0; sync < 200; sync++) {
        rows += 50;
        unindexedRows += 50;
        fragments += 1;
        const indexes = [index(TEXT, { indexedRows: rows - unindexedRows, unindexedRows })];
        const due = plan({ rows, fragments, liveBytes: rows * bytes.row, indexes, remembered });
        if (due.includes("compact")) fragments = 1;
        if (!due.includes("body")) continue;
        written += rows * bytes.indexed;
        unindexedRows = 0;
        remembered = { scalar: fragments, text: fragments };
      }
      expect(written).toBeGreaterThan(0);
      expect(written).toBeLessThan(3 * rows * bytes.row);
    },
  );

  test("folding is not repeated while nothing is new", () => {
    expect(plan({ fragments: 120 })).toEqual([]);
  });

  test("rewrites data when fragments pass a bound that grows with the table", () => {
    const fragments = (liveBytes: number): number => {
      let count = 1;
      while (!plan({ liveBytes, fragments: count }).includes("compact")) count++;
      return count - 1;
    };
    expect([1, 10, 40, 400].map((size) => fragments(size * MB))).toEqual([128, 129, 258, 512]);
    expect(plan({ isObjectStore: true, liveBytes: 400 * MB, fragments: 129 })).toContain("compact");
  });

  test("indexes are brought up to date before a rewrite, so that all fragments become one", () => {
    expect(plan({ fragments: 600, indexes: tail(3), remembered: { scalar: 599, text: 599 } })).toEqual([
      "body",
      "id",
      "compact",
    ]);
  });

  test("rewrites data for the sake of space only when old versions can really go", () => {
    expect(plan({ deadBytes: 200 * MB, staleVersions: 0 })).toEqual([]);
    expect(plan({ deadBytes: 100 * MB, staleVersions: 9 })).toEqual([]);
    expect(plan({ deadBytes: 200 * MB, staleVersions: 9 })).toEqual(["compact"]);
  });
});
