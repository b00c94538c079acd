import fc from "fast-check";
import { expect, test } from "vitest";
import { wordQuery } from "./words/query.ts";
import { cutAround, snippetOf } from "./snippet.ts";

const MOST = 900;

test("a short text is shown whole", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string(), (text, query) => {
      expect(snippetOf(text, wordQuery(query).terms)).toEqual({ text, length: text.length });
    }),
  );
});

test("of a long text the match is shown, the length is bounded, and no surrogate pair is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 900, maxLength: 3000 }), fc.nat(), (filler, at) => {
      fc.pre(!filler.toLowerCase().includes("needle"));
      const graphemes = Array.from(filler);
      const cut = at % graphemes.length;
      const text = `${graphemes.slice(0, cut).join("")} needle ${graphemes.slice(cut).join("")}`;
      const shown = snippetOf(text, wordQuery("the needle").terms);
      expect(shown.text).toContain("needle");
      expect(shown.text.length).toBeLessThan(MOST);
      expect(shown.text.isWellFormed()).toBe(true);
      expect(shown.length).toBe(text.length);
    }),
  );
});

test("the window goes where the words stand together", () => {
  const far = "alpha ".padEnd(3000, ".");
  const text = `${far}${far}alpha and beta meet here`;
  expect(snippetOf(text, ["alpha", "beta"]).text).toContain("alpha and beta meet here");
});

test("any position and any text gives a bounded, well-formed snippet", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 3000 }),
      fc.integer({ min: -1, max: 4000 }),
      (text, at) => {
        const shown = cutAround(text, at);
        expect(shown.text.length).toBeLessThan(MOST);
        expect(shown.text.isWellFormed()).toBe(true);
      },
    ),
  );
});

test("what would take too long to look for is not: many terms, and matches far behind", () => {
  const text = `${"filler ".repeat(1000)}needle ${"filler ".repeat(1000)}`;
  const terms = Array.from({ length: 2000 }, (_, at) => `absent${at}`);
  expect(snippetOf(text, [...terms.slice(0, 49), "needle"]).text).toContain("needle");
  expect(snippetOf(text, [...terms, "needle"]).text).not.toContain("needle");
  const far = `${"filler ".repeat(400_000)}needle ${"filler ".repeat(1000)}`;
  expect(snippetOf(far, ["needle"]).text).not.toContain("needle");
});
