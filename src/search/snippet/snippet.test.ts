import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wordQuery } from "../words/query.ts";
import { literalMarks, soughtWords, wordMarks } from "./marks.ts";
import type { Snippet } from "./snippet.ts";
import { snippetOf } from "./snippet.ts";

const MOST = 900;
const LEFT_OUT = / \[\.\.\. ([\d,]+) characters \.\.\.\]/g;

const byWords = (text: string, query: string): Snippet =>
  snippetOf(text, wordMarks(text, soughtWords(wordQuery(query))));
const byText = (text: string, literal: string): Snippet => snippetOf(text, literalMarks(text, literal));
/** What is highlighted. */
const lit = ({ text, highlights }: Snippet): string[] =>
  highlights.map(({ start, end }) => text.slice(start, end));

/** Any text: ASCII, letters that join, halves of pairs, long and short. */
const anyText = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.string({
        unit: fc.constantFrom(
          "a",
          " ",
          "\u0301",
          "\u{1f1e9}",
          "\u200d",
          "\u{1f469}",
          "\u767b",
          "\r",
          "\n",
          "\ud83d",
          "\u0e33",
          "\uac00",
          "\u11a8",
        ),
        maxLength: 300,
      }),
    ),
    fc.nat({ max: 12 }),
    fc.string({ unit: fc.constantFrom("needle", "Needles", " ", "hay", "\u0301"), maxLength: 40 }),
  )
  .map(([text, times, tail]) => text.repeat(times) + tail);

function edgesOf(text: string): Set<number> {
  const segments = [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)];
  return new Set([...segments.map(({ index }) => index), text.length]);
}

describe("of any text", () => {
  test.each([
    ["words", byWords],
    ["exact text", byText],
  ] as const)("found by %s", (_, found) => {
    fc.assert(
      fc.property(anyText, fc.constantFrom("needle", "a", "\u0301", "hay needle"), (text, query) => {
        const shown = found(text, query);
        const whole = text.toWellFormed();
        expect(shown.length).toBe(text.length);
        expect(shown.text.length).toBeLessThan(MOST);
        expect(shown.text.isWellFormed()).toBe(true);
        // Windows are what they say they are, and all that is neither of them is counted.
        const windows = shown.windows.length > 0 ? shown.windows : [{ start: 0, end: whole.length, at: 0 }];
        for (const { start, end, at } of windows)
          expect(shown.text.slice(start, end)).toBe(whole.slice(at, at + end - start));
        const seen = windows.reduce((sum, { start, end }) => sum + end - start, 0);
        const marks = windows.map(({ end }, i) => shown.text.slice(end, windows[i + 1]?.start)).join("");
        const left = [...marks.matchAll(LEFT_OUT)].map(([, count = ""]) => Number(count.replaceAll(",", "")));
        expect(seen + left.reduce((sum, count) => sum + count, 0)).toBe(whole.length);
        // Highlights: in order, apart, inside of a window, of whole characters.
        let last = -1;
        const edges = edgesOf(shown.text);
        for (const { start, end } of shown.highlights) {
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(start);
          expect(windows.some((window) => window.start <= start && end <= window.end)).toBe(true);
          expect([edges.has(start), edges.has(end)]).toEqual([true, true]);
          last = end;
        }
        // What is shown is never cut again, and what matches in it is the same.
        if (shown.windows.length === 0) expect(found(shown.text, query)).toEqual(shown);
        expect(found(shown.text, query).text).toBe(shown.text);
      }),
      { numRuns: 300 },
    );
  });

  test("it is cut between words where there are any, and never inside of a character", () => {
    const words = byWords(`${"filler words ".repeat(200)}the needle ${"more words ".repeat(200)}`, "needle");
    for (const { start, end } of words.windows)
      expect([/^\S*\b/.test(words.text.slice(start)), /\W$|\b$/.test(words.text.slice(0, end))]).toEqual([
        true,
        true,
      ]);
    expect(words.text).toMatch(
      /^filler words .* (filler|words)? ?\[\.\.\. [\d,]+ characters \.\.\.\]\n(filler|words|\s)/,
    );
    const family = "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}";
    const shown = byText(`${family.repeat(200)} needle ${family.repeat(200)}`, "needle");
    for (const { start, end } of shown.windows)
      expect(shown.text.slice(start, end).replaceAll(family, "")).toMatch(/^( needle )?$/);
  });
});

test("of a long text the match is shown", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 900, maxLength: 3000 }), fc.nat(), (filler, at) => {
      fc.pre(!filler.toLowerCase().includes("needle"));
      const graphemes = Array.from(filler);
      const cut = at % graphemes.length;
      const text = `${graphemes.slice(0, cut).join("")} needle ${graphemes.slice(cut).join("")}`;
      const shown = byWords(text, "the needle");
      expect(shown.text).toContain("needle");
      expect(lit(shown).join(" ")).toContain("needle");
      expect(shown.length).toBe(text.length);
    }),
  );
});

