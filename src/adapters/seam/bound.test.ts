import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringifyJson } from "../../base/json.ts";
import { hostileText, jsonObject } from "../../../test/support/arbitrary-events.ts";
import { boundJson, boundText } from "./bound.ts";

describe("the size bound of a text", () => {
  test("a text that fits is the same text", () => {
    fc.assert(fc.property(hostileText, (text) => boundText(text, 10_000).text === text));
  });

  test("a text past it keeps its head and says how many bytes it had, within the limit, no pair cut in half", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 200 }),
        fc.integer({ min: 40, max: 150 }),
        (text, limit) => {
          const bytes = Buffer.byteLength(text);
          const bounded = boundText(text, limit);
          expect(bounded.truncated).toEqual({ bytes });
          expect(bounded.text.endsWith(`<pond:truncated ${bytes} bytes>`)).toBe(true);
          expect(Buffer.byteLength(bounded.text)).toBeLessThanOrEqual(limit);
          const head = bounded.text.slice(0, bounded.text.lastIndexOf("<pond:truncated"));
          expect(text.startsWith(head)).toBe(true);
          expect(head.isWellFormed()).toBe(text.slice(0, head.length).isWellFormed());
          expect(head === "" || !/[\ud800-\udbff]$/.test(head)).toBe(true);
        },
      ),
    );
  });
});

describe("the size bound of a JSON value", () => {
  test("a value that fits is the same object", () => {
    fc.assert(fc.property(jsonObject, (value) => boundJson(value, 1_000_000).value === value));
  });

  test("only long strings are cut, until the text fits; keys, numbers and short strings stay", () => {
    const value = {
      id: "abc",
      n: 12,
      nested: { long: "x".repeat(5000), short: "y" },
      list: ["z".repeat(3000), null],
    };
    const { value: bounded, truncated } = boundJson(value, 2000);
    expect(Buffer.byteLength(stringifyJson(bounded))).toBeLessThanOrEqual(2000);
    expect(bounded).toMatchObject({ id: "abc", n: 12, nested: { short: "y" } });
    expect(truncated.map(({ bytes }) => bytes)).toEqual([5000, 3000]);
  });

  test("millions of tiny values leave only the marker", () => {
    const value = { list: Array.from({ length: 5000 }, (_, index) => index) };
    expect(boundJson(value, 1000).value).toEqual({
      pond: { truncated: expect.stringMatching(/^<pond:truncated \d+ bytes>$/) },
    });
  });
});
