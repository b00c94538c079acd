import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { defineTable, openStore } from "../../substrate/index.ts";
import { matches } from "../../substrate/engine/predicate.ts";
import { literalRuns } from "./literal-runs.ts";

describe("texts that every match contains", () => {
  test.each<[string, readonly (readonly string[])[]]>([
    ["error", [["error"]]],
    ["error: .* failed", [["error: ", " failed"]]],
    ["a\\.b\\(c\\)", [["a.b(c)"]]],
    ["colou?r", [["colo", "r"]]],
    ["ab*c", [["a", "c"]]],
    ["ab+c", [["ab", "c"]]],
    ["ab{2,3}c", [["ab", "c"]]],
    ["ab{0,3}c", [["a", "c"]]],
    ["ab+*c", [["a", "c"]]],
    ["ab+?c", [["ab", "c"]]],
    ["left|right", [["left"], ["right"]]],
    ["left|", [["left"], []]],
    ["x(left|right)y", [["x", "y"]]],
    ["x(?:left)y", [["x", "left", "y"]]],
    ["x(?P<name>left)+y", [["x", "left", "y"]]],
    ["x(left)?y", [["x", "y"]]],
    ["x(left){0}y", [["x", "y"]]],
    ["[a-z]+_id", [["_id"]]],
    ["[]x]left", [["left"]]],
    ["[^]x]left", [["left"]]],
    ["[\\]x]left", [["left"]]],
    ["\\d+ files", [[" files"]]],
    ["\\x41left", [["left"]]],
    ["\\x{41}left", [["left"]]],
    ["\\u0041left", [["left"]]],
    ["\\p{Greek}left", [["left"]]],
    ["\\pLleft", [["left"]]],
    ["\\bleft\\b", [["left"]]],
    ["^left$", [["left"]]],
    ["tab\\there", [["tab\there"]]],
    ["(?i)backoff", [["bac", "off"]]],
    ["(?i:left) right", [["left", " right"]]],
    ["(?i)caf\u00e9 ol\u00e9", [["caf", " ol"]]],
    ["(?m)^left", [["left"]]],
    ["\u{1f41f}+ pond", [["\u{1f41f}", " pond"]]],
  ])("%s", (pattern, runs) => {
    expect(literalRuns(pattern)).toEqual(runs);
  });

  test.each([
    "(?x)a b",
    "(?-u)left",
    "[[:alpha:]]left",
    "\\b{start}left",
    "left{",
    "left{ 2}",
    "(left",
    "left)",
    "a(?=b)",
    "(?<!a)b",
    "\\Qleft",
    "*a",
    "\\",
    "[a",
    `${"(".repeat(100)}a${")".repeat(100)}`,
  ])("nothing is claimed of %s", (pattern) => {
    expect(literalRuns(pattern)).toBeUndefined();
  });
});

const ALPHABET = ["a", "b", "k", "s", "S", "\u017f", "\u212a", "\u00e9", " ", "."];
const char = fc.constantFrom(...ALPHABET);
const escaped = char.map((each) => (each === "." ? "\\." : each));
const atom = fc.oneof(
  { weight: 5, arbitrary: escaped },
  { weight: 1, arbitrary: fc.constantFrom(".", "[ab]", "[^a]", "[]s]", "\\w", "\\b", "^", "$") },
);
const quantifier = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom("?", "*", "+", "{0}", "{1}", "{2,}", "{0,2}", "+?", "??") },
);
const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(atom, quantifier).map((each) => each.join("")),
    fc
      .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?P<n>"), tie("pattern"), quantifier)
      .map(([open, inside, times]) => `${open.replace("<n>", `<n${inside.length}>`)}${inside})${times}`),
  ),
  pattern: fc
    .array(fc.array(tie("piece"), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 2 })
    .map((alternatives) => alternatives.map((pieces) => pieces.join("")).join("|")),
}));

const TEXTS = defineTable({
  name: "texts",
  version: 1,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" }, text: { type: "utf8" } },
});
/** As signatures fold it. */
const folded = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

test("are in every text in which the engine finds a match of a pattern", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const table = await store.table(TEXTS);
  const texts = fc.sample(fc.array(char, { maxLength: 8 }), { numRuns: 1500, seed: 1 });
  await table.insertRows(texts.map((chars, at) => ({ id: String(at), text: chars.join("") })));
  let claims = 0;
  await fc.assert(
    fc.asyncProperty(fc.boolean(), pattern, async (anyCase, inner) => {
      const whole = anyCase ? `(?i)${inner}` : inner;
      const runs = literalRuns(whole);
      if (runs === undefined || runs.some((pieces) => pieces.length === 0)) return;
      const rows = await table
        .scan({ select: ["text"], where: matches("text", whole) })
        .catch(() => undefined);
      // Two groups of one name: the engine refuses the pattern.
      if (rows === undefined) return;
      for (let row = 0; row < rows.length; row++) {
        const text = folded(rows.string("text", row));
        const isClaimed = runs.some((pieces) => pieces.every((piece) => text.includes(folded(piece))));
        expect([whole, rows.string("text", row), isClaimed]).toEqual([whole, rows.string("text", row), true]);
        claims += 1;
      }
    }),
    { numRuns: 400 },
  );
  expect(claims).toBeGreaterThan(500);
});
