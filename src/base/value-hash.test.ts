import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "./json.ts";
import { equalJson, parseJson } from "./json.ts";
import { jsonValue } from "../../test/support/arbitrary-events.ts";
import { uuidFrom, valueHash } from "./value-hash.ts";

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
      fc.pre(isEncodable(a) && isEncodable(b));
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
])("%s and %s are two", (a, b) => expect(valueHash(parseJson(a))).not.toBe(valueHash(parseJson(b))));

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

/** Two lone surrogates have the same UTF-8 replacement, so they may hash alike; ids stay apart by their number. */
function isEncodable(value: JsonValue): boolean {
  return JSON.stringify(value).search(/\\ud[89a-f]/) === -1;
}
