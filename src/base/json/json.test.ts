/** Exact JSON: hostile texts against an oracle that shares no code with the parser, and the values of the contract. */
import { inspect, isDeepStrictEqual } from "node:util";

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isPondError } from "../errors.ts";
import {
  decodeUtf8,
  equalJson,
  isJsonObject,
  isRawNumber,
  type JsonValue,
  parseJson,
  type ParsedJson,
  printJson,
  stringifyJson,
  tryParseJson,
} from "./json.ts";
import { parseSlowly } from "./json-slow.ts";

/** A text with what it must parse to: `value` is meaningless where `duplicates` is not empty. */
interface Case {
  readonly text: string;
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

const space = fc.constantFrom("", "", "", " ", "\t", "\n", "\r\n  ");
const around = (text: fc.Arbitrary<Case>): fc.Arbitrary<Case> =>
  fc.tuple(space, text, space).map(([left, inner, right]) => ({ ...inner, text: left + inner.text + right }));

const awkwardCharacters = Array.from('":\\/\n\t{}[],09.e- a\u0000\u2028\u00e9\ufeff\ufffd').concat(
  "\ud83d",
  "\ude00",
  "\ud83d\ude00",
);

/** One character as its value and one of its spellings, which cover every escape that JSON has. */
const character = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...awkwardCharacters),
      fc.string({ minLength: 1, maxLength: 1, unit: "binary" }),
    ),
    fc.constantFrom(shortSpelling, shortSpelling, unicodeSpelling),
  )
  .map(([plain, spell]) => ({ plain, spelling: spell(plain) }));

function shortSpelling(plain: string): string {
  return plain === "/" ? "\\/" : JSON.stringify(plain).slice(1, -1);
}

function unicodeSpelling(plain: string): string {
  return plain
    .split("")
    .map((unit) => unicodeEscape(unit.charCodeAt(0)))
    .join("");
}

function unicodeEscape(code: number): string {
  const digits = code.toString(16).padStart(4, "0");
  return `\\u${code % 2 === 0 ? digits : digits.toUpperCase()}`;
}

const awkward = [
  '":',
  '": 12345678901234567890',
  '":1,"a":2',
  "\\",
  '\\"',
  '\\\\":',
  " :",
  ", 1e400",
  "[-0,",
  "__proto__",
  "rawJSON",
];
const stringCase: fc.Arbitrary<Case> = fc
  .oneof(
    fc.array(character, { maxLength: 6 }),
    fc.constantFrom(...awkward).map((plain) => [{ spelling: JSON.stringify(plain).slice(1, -1), plain }]),
  )
  .map((characters) => ({
    text: `"${characters.map((c) => c.spelling).join("")}"`,
    value: characters.map((c) => c.plain).join(""),
    duplicates: [],
  }));

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from("000123456789")), minLength: 1, maxLength });
const numberText = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("", "", "-"),
      fc.oneof(
        fc.constant("0"),
        digits(24).map((all) => all.replace(/^0+(?=\d)/, "")),
      ),
      fc.oneof(
        fc.constant(""),
        digits(24).map((all) => `.${all}`),
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant("") },
        fc
          .tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), digits(3))
          .map((all) => all.join("")),
      ),
    )
    .map((all) => all.join("")),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.maxSafeInteger().map(String),
  fc.constantFrom(
    "0",
    "-0",
    "-0.0",
    "0e5",
    "-0e9",
    "5e-324",
    "4.9e-324",
    "1e400",
    "1e-400",
    "9007199254740993",
    "1.0",
    "1e2",
  ),
);
const numberCase: fc.Arbitrary<Case> = numberText.map((text) => ({
  text,
  value: numberOracle(text),
  duplicates: [],
}));

