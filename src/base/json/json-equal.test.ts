/** Equality by value, and where it first fails. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { equalJson, firstDifference, type JsonValue, parseJson } from "./json.ts";

const same = (a: string, b: string): boolean => equalJson(parseJson(a), parseJson(b));

describe("equality", () => {
  it("ignores key order and number spelling", () => {
    expect(same('{"a":1,"b":[{"c":2,"d":3}]}', '{"b":[{"d":3.0,"c":2e0}],"a":10e-1}')).toBe(true);
    expect(same("1e400", "10e399")).toBe(true);
    expect(same("123456789012345678901", "1234567890123456789.01e2")).toBe(true);
    expect(same("1e-400", "0.1e-399")).toBe(true);
    expect(same("-0", "-0.0e7")).toBe(true);
    expect(equalJson(JSON.rawJSON("1.50"), 1.5)).toBe(true);
    expect(equalJson(JSON.rawJSON("-0"), -0)).toBe(true);
  });

  it("keeps apart what is only alike", () => {
    expect(same("0", "-0")).toBe(false);
    expect(equalJson(0, -0)).toBe(false);
    expect(same("12345678901234567890", "12345678901234567891")).toBe(false);
    expect(same("1e400", "-1e400")).toBe(false);
    expect(same("1e400", "1e401")).toBe(false);
    expect(same('{"rawJSON":"1e400"}', "1e400")).toBe(false);
    expect(same('"1"', "1")).toBe(false);
    expect(same("null", "{}")).toBe(false);
    expect(same("[]", "{}")).toBe(false);
    expect(same('{"a":null}', "{}")).toBe(false);
    expect(same('["\\ud83d"]', '["\\ufffd"]')).toBe(false);
    expect(same('{"__proto__":{}}', "{}")).toBe(false);
    expect(same('{"constructor":1}', '{"toString":1}')).toBe(false);
    expect(same("[1,2]", "[2,1]")).toBe(false);
  });

  it("holds between a value and its copy with keys in another order, and fails after any one change", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, seed) => {
        const json = JSON.stringify(value);
        const left = parseJson(json);
        expect(firstDifference(left, reversed(parseJson(json)))).toBeUndefined();
        const changed = changeOne(parseJson(json), seed);
        const difference = firstDifference(left, changed.value);
        expect(difference?.path).toBe(changed.path);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the first difference", () => {
  it.each([
    ["1", "2", "", 1, 2],
    ['{"a":1,"b":2}', '{"b":3,"a":1}', "/b", 2, 3],
    ['{"a":1}', "{}", "/a", 1, undefined],
    ["{}", '{"x/~":1}', "/x~1~0", undefined, 1],
    ["[1]", "[1,2]", "/1", undefined, 2],
    ['[{"a":[1,{"b":null}]}]', '[{"a":[1,{"b":0}]}]', "/0/a/1/b", null, 0],
    ['{"a":1,"b":2}', '{"a":1,"c":2}', "/b", 2, undefined],
    ['{"a":{"__proto__":1}}', '{"a":{}}', "/a/__proto__", 1, undefined],
  ])("of %s and %s is at %j", (...[a, b, path, left, right]) => {
    expect(firstDifference(parseJson(a), parseJson(b))).toEqual({ path, left, right });
  });

  it("is found below 100,000 levels", () => {
    expect(firstDifference(deep("1"), deep("1"))).toBeUndefined();
    expect(firstDifference(deep("1"), deep("2"))).toMatchObject({ left: 1, right: 2 });
  });
});

function deep(leaf: string): JsonValue {
  return parseJson("[".repeat(100_000) + leaf + "]".repeat(100_000));
}

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

/** Replaces the leaf or empty container that the seed's path leads to. */
function changeOne(value: JsonValue, seed: number): { readonly value: JsonValue; readonly path: string } {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return { value: "changed \u0000", path: "" };
  const entries = Object.entries(value);
  const at = seed % entries.length;
  const [key, member] = entries[at]!;
  const inner = changeOne(member, Math.floor(seed / 2));
  const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}${inner.path}`;
  if (Array.isArray(value)) return { value: value.with(at, inner.value), path };
  return { value: Object.fromEntries(entries.with(at, [key, inner.value])), path };
}
