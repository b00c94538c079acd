/** A map that was kept and gone on with, however often, answers as one that never was. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../base/json/json.ts";
import { parseJson, stringifyJson } from "../../../base/json/json.ts";
import { DigestMap } from "./digest-map.ts";
import { integerField } from "../extract/extract.ts";

const resumeFrom = (state: JsonValue): DigestMap<number> =>
  new DigestMap({
    state: parseJson(stringifyJson(state)),
    valueOf: (group) => integerField(group, "value"),
  });

describe("a digest map", () => {
  test("answers as a plain map, wherever it was kept in between", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }),
      fc.nat(40).map((n) => `id-${n}`),
      fc.constantFrom("\ud800", "\udbff", "\ufffd", "__proto__", ""),
    );
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.tuple(text, fc.integer({ min: 1, max: 4 })) },
      { weight: 1, arbitrary: fc.constant("keep" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
        const plain = new Map<string, number>();
        let map = new DigestMap<number>();
        for (const one of steps) {
          if (one === "keep") map = resumeFrom(map.state());
          else {
            plain.set(...one);
            map.set(...one);
          }
        }
        const asked = [...plain.keys(), "never set", "\udfff"];
        for (const each of [map, resumeFrom(map.state())])
          for (const key of asked) expect([key, each.get(key)]).toEqual([key, plain.get(key)]);
      }),
    );
  });

  test("finds what it holds and nothing else, few or many times", () => {
    const map = new DigestMap<number>();
    for (let n = 0; n < 1000; n += 1) map.set(`id-${n}`, 1 + Number(n % 100 === 0));
    const kept = resumeFrom(map.state());
    for (let n = 0; n < 2000; n += 1) {
      const value = n < 1000 ? 1 + Number(n % 100 === 0) : undefined;
      expect([n, kept.get(`id-${n}`), kept.has(`id-${n}`)]).toEqual([n, value, value !== undefined]);
    }
  });

  test("is kept in sixteen characters a text, whatever the texts are", () => {
    const map = new DigestMap<number>();
    for (let n = 0; n < 1000; n += 1) map.set(`${n} ${"long ".repeat(100)}`, 1);
    expect(stringifyJson(map.state()).length).toBeLessThan(16 * 1000 + 100);
  });
});
