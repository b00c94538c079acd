/** The score of a message among its neighbours. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CountedText } from "../analysis/vocabulary.ts";
import { termOf, Vocabulary } from "../analysis/vocabulary.ts";
import { windowScore } from "./window-score.ts";

const countedTexts = (texts: readonly string[], terms: ReadonlySet<string>): readonly CountedText[] => {
  const vocabulary = new Vocabulary();
  const read = texts.map((text) => vocabulary.read(text));
  return vocabulary.count(read, terms);
};

const score = (texts: readonly string[], at: number, words: readonly string[]): number => {
  const weights = new Map(words.map((word) => [termOf(word), 1]));
  const counted = countedTexts(texts, new Set(weights.keys()));
  return windowScore(counted, at, { weights, averageLength: 5 });
};

test("a word of a neighbour counts, one that is further away does not", () => {
  const words = ["kettle", "cold"];
  const near = score(["the kettle", "why", "it is cold"], 0, words);
  expect(near).toBeGreaterThan(score(["the kettle", "why", "it is warm"], 0, words));
  const far = ["the kettle", "a", "b", "c", "d", "it is cold"];
  expect(score(far, 0, words)).toBe(score([...far.slice(0, -1), "it is warm"], 0, words));
});

test("the message that has the words itself is before its neighbours", () => {
  const texts = ["so", "the kettle is cold", "yes"];
  expect(score(texts, 1, ["kettle"])).toBeGreaterThan(score(texts, 0, ["kettle"]));
});

test("forms, accents, pieces of names and words without spaces are counted", () => {
  const counts = (text: string, word: string) =>
    countedTexts([text], new Set([termOf(word)]))[0]?.counts.get(termOf(word));
  expect(counts("retried twice", "retries")).toBe(1);
  expect(counts("retries", "retry")).toBe(1);
  expect(counts("caf\u00e9", "cafe")).toBe(1);
  expect(counts("retryBudgetMs", "budget")).toBe(0.5);
  expect(counts("\u7de9\u5b58\u932f\u8aa4\uff0c\u932f\u8aa4", "\u932f\u8aa4")).toBe(2);
});

test("no text and no order of neighbours gives less than nothing, and a match more than none", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 12 }), fc.nat(11), (texts, place) => {
      const at = place % texts.length;
      const before = score(texts, at, ["zebra"]);
      const after = score(texts.with(at, `${texts[at]} zebra`), at, ["zebra"]);
      expect(before).toBeGreaterThanOrEqual(0);
      expect(after).toBeGreaterThan(0);
    }),
  );
});
