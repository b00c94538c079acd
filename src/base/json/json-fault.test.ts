import * as fc from "fast-check";
import { expect, test } from "vitest";
import { equalJson, parseJson, stringifyJson, type JsonValue } from "./json.ts";
import { hiddenProperty, jsonFault } from "./json-fault.ts";

class Money {
  readonly amount = 5;
}

const nested = (levels: number, inside: unknown): unknown => {
  let value = inside;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const cycle: unknown[] = [];
cycle.push({ back: cycle });

// A hole, which no literal of this code base may have.
const sparse: unknown[] = [1];
sparse[2] = 3;

test.each<[string, unknown, string, string]>([
  ["NaN", { a: [1, Number.NaN] }, "/a/1", "NaN"],
  ["Infinity", { a: -Infinity }, "/a", "-Infinity"],
  ["minus zero", [-0], "/0", "minus zero"],
  ["undefined", { "a/b": undefined }, "/a~1b", "undefined"],
  ["a hole of an array", sparse, "/1", "undefined"],
  ["a function", { toJSON: () => 5 }, "/toJSON", "a function"],
  ["a bigint", 1n, "", "a bigint"],
  ["a symbol", [Symbol("s")], "/0", "a symbol"],
  ["a date", { at: new Date(0) }, "/at", "an instance of Date"],
  ["an instance of a class", [new Money()], "/0", "an instance of Money"],
  ["an array of a class", new (class Stack extends Array {})(), "", "an instance of Stack"],
  ["a map", new Map(), "", "an instance of Map"],
  ["bytes", Buffer.from("x"), "", "an instance of Buffer"],
  ["raw JSON that is a text", JSON.rawJSON('"x"'), "", "raw JSON that is not a number"],
  ["a value that contains itself", cycle, "/0/back", "a value that contains itself"],
])("%s is found, with its place", (_, value, path, what) => {
  expect(jsonFault(value)).toEqual({ path, what });
});

test.each<[string, unknown]>([
  ["an exact number", { cost: JSON.rawJSON("0.1234567890123456789"), zero: JSON.rawJSON("-0") }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
  ["a member named __proto__", JSON.parse('{"__proto__":{"a":1}}')],
  ["one object in two places", [cycle.slice(1), cycle.slice(1)]],
  ["10,000 levels", nested(10_000, "x")],
])("%s is JSON", (_, value) => expect(jsonFault(value)).toBeUndefined());

const hidden = Object.defineProperty({}, "h", { value: 1 });

test.each<[string, unknown, string, string]>([
  ["of an array", { "a/b": [Object.assign([1], { foo: 2 })] }, "/a~1b/0/foo", "a property of an array"],
  [
    "of an array by a symbol",
    [1, Object.assign([], { [Symbol("s")]: 2 })],
    "/1",
    "a property named by a symbol",
  ],
  ["by a symbol", { a: { [Symbol("s")]: 1 } }, "/a", "a property named by a symbol"],
  ["that is not enumerable", [hidden], "/0/h", "a property that is not enumerable"],
])("a property %s is found, with its place", (_, value, path, what) => {
  expect(jsonFault(value)).toBeUndefined();
  expect(hiddenProperty(value)).toEqual({ path, what });
});

test("JSON has no hidden property, at any depth and with exact numbers", () => {
  const plain = { a: [1, [], { b: JSON.rawJSON("1e400"), __proto__: null }], c: nested(10_000, "x") };
  expect(hiddenProperty(plain)).toBeUndefined();
  expect(hiddenProperty(nested(10_000, hidden))?.path.split("/")).toHaveLength(10_002);
});

test("what is wrong 10,000 levels down is found", () => {
  expect(jsonFault(nested(10_000, Number.NaN))?.what).toBe("NaN");
});

test("whatever is let through is printed and read back equal", () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    withBoxedValues: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      if (jsonFault(value) !== undefined) return;
      const json = value as JsonValue;
      expect(equalJson(parseJson(stringifyJson(json)), json)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test("whatever the native parser makes is let through, but for minus zero", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(jsonFault(JSON.parse(text.replaceAll("-0", "0")))).toBeUndefined();
    }),
  );
});
