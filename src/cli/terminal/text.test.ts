/** Widths on a terminal, cutting, and text that cannot steer it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayWidth, oneLine, safeText, shorten, wrapText } from "./text.ts";

describe("width", () => {
  test.each<[what: string, text: string, width: number]>([
    ["ASCII", "pond", 4],
    ["nothing", "", 0],
    ["accents composed", "\u00e9t\u00e9", 3],
    ["accents as combining marks", "e\u0301te\u0301", 3],
    ["Cyrillic", "\u043f\u0440\u0443\u0434", 4],
    ["Han", "\u6c60\u5858", 4],
    ["kana and Hangul", "\u3044\u30b1\uc5f0\ubabb", 8],
    ["full-width Latin", "\uff30\uff2f", 4],
    ["half-width katakana with its voicing mark", "\uff76\uff9e", 2],
    ["emoji", "\u{1f986}", 2],
    ["emoji joined", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", 2],
    ["emoji with skin tone", "\u{1f44d}\u{1f3fd}", 2],
    ["a flag", "\u{1f1eb}\u{1f1f7}", 2],
    ["text made a picture", "\u2764\ufe0f", 2],
    ["the same as text", "\u2764", 1],
    ["Devanagari with marks", "\u0928\u093f", 1],
    ["a zero-width space", "a\u200bb", 2],
    ["beyond the first plane", "\u{20000}", 2],
    ["colours", "\x1b[31mred\x1b[39m", 3],
  ])("%s", (_, text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

test("cut text fits, is a prefix or suffix, and keeps graphemes whole", () => {
  expect(shorten("a long line", 8)).toBe("a lon...");
  expect(shorten("/home/me/src/pond", 10, "start")).toBe("...rc/pond");
  expect(shorten("\u6c60\u5858\u6c60\u5858", 6)).toBe("\u6c60...");
  expect(shorten("abc", 3)).toBe("abc");
  expect(shorten("abcdef", 2)).toBe("..");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 3, max: 20 }), (text, width) => {
      const cut = shorten(text, width);
      expect(displayWidth(cut)).toBeLessThanOrEqual(width);
      if (cut !== text) expect(text.startsWith(cut.slice(0, -3))).toBe(true);
    }),
  );
});

const CONTROL = /\p{Cc}/u;

test("escape sequences and direction marks are made visible", () => {
  expect(oneLine("a\n\tb  c\u00a0d ")).toBe("a b c d");
  expect(oneLine("\x1b[2Jgone\x07")).toBe("\\x1b[2Jgone\\x07");
  expect(oneLine("a\u202eb")).toBe("a\\u202eb");
  expect(safeText("two\n\tlines\x1b]0;title\x07\r")).toBe("two\n\tlines\\x1b]0;title\\x07\\x0d");
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x2100 })), (codes) => {
      const text = String.fromCharCode(...codes);
      expect(oneLine(text)).not.toMatch(CONTROL);
      expect(safeText(text).replaceAll(/[\n\t]/g, "")).not.toMatch(CONTROL);
    }),
  );
});

describe("wrapping", () => {
  test.each<[what: string, text: string, wrapped: string]>([
    ["between words", "the quick brown fox", "the quick\nbrown fox"],
    ["nothing that fits", "  the quick", "  the quick"],
    ["indented code at its words", "    if (a) return b;", "    if (a)\nreturn b;"],
    ["not what must be copied", "see /srv/a/very/long/path now", "see\n/srv/a/very/long/path\nnow"],
    [
      "between characters of a script without spaces",
      "\u6c60\u5858".repeat(4),
      "\u6c60\u5858".repeat(2) + "\u6c60\n\u5858\u6c60\u5858",
    ],
    ["by what is seen, not by colours", "\x1b[1mthe quick\x1b[22m brown", "\x1b[1mthe quick\x1b[22m\nbrown"],
  ])("%s", (_, text, wrapped) => {
    expect(wrapText(text, 11)).toBe(wrapped);
  });

  test("of any text changes white space alone, and no line of short words is too long", () => {
    const words = fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 9 }), { maxLength: 40 });
    fc.assert(
      fc.property(words, fc.integer({ min: 10, max: 30 }), (all, width) => {
        const text = all.join(" ");
        const wrapped = wrapText(text, width);
        expect(wrapped.replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
        for (const line of wrapped.split("\n"))
          if (/\S/.test(line)) expect(displayWidth(line.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });
});