/** Exactness by integers alone: both decimals are brought to the smaller exponent and compared. */
function numberOracle(literal: string): JsonValue {
  const value = Number(literal);
  if (!Number.isFinite(value) || Object.is(value, -0)) return JSON.rawJSON(literal);
  const [a, aExponent] = scaled(literal);
  const [b, bExponent] = scaled(String(value));
  const low = Math.min(aExponent, bExponent);
  const isSame = a * 10n ** BigInt(aExponent - low) === b * 10n ** BigInt(bExponent - low);
  return isSame ? value : JSON.rawJSON(literal);
}

function scaled(literal: string): readonly [bigint, number] {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

const wordCase: fc.Arbitrary<Case> = fc
  .constantFrom(null, true, false)
  .map((value) => ({ text: String(value), value, duplicates: [] }));

const anyCase: fc.Arbitrary<Case> = fc.letrec<{ any: Case; array: Case; object: Case }>((tie) => ({
  any: around(
    fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      stringCase,
      numberCase,
      wordCase,
      tie("array"),
      tie("object"),
    ),
  ),
  array: fc.tuple(fc.array(tie("any"), { maxLength: 5 }), space).map(([items, gap]) => ({
    text: `[${items.length === 0 ? gap : items.map((item) => item.text).join(",")}]`,
    value: items.map((item) => item.value),
    duplicates: items.flatMap((item, at) => item.duplicates.map((path) => `/${at}${path}`)),
  })),
  object: fc
    .tuple(
      // Few distinct keys, so that duplicates are common and differ in spelling.
      fc.array(
        fc.tuple(
          around(fc.oneof(stringCase, fc.constantFrom("a", "b", "__proto__", "1", "~/").map(keyCase))),
          tie("any"),
        ),
        { maxLength: 5 },
      ),
      space,
    )
    .map(([members, gap]) => objectCase(members, gap)),
})).any;

function keyOf(key: Case): string {
  return typeof key.value === "string" ? key.value : "";
}

function keyCase(key: string): Case {
  return { text: JSON.stringify(key), value: key, duplicates: [] };
}

