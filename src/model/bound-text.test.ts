import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostileText } from "../../test/support/arbitrary-events.ts";
import { boundText } from "./bound-text.ts";

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
