import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "./json.ts";
import { equalJson, isRawNumber, parseJson } from "./json.ts";
import { jsonValue } from "../../../test/support/arbitrary-events.ts";
import { nameHash, uuidFrom, valueHash } from "./value-hash.ts";

test("equal values hash alike, whatever the order of keys", () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(valueHash(reversed(value))).toBe(valueHash(value));
      expect(valueHash(value)).toMatch(/^[0-9a-f]{32}$/);
    }),
  );
});

test("a value names a UUID of the random kind, always the same", () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      expect(uuidFrom(reversed(value))).toBe(uuidFrom(value));
      expect(uuidFrom(value)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }),
  );
});

test("values that differ hash apart", () => {
  fc.assert(
    fc.property(jsonValue, jsonValue, (a, b) => {
      expect(valueHash(a) === valueHash(b)).toBe(equalJson(a, b));
    }),
  );
});

test.each([
  ['{"a":1.0}', '{"a":1}'],
  ['{"a":1e2}', '{"a":100}'],
])("%s and %s are one value", (a, b) => expect(valueHash(parseJson(a))).toBe(valueHash(parseJson(b))));

test.each([
  ['["ab","c"]', '["a","bc"]'],
  ['{"a":{"b":1}}', '{"a":{},"b":1}'],
  ['["1"]', "[1]"],
  ["[null]", "[]"],
  [String.raw`"\ud800"`, String.raw`"\udfff"`],
  [String.raw`{"\ud83d":1}`, String.raw`{"\ud83e":1}`],
  [String.raw`"\ud800"`, String.raw`"\ufffd"`],
])("%s and %s are two", (a, b) => expect(valueHash(parseJson(a))).not.toBe(valueHash(parseJson(b))));

test("the hash of a value without lone surrogates is the one that stored ids were made of", () => {
  const value = parseJson(String.raw`{"b":[1,"\ud83d\ude00",null,true],"a":{"n":1e400,"s":"caf\u00e9"}}`);
  expect(valueHash(value)).toBe("191c85e5a50439bed17b97e900cdb307");
  expect(nameHash(value)).toBe(valueHash(value));
});

test("a record with a lone surrogate keeps the name that it was stored under", () => {
  expect(nameHash(parseJson(String.raw`"\ud800"`))).toBe("f3c9a4985ed8ac97a4fee4bf3447c2d8");
});

/** Plainly, with every piece tagged and length-prefixed: what stored hashes were made of. */
function described(value: JsonValue): string {
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value === null) return "z";
  if (isRawNumber(value)) return `r${value.rawJSON};`;
  if (Array.isArray(value)) return `a${value.length}:${value.map(described).join("")}`;
  const members = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, member]) => `${name.length}:${name}${described(member)}`);
  return `o${members.length}:${texts.join("")}`;
}

test("a hash is that of the described value, of texts of any length and script", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 100 }),
    fc.string({ unit: "grapheme", maxLength: 100 }),
    fc.integer({ min: 0, max: 250_000 }).map((length) => "\u00e9\u6f22".repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.oneof(text, jsonValue)), { maxLength: 40 }), (members) => {
      const value = Object.fromEntries(members) as JsonValue;
      const plain = described(value);
      if (!plain.isWellFormed()) return;
      expect(valueHash(value)).toBe(hash("sha256", plain, "hex").slice(0, 32));
      expect(nameHash(value)).toBe(valueHash(value));
    }),
    { numRuns: 50 },
  );
});

function reversed(value: JsonValue): JsonValue {
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value).toReversed())
    Object.defineProperty(copy, name, {
      value: reversed((value as JsonObject)[name] ?? null),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
}
