/** What a batch takes, refuses and leaves unchanged. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPondError } from "../../base/errors.ts";
import { loadLance } from "../engine/lance.ts";
import { defineTable } from "../engine/spec.ts";
import { KeySet } from "../write/write.ts";
import { type Batch, BatchBuilder, MAX_BATCH_BYTES } from "./batch.ts";
import { fromHalf, toHalf } from "./half.ts";
import { Rows } from "./rows.ts";
import { fieldOf } from "./schema.ts";

const SPEC = defineTable({
  name: "things",
  version: 1,
  primaryKey: ["id"],
  columns: {
    id: { type: "utf8" },
    text: { type: "utf8", nullable: true },
    n: { type: "int32", nullable: true },
    flag: { type: "bool", nullable: true },
    at: { type: "timestamp_us", nullable: true },
    v: { type: "float16_vector", dim: 2, nullable: true },
    data: { type: "blob" },
    bits: { type: "binary", nullable: true },
  },
});
const builder = () => new BatchBuilder(loadLance(), SPEC);

test("a blob column is declared as the binding declares it", () => {
  const { lancedb } = loadLance();
  const field = fieldOf(loadLance(), { name: "data", column: SPEC.columns.data, spec: SPEC });
  expect(field).toEqual(lancedb.blob("data"));
});

describe("a batch", () => {
  test.each([
    ["a missing key", {}],
    ["a key that is no text", { id: 5 }],
    ["a lone surrogate in a key", { id: "a\ud800" }],
    ["an integer beyond 32 bits", { id: "1", n: 3e9 }],
    ["a fraction", { id: "1", n: 1.5 }],
    ["text in a number", { id: "1", n: "5" }],
    ["a number in text", { id: "1", text: 5 }],
    ["an unsafe instant", { id: "1", at: 2 ** 53 }],
    ["a vector of another length", { id: "1", v: [1] }],
    ["text as a blob", { id: "1", data: "x" }],
  ])("refuses %s and stays as it was", (_, row) => {
    const batch = builder();
    batch.add({ id: "0", text: "before" });
    expect(() => batch.addUntyped(row)).toThrow(expect.objectContaining({ code: "validation_failed" }));
    expect(batch.add({ id: "1", text: "after" })).toBe("added");
    const rows = Rows.fromIpc<typeof SPEC>(loadLance(), [batch.finish().ipc]);
    expect([rows.length, rows.string("text", 0), rows.string("text", 1)]).toEqual([2, "before", "after"]);
  });

  test("without the rows that are known is the batch of the others", () => {
    const value = fc.record({
      text: fc.option(fc.string({ unit: "grapheme" })),
      n: fc.option(fc.integer({ min: -5, max: 5 })),
      flag: fc.option(fc.boolean()),
      at: fc.option(fc.nat()),
      v: fc.option(fc.tuple(fc.nat(9), fc.nat(9))),
      data: fc.option(fc.uint8Array({ maxLength: 5 })),
      bits: fc.option(fc.uint8Array({ maxLength: 5 })),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, fc.boolean())), fc.array(value), (given, more) => {
        const rows = given.map(([row, isKnown], index) => ({ ...row, id: String(index), isKnown }));
        const known = new KeySet(rows.filter(({ isKnown }) => isKnown).map(({ id }) => id));
        const later = more.map((row, index) => ({ ...row, id: `later ${index}` }));
        const batch = builder();
        for (const row of rows) batch.addUntyped(row);
        batch.drop(known);
        for (const row of later) batch.addUntyped(row);
        const others = [...rows.filter(({ isKnown }) => !isKnown), ...later];
        const expected = builder();
        for (const row of others) expected.addUntyped(row);
        expect(batch.rows).toBe(others.length);
        expect(valuesOf(batch.finish())).toEqual(valuesOf(expected.finish()));
      }),
    );
  });

  test("lends its columns to the next one and stays as it was", () => {
    const first = builder();
    first.add({ id: "1", text: "first", flag: true });
    first.add({ id: "2" });
    const finished = first.finish();
    const before = Buffer.from(finished.ipc);
    const second = builder();
    second.add({ id: "3" });
    second.add({ id: "4", text: "second", flag: false });
    expect(valuesOf(second.finish())).toMatchObject([
      { id: "3", text: null, flag: null },
      { id: "4", text: "second", flag: false },
    ]);
    expect(finished.ipc.equals(before)).toBe(true);
  });

  test("cannot touch its columns once it is finished: they may be another's", () => {
    const first = builder();
    first.add({ id: "a", data: null });
    first.finish();
    for (const act of [
      () => first.finish(),
      () => first.drop(new KeySet(["a"])),
      () => first.refill("text", ["x"]),
      () => first.add({ id: "b", data: null }),
    ])
      expect(act).toThrow("this batch is finished");
  });

  test("takes a text column anew", () => {
    const batch = builder();
    for (const id of ["1", "2"]) batch.add({ id, text: "old", n: 7 });
    batch.refill("text", ["a", "b"]);
    expect(valuesOf(batch.finish())).toMatchObject([
      { id: "1", text: "a", n: 7 },
      { id: "2", text: "b", n: 7 },
    ]);
  });

  test("is full before it passes its bound, and takes one row alone beyond it", () => {
    const big = "x".repeat(30_000_000);
    const batch = builder();
    expect(batch.add({ id: "1", text: big })).toBe("added");
    expect(batch.add({ id: "2", text: big })).toBe("added");
    expect(batch.add({ id: "3", text: big })).toBe("full");
    expect(batch.add({ id: "4", text: "small" })).toBe("added");
    expect(batch.bytes).toBeLessThanOrEqual(MAX_BATCH_BYTES);
    expect(batch.rows).toBe(3);
    const alone = builder();
    expect(alone.add({ id: "1", text: "\u20ac".repeat(25_000_000) })).toBe("added");
    expect(alone.bytes).toBeGreaterThan(75_000_000);
    expect(alone.add({ id: "2" })).toBe("full");
    const error = (() => {
      try {
        return builder().add({ id: "1", data: new Uint8Array(1_000_000_001) });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(isPondError(error) && error.reason).toBe("limit");
  });

  test("an empty one is empty", () => {
    expect(Rows.fromIpc(loadLance(), [builder().finish().ipc]).length).toBe(0);
  });

  test("replaces lone surrogates in text by U+FFFD, as the store spells them", () => {
    const batch = builder();
    batch.add({ id: "1", text: "a\ud83d b" });
    const rows = Rows.fromIpc<typeof SPEC>(loadLance(), [batch.finish().ipc]);
    expect(rows.string("text", 0)).toBe("a\ufffd b");
  });
});

describe("half floats", () => {
  test("every half comes back as itself", () => {
    for (let half = 0; half < 0x10000; half++) {
      const value = fromHalf(half);
      if (Number.isNaN(value)) continue;
      expect(toHalf(value)).toBe(half);
    }
  });

  test("a float goes to the nearest half", () => {
    const halves = Array.from({ length: 0x7c00 }, (_, half) => fromHalf(half));
    fc.assert(
      fc.property(fc.float({ min: 0, max: 65504, noNaN: true }), (value) => {
        const got = Math.abs(fromHalf(toHalf(value)) - value);
        const at = halves.findIndex((half) => half >= value);
        const best = Math.min(
          ...[at - 1, at].flatMap((i) => (halves[i] === undefined ? [] : [Math.abs(halves[i] - value)])),
        );
        expect(got).toBe(best);
      }),
      { numRuns: 300 },
    );
  });
});

/** Every value, read back by Arrow itself. */
function valuesOf(batch: Batch<typeof SPEC>): unknown[] {
  const table = loadLance().arrow.tableFromIPC(batch.ipc);
  const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
  return JSON.parse(JSON.stringify(table.toArray(), plain));
}
