/** BERT's tokens, by examples of each of its rules and by what must hold for any text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WordPiece } from "./wordpiece.ts";

const PIECES = [
  ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "retry", "re", "##try", "##ing", "un", "##know", "##n"],
  ["cafe", "##s", "!", ".", "-", "$", "\u4e2d", "\u6587", "a", "##a", "Cafe", "\u30c6", "##\u30b9"],
].flat();
const ids = new Map(PIECES.map((piece, id) => [piece, id]));
const tokens = (text: string, { window = 64, folds = true } = {}): string[] =>
  new WordPiece({ ids, folds }).encode(text, window).ids.map((id) => PIECES[id] ?? `no piece ${id}`);
const inner = (text: string, folds = true): string => tokens(text, { folds }).slice(1, -1).join(" ");

describe("a text becomes", () => {
  test.each([
    ["", ""],
    ["the retry", "the retry"],
    ["  the\t\n\u00a0\u3000retry ", "the retry"],
    ["retrying", "retry ##ing"],
    ["unknown", "un ##know ##n"],
    ["THE Caf\u00e9s", "the cafe ##s"],
    ["cafe\u0301", "cafe"],
    ["the!retry.-$", "the ! retry . - $"],
    ["\u4e2d\u6587the", "\u4e2d \u6587 the"],
    ["\u30c6\u30b9", "\u30c6 ##\u30b9"],
    ["the zzz retry", "the [UNK] retry"],
    ["retryzz", "[UNK]"],
    ["r\u0000et\u200bry\ufffd", "retry"],
    ["a".repeat(100), `a${" ##a".repeat(99)}`],
    ["a".repeat(101), "[UNK]"],
    ["\ud83d", ""],
    ["\u{1f600} the", "[UNK] the"],
  ])("%j: %s", (text, expected) => {
    const encoded = new WordPiece({ ids, folds: true }).encode(text, 512);
    expect(encoded.ids.slice(1, -1).map((id) => PIECES[id])).toEqual(
      expected === "" ? [] : expected.split(" "),
    );
    expect(encoded.isCut).toBe(false);
  });

  test("letters as they are where the vocabulary has both cases", () => {
    expect(inner("Cafe cafe", false)).toBe("Cafe cafe");
  });
});

describe("the window", () => {
  test("has place for the tokens that open and close", () => {
    expect(tokens("the the the", { window: 5 })).toEqual(["[CLS]", "the", "the", "the", "[SEP]"]);
    expect(tokens("the the the the", { window: 5 })).toEqual(["[CLS]", "the", "the", "the", "[SEP]"]);
  });

  test.each([
    ["the the the", false],
    ["the the the ", false],
    ["the the the \u200b", false],
    ["the the the the", true],
    ["the the retrying", true],
  ])("of five, %j: cut is %s", (text, isCut) => {
    expect(new WordPiece({ ids, folds: true }).encode(text, 5).isCut).toBe(isCut);
  });
});

test("any text has tokens of the vocabulary, no more than the window, and a beginning of it a beginning of them", () => {
  const tokenizer = new WordPiece({ ids, folds: true });
  const word = fc.constantFrom(...PIECES, "caf\u00e9", "zzz", " ", "\n", "\u0301", "\u200b", "\u{20000}");
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(word, { maxLength: 30 }).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 3, max: 20 }), (text, window) => {
      const whole = tokenizer.encode(text, 1000);
      const cut = tokenizer.encode(text, window);
      expect(cut.ids.every((id) => Number.isInteger(id) && id >= 0 && id < PIECES.length)).toBe(true);
      expect([cut.ids.length <= window, cut.isCut]).toEqual([true, whole.ids.length > window]);
      expect(cut.ids.slice(0, -1)).toEqual(whole.ids.slice(0, cut.ids.length - 1));
    }),
  );
});

test("every beginning of a text can be encoded, also one that ends within a character", () => {
  const tokenizer = new WordPiece({ ids, folds: true });
  const text = "The caf\u00e9 \u4e2d\u6587 \u{1f600} re-try\u0301!";
  for (let end = 0; end <= text.length; end++)
    expect(tokenizer.encode(text.slice(0, end), 64).ids.at(-1)).toBe(ids.get("[SEP]"));
});

test("a vocabulary of another kind is refused", () => {
  expect(() => new WordPiece({ ids: new Map([["<s>", 0]]), folds: true })).toThrow(
    "the vocabulary has no [UNK]",
  );
});