function objectCase(members: readonly (readonly [Case, Case])[], gap: string): Case {
  const seen = new Set<string>();
  const duplicates: string[] = [];
  for (const [key, member] of members) {
    const step = `/${keyOf(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (seen.has(step)) duplicates.push(step);
    seen.add(step);
    duplicates.push(...member.duplicates.map((path) => step + path));
  }
  return {
    text: `{${members.length === 0 ? gap : members.map(([key, member]) => `${key.text}:${member.text}`).join(",")}}`,
    value: Object.fromEntries(members.map(([key, member]) => [keyOf(key), member.value])),
    duplicates,
  };
}

function expected({ value, duplicates }: Case): ParsedJson {
  if (duplicates.length === 0) return { kind: "value", value };
  return { kind: "duplicate_keys", paths: [...new Set(duplicates)].slice(0, 16) };
}

/** `toEqual` sees neither minus zero nor what is a raw number. */
function expectSame(actual: unknown, wanted: unknown): void {
  expect(isDeepStrictEqual(actual, wanted), `${inspect(actual)} is not ${inspect(wanted)}`).toBe(true);
}

function nested(depth: number): string {
  return `${'{"a":['.repeat(depth / 2)}1${"]}".repeat(depth / 2)}`;
}

describe("parsing", () => {
  it("gives exactly what any hostile text says, by either path", () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        expectSame(tryParseJson(one.text), expected(one));
        expectSame(parseSlowly(one.text), expected(one));
      }),
      { numRuns: 4000 },
    );
    expect.hasAssertions();
  });

  it("refuses what JSON.parse refuses, at a character of the text", () => {
    const damaged = fc
      .tuple(
        anyCase,
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.constantFrom("", '"', ",", "\\", "]", "0", "-", "e", "\u0001", "tru"),
      )
      .map(
        ([{ text }, at, cut, put]) =>
          text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + cut),
      );
    fc.assert(
      fc.property(damaged, (text) => {
        const parsed = tryParseJson(text);
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(parsed.kind === "syntax").toBe(!isJson);
        expectSame(parseSlowly(text), parsed);
        const offset = parsed.kind === "syntax" ? parsed.offset : 0;
        expect(offset >= 0 && offset <= text.length).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["", 0, "the text ends before its value does"],
    ["{", 1, "a key in quotes is expected"],
    ['{"a" 1}', 5, "a colon is expected"],
    ["[1 2]", 3, "a comma or the end of the array is expected"],
    ["1 2", 2, "unexpected text after the value"],
    ["01", 1, "unexpected text after the value"],
    ["-", 1, "a digit is expected"],
    ["[1.]", 3, "a digit is expected"],
    ['["a\\x"]', 3, "an escape in a string is not one of JSON's"],
    ['["a\nb"]', 3, "a control character in a string is not escaped"],
    ['["ab', 4, "the text ends inside a string"],
    ["\ufeff{}", 0, "a value is expected"],
  ])("locates what is wrong in %j", (text, offset, message) => {
    expect(tryParseJson(text)).toEqual({ kind: "syntax", offset, message });
  });

  it("is not misled by the engine's memory of keys (nodejs/node#63785)", () => {
    const remembered = [parseJson('{"h":[],"\\\\":0}'), parseJson('{"\\":":1,"\\\\\\"":2}')];
    expect(parseJson('{"h":1,"\\"":2}')).toEqual({ h: 1, '"': 2 });
    expect(tryParseJson('{"\\":":1,"\\":":2}')).toEqual({ kind: "duplicate_keys", paths: ['/":'] });
    expect(remembered).toEqual([
      { h: [], "\\": 0 },
      { '":': 1, '\\"': 2 },
    ]);
  });

  it("sees a duplicate key behind any spacing and spelling", () => {
    expect(tryParseJson('{"a" :1,"a":2}')).toEqual({ kind: "duplicate_keys", paths: ["/a"] });
    expect(tryParseJson('{"a\\\\":1,"b":1,"b":2}')).toEqual({ kind: "duplicate_keys", paths: ["/b"] });
    expect(tryParseJson('[0,{"x/y":{"k":1,"\\u006b":1}}]')).toEqual({
      kind: "duplicate_keys",
      paths: ["/1/x~1y/k"],
    });
    expect(tryParseJson('{"__proto__":1,"__proto__":2}')).toEqual({
      kind: "duplicate_keys",
      paths: ["/__proto__"],
    });
  });

  it("names at most 16 duplicates", () => {
    const pairs = Array.from({ length: 40 }, (_, at) => `"k${at}":1,"k${at}":2`).join(",");
    const parsed = tryParseJson(`{${pairs}}`);
    expect(parsed.kind === "duplicate_keys" && parsed.paths.length).toBe(16);
  });

  it.each([
    "12345678901234567890",
    "0.12345678901234567890",
    "1e400",
    "1e-400",
    "-0",
    "-0.0",
    "9007199254740993",
  ])("keeps %s as its literal, alone, in an array and in an object", (literal) => {
    for (const text of [
      literal,
      `[${literal}]`,
      `[ ${literal} ]`,
      `[1,${literal}]`,
      `{"a":${literal}}`,
      `{"a": ${literal}}`,
    ])
      expect(stringifyJson(parseJson(text))).toBe(text.replaceAll(" ", ""));
  });

  it.each([
    ["1.0", 1],
    ["1e2", 100],
    ["0.1", 0.1],
    ["0.30000000000000004", 0.30000000000000004],
    ["5e-324", 5e-324],
    ["0e999", 0],
  ])("reads %s as a plain number", (literal, value) => expect(parseJson(`[${literal}]`)).toEqual([value]));

  it("tells an object with a rawJSON key from a raw number", () => {
    const value = parseJson('{"rawJSON":"1"}');
    expect(isRawNumber(value)).toBe(false);
    expect(isJsonObject(value)).toBe(true);
    expect(isJsonObject(parseJson("1e400"))).toBe(false);
    expect(isJsonObject([])).toBe(false);
    expect(isJsonObject(undefined)).toBe(false);
  });

  it("calls damage in stored text corrupt", () => {
    for (const text of ["{", '{"a":1,"a":1}'])
      expect(() => parseJson(text)).toThrow(
        expect.toSatisfy(
          (error) => isPondError(error) && error.code === "validation_failed" && error.reason === "corrupt",
        ),
      );
  });
});

describe("round trip", () => {
  it("gives back every value that a text can say", () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        fc.pre(one.duplicates.length === 0);
        const again = parseJson(stringifyJson(one.value));
        expectSame(again, one.value);
        expect(equalJson(again, one.value)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("survives 10,000 and 200,000 levels", () => {
    for (const depth of [10_000, 200_000]) {
      const text = nested(depth);
      expect(stringifyJson(parseJson(text)) === text).toBe(true);
      expect(equalJson(parseJson(text), parseJson(` ${text}`))).toBe(true);
    }
  });

  it("finds a duplicate key and a long number below 10,000 levels", () => {
    const text = nested(10_000);
    const duplicated = tryParseJson(text.replace("1", '{"x":1,"x":2}'));
    expect(duplicated.kind === "duplicate_keys" && duplicated.paths[0]?.endsWith("/0/x")).toBe(true);
    const long = text.replace("1", "12345678901234567890");
    expect(stringifyJson(parseJson(long)) === long).toBe(true);
  });

  it("survives a string of 50 MB, with and without the slow path", () => {
    const big = `\u0000\ud83d"\\":${"x".repeat(50_000_000)}`;
    for (const value of [
      { big, n: 1 },
      { big, n: JSON.rawJSON("12345678901234567890") },
    ])
      expect(equalJson(parseJson(stringifyJson(value)), value)).toBe(true);
  });

  it("survives a number of a million digits and an exponent of a million", () => {
    for (const text of [
      `[${"1".repeat(1_000_000)}]`,
      `[1e${"9".repeat(1_000_000)}]`,
      `[0.${"0".repeat(1_000_000)}1]`,
    ])
      expect(stringifyJson(parseJson(text)) === text).toBe(true);
  });
});

describe("decoding UTF-8", () => {
  it("keeps a byte order mark, NUL and every scalar value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const wellFormed = `\ufeff\u0000${text}`.toWellFormed();
        expect(decodeUtf8(Buffer.from(wellFormed))).toEqual({ ok: true, text: wellFormed });
        expect(decodeUtf8(new TextEncoder().encode(wellFormed))).toEqual({ ok: true, text: wellFormed });
      }),
    );
  });

  it("says at which byte the first ill-formed sequence starts", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 3 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom([0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xf0, 0x80])
        .map((b) => Buffer.from(b)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        const decoded = decodeUtf8(bytes);
        expect(decoded.ok ? bytes.length : decoded.offset).toBe(validBytes(bytes));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The longest prefix that a strict decoder takes. */
function validBytes(bytes: Uint8Array): number {
  for (let end = bytes.length; end > 0; end -= 1)
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end));
      return end;
    } catch {
      // A shorter prefix may be whole.
    }
  return 0;
}

describe("answers", () => {
  it("are printed as the native writer does, and one that is too deep for it without lines", () => {
    const answer = { a: [1, { b: undefined, c: "x" }], d: undefined };
    expect(printJson(answer, 2)).toBe(JSON.stringify(answer, undefined, 2));
    let deep: unknown = answer;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    const text = `${"[".repeat(10_000)}{"a":[1,{"c":"x"}]}${"]".repeat(10_000)}`;
    expect(printJson(deep, 0)).toBe(text);
    expect(printJson(deep, 2)).toBe(text);
  });
});
