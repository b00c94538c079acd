/** Where a text is cut: never within a character, never later than the estimate. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutToWindow, firstHalf } from "./window.ts";

test.each([
  ["x".repeat(30), 10, "x".repeat(30)],
  ["x".repeat(31), 10, "x".repeat(30)],
  ["\u0439".repeat(31), 10, "\u0439".repeat(20)],
  ["\u4e2d".repeat(31), 10, "\u4e2d".repeat(10)],
  ["\u{1f600}".repeat(31), 10, "\u{1f600}".repeat(10)],
  ["", 10, ""],
])("%s of %d tokens", (text, tokens, expected) => {
  expect(cutToWindow(text, tokens)).toBe(expected);
});

test("what is cut is a beginning, whole characters, and stays as it is when cut again", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.integer({ min: 1, max: 50 }),
      (text, tokens) => {
        const cut = cutToWindow(text, tokens);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        expect(cutToWindow(cut, tokens)).toBe(cut);
        expect(text === "" || cut !== "").toBe(true);
      },
    ),
  );
});

test("a half is whole characters, and never nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 20 }), (text) => {
      const half = firstHalf(text);
      expect(half.isWellFormed()).toBe(true);
      expect(half).not.toBe("");
      expect(text.startsWith(half)).toBe(true);
      expect(half.length).toBeLessThanOrEqual(text.length / 2 + 1.5);
    }),
  );
});
