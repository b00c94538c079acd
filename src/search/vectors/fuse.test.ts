/** Words and vectors as one ranking. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuse, nearness, scaleOf } from "./fuse.ts";

const scale = { least: 0.2, most: 0.8, alone: 0.45 };
const near = (entries: readonly (readonly [number, number])[]): ReadonlyMap<bigint, number> =>
  new Map(entries.map(([row, similarity]) => [BigInt(row), similarity]));
const words = (entries: readonly (readonly [number, number])[]) =>
  entries.map(([row, score]) => ({ row: BigInt(row), score }));

const firstOf = (scores: ReturnType<typeof fuse>): bigint | undefined =>
  [...scores].toSorted(([, a], [, b]) => b.fused - a.fused)[0]?.[0];

test("a name that one message has whole stays before what is only near", () => {
  const scores = fuse(words([[1, 8]]), { coverage: 1, scale, similarity: near([[2, 1]]) });
  expect(firstOf(scores)).toBe(1n);
});

test("of a query whose words hardly occur what is near comes first", () => {
  const scores = fuse(words([[1, 8]]), { coverage: 0.1, scale, similarity: near([[2, 0.9]]) });
  expect(firstOf(scores)).toBe(2n);
});

test("a message that both arms find is before one that either finds alone", () => {
  const found = words([
    [1, 8],
    [2, 8],
  ]);
  const similarity = near([
    [2, 0.6],
    [3, 0.6],
  ]);
  expect(firstOf(fuse(found, { coverage: 0.7, scale, similarity }))).toBe(2n);
});

test("without vectors the order by words is kept, and no measure of it matters", () => {
  const scores = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(
      scores,
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 9 }),
      (all, coverage, factor) => {
        const order = (times: number): readonly bigint[] => {
          const found = all.map((score, at) => ({ row: BigInt(at), score: score * times }));
          const fused = fuse(found, { coverage, scale, similarity: new Map() });
          return [...fused]
            .toSorted(([a, x], [b, y]) => y.words - x.words || Number(a - b))
            .map(([row]) => row);
        };
        expect(order(factor)).toEqual(order(1));
        const best = fuse(words([[0, all[0] ?? 1]]), { coverage, scale, similarity: new Map() }).get(0n);
        expect(best?.words).toBeCloseTo(coverage);
      },
    ),
  );
});

test("every score is from 0 to 1, whatever an engine answers", () => {
  const value = fc.double({ min: -2, max: 2, noNaN: true });
  fc.assert(
    fc.property(fc.array(value), fc.array(value), (scores, similarities) => {
      const found = scores.map((score, at) => ({ row: BigInt(at), score: Math.abs(score) }));
      const similarity = new Map(similarities.map((each, at) => [BigInt(at * 2), each]));
      for (const { words: own, vectors, fused } of fuse(found, { coverage: 1, scale, similarity }).values())
        for (const each of [own, vectors, fused]) expect(each >= 0 && each <= 1).toBe(true);
      expect(nearness(similarities[0] ?? 0, scaleOf(similarities, 3))).toBeLessThanOrEqual(1);
    }),
  );
});