describe("highlighted is", () => {
  const cases: readonly [string, string, string, string[]][] = [
    ["a word in any case", "The Quick fox", "quick", ["Quick"]],
    ["another form of it", "she retried; a retry retries", "retries", ["retried", "retry", "retries"]],
    ["a form that ends otherwise", "Caching is on", "cache", ["Caching"]],
    [
      "all words but those that say nothing",
      "where is the pool of the driver",
      "where is the pool",
      ["pool"],
    ],
    ["the whole name", "call parseHttpRequest now", "parseHttpRequest", ["parseHttpRequest"]],
    ["a piece of a name", "call parseHttpRequest now", "http", ["Http"]],
    ["pieces next to each other as one", "parseHttpRequest", "http request", ["HttpRequest"]],
    ["a name in another spelling", "parse_http_request", "parseHttpRequest", ["parse", "http", "request"]],
    ["a word with accents by one without", "le caf\u00e9 cafe\u0301", "cafe", ["caf\u00e9", "cafe\u0301"]],
    ["a word without accents by one with", "un cafe", "caf\u00e9", ["cafe"]],
    [
      "a word of a script without spaces",
      "\u8bf7\u4fee\u590d\u767b\u5f55\u9875\u9762",
      "\u767b\u5f55",
      ["\u767b\u5f55"],
    ],
    [
      "the words of a Chinese question",
      "\u8fde\u63a5\u4e86\u6570\u636e\u5e93",
      "\u6570\u636e\u5e93\u8fde\u63a5",
      ["\u8fde\u63a5", "\u6570\u636e"],
    ],
    [
      "Japanese with Latin beside it",
      "Lance\u306e\u30c6\u30fc\u30d6\u30eb",
      "lance \u30c6\u30fc\u30d6\u30eb",
      ["Lance", "\u30c6\u30fc\u30d6\u30eb"],
    ],
    ["a letter that folds to two", "\u304c\u7f8e", "\u304c\u7f8e", ["\u304c\u7f8e"]],
    [
      "Cyrillic",
      "\u0418\u0441\u043f\u0440\u0430\u0432\u044c \u041e\u0448\u0438\u0431\u043a\u0443",
      "\u043e\u0448\u0438\u0431\u043a\u0443",
      ["\u041e\u0448\u0438\u0431\u043a\u0443"],
    ],
    ["nothing that only contains the word", "poolside carpool", "pool", []],
    [
      "a letter of Persian with what joins it",
      "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
      "\u0645\u06cc",
      ["\u0645\u06cc\u200c"],
    ],
  ];
  test.each(cases)("%s", (_, text, query, expected) => {
    expect(lit(byWords(text, query))).toEqual(expected);
  });

  test("exact text wherever it is, as it is", () => {
    expect(lit(byText("a.b a.b A.B axb", "a.b"))).toEqual(["a.b", "a.b"]);
    expect(lit(byText("aaaa", "aa"))).toEqual(["aaaa"]);
    const { text, highlights } = byText(`start ${"x".repeat(2000)} end`, "x".repeat(2000));
    expect(highlights.every(({ start, end }) => /^x+$/.test(text.slice(start, end)))).toBe(true);
    expect(highlights.length).toBeGreaterThan(0);
  });
});

describe("the window goes where", () => {
  const far = "alpha ".padEnd(3000, ".");
  test("most of the words are together", () => {
    expect(byWords(`${far}${far}alpha and beta meet here`, "alpha beta").text).toContain(
      "alpha and beta meet here",
    );
  });

  test("of equally many the rarer ones are", () => {
    const text = `${"alpha ".repeat(20)}beta ${far}${"alpha ".repeat(20)}gamma ${far} beta and gamma`;
    expect(byWords(text, "alpha beta gamma").text).toContain("beta and gamma");
  });

  test("nothing matches: the start is shown", () => {
    expect(byWords("filler ".repeat(500), "needle")).toMatchObject({
      highlights: [],
      windows: [{ start: 0, at: 0 }],
    });
  });
});

test("what would take too long to look for is not: many terms, and matches far behind", () => {
  const text = `${"filler ".repeat(1000)}needle ${"filler ".repeat(1000)}`;
  const terms = Array.from({ length: 2000 }, (_, at) => `absent${at}`);
  expect(byWords(text, `needle ${terms.join(" ")}`).text).toContain("needle");
  expect(byWords(text, `${terms.join(" ")} needle`).text).not.toContain("needle");
  const behind = `${"filler ".repeat(40_000)}needle ${"filler ".repeat(1000)}`;
  expect(lit(byWords(behind, "needle"))).toEqual(["needle"]);
  const far = `${"filler ".repeat(400_000)}needle ${"filler ".repeat(1000)}`;
  expect(byWords(far, "needle").text).not.toContain("needle");
});
