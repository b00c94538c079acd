/** Filters mean what they say for any text, on a real table. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import {
  and,
  contains,
  eq,
  ge,
  isIn,
  isNull,
  lt,
  matches,
  not,
  or,
  type Predicate,
  startsWith,
} from "./predicate.ts";
import { defineTable, openStore } from "../index.ts";
import { gt, le, ne, renderPredicate } from "./predicate.ts";

const WORDS = defineTable({
  name: "words",
  version: 1,
  primaryKey: ["id"],
  columns: {
    id: { type: "utf8" },
    text: { type: "utf8", nullable: true },
    n: { type: "int64", nullable: true },
    at: { type: "timestamp_us", nullable: true },
    ok: { type: "bool", nullable: true },
  },
});

const AWKWARD = [
  "",
  "'",
  "''",
  "a'b",
  "\\",
  "\\'",
  "%",
  "_",
  "100%_",
  "\0",
  "a\0b",
  "\n",
  "\r\n",
  "\t",
  '"',
  "`id`",
  "--",
  "/*",
  ";",
  "1 OR 1=1",
  "\u2028",
  "\ufffd",
  "\u{1f600}",
  "e\u0301",
  "\u00e9",
  "SELECT",
  "$1",
  "?",
  "{}",
];

describe("predicates", () => {
  test("compare exactly, whatever characters the value holds", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const words = await store.table(WORDS);
    await words.insertRows(AWKWARD.map((id) => ({ id, text: `x${id}y` })));
    const ids = async (where: Predicate<typeof WORDS>): Promise<string[]> => {
      const rows = await words.scan({ select: ["id"], where });
      return Array.from({ length: rows.length }, (_, i) => rows.string("id", i)).toSorted();
    };
    for (const id of AWKWARD) {
      expect(await ids(eq("id", id))).toEqual([id]);
      expect(await words.count(ne("id", id))).toBe(AWKWARD.length - 1);
      expect(await ids(isIn("id", [id, "absent"]))).toEqual([id]);
      expect(await ids(startsWith("text", `x${id}`))).toEqual(
        AWKWARD.filter((other) => `x${other}y`.startsWith(`x${id}`)).toSorted(),
      );
      expect(await ids(contains("text", id))).toEqual(
        AWKWARD.filter((other) => `x${other}y`.includes(id)).toSorted(),
      );
    }
  });

  test("hold for random text, also in front of a btree", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const words = await store.table(WORDS);
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
    const stored = fc.sample(text, { numRuns: 200, seed: 7 });
    const distinct = [...new Set(stored)];
    await words.insertRows(distinct.map((id) => ({ id, text: id })));
    for (const id of distinct.slice(0, 60)) {
      expect(await words.count(eq("id", id))).toBe(1);
      expect(await words.count(startsWith("id", id))).toBe(
        distinct.filter((other) => other.startsWith(id)).length,
      );
    }
  });

  test("a lone surrogate equals no key, and equals its stored form elsewhere", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const words = await store.table(WORDS);
    await words.insertRows([{ id: "a\ufffd", text: "cut \ud83d here" }]);
    expect(await words.count(eq("id", "a\ud83d"))).toBe(0);
    expect(await words.count(ne("id", "a\ud83d"))).toBe(1);
    expect(await words.count(isIn("id", ["a\ud83d"]))).toBe(0);
    expect(await words.count(eq("text", "cut \ud83d here"))).toBe(1);
    expect(await words.count(contains("text", "\ud83d"))).toBe(1);
    await expect(words.insertRows([{ id: "a\ud83d" }])).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("order numbers and instants to the last unit", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const words = await store.table(WORDS);
    const at = 1_735_787_045_678_123;
    await words.insertRows([
      { id: "1", n: -5, at: at - 1, ok: true },
      { id: "2", n: 2n ** 62n, at, ok: false },
      { id: "3", n: 7, at: at + 1 },
      { id: "4", at: -1 },
      { id: "5", at: Number.MAX_SAFE_INTEGER },
      { id: "6", at: Number.MIN_SAFE_INTEGER },
    ]);
    expect(await words.count(eq("at", at))).toBe(1);
    expect(await words.count(lt("at", at))).toBe(3);
    expect(await words.count(le("at", at))).toBe(4);
    expect(await words.count(gt("at", at))).toBe(2);
    expect(await words.count(ge("at", at))).toBe(3);
    expect(await words.count(and(ge("at", at - 1), le("at", at + 1)))).toBe(3);
    expect(await words.count(eq("at", -1))).toBe(1);
    expect(await words.count(eq("at", Number.MAX_SAFE_INTEGER))).toBe(1);
    expect(await words.count(eq("at", Number.MIN_SAFE_INTEGER))).toBe(1);
    expect(await words.count(eq("n", 2n ** 62n))).toBe(1);
    expect(await words.count(lt("n", 0))).toBe(1);
    expect(await words.count(isNull("n"))).toBe(3);
    expect(await words.count(and(eq("ok", false), not(isNull("n"))))).toBe(1);
    expect(await words.count(or(eq("id", "1"), eq("id", "2"), isIn("id", [])))).toBe(2);
    expect(await words.count(and())).toBe(6);
    expect(await words.count(or())).toBe(0);
  });

  test("match regular expressions, and name a bad one as the caller's", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const words = await store.table(WORDS);
    await words.insertRows([
      { id: "1", text: "Error E0308 in src/lib.rs" },
      { id: "2", text: "fine" },
    ]);
    expect(await words.count(matches("text", "E\\d{4}"))).toBe(1);
    expect(await words.count(matches("text", "error", { ignoreCase: true }))).toBe(1);
    expect(await words.count(matches("text", "it's"))).toBe(0);
    await expect(words.count(matches("text", "("))).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("refuse what the table does not declare, before the engine sees it", () => {
    expect(() => renderPredicate(eq("nope", 1), WORDS)).toThrow(/no column "nope"/);
    expect(() => renderPredicate(eq("id = '' OR true --", "x"), WORDS)).toThrow(/no column/);
    expect(() => renderPredicate(eq("__proto__", "x"), WORDS)).toThrow(/no column/);
    expect(() => renderPredicate(eq("id", 5), WORDS)).toThrow(/cannot be compared/);
    expect(() => renderPredicate(eq("n", 1.5), WORDS)).toThrow(/cannot be compared/);
    expect(() => renderPredicate(eq("at", "2025-01-01"), WORDS)).toThrow(/cannot be compared/);
    expect(() => renderPredicate(contains("n", "1"), WORDS)).toThrow(/cannot be compared/);
  });
});
