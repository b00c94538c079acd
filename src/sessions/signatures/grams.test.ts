import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf, GRAM_BYTES, GramCounter, GramSet, mayContain } from "./grams.ts";

const utf8 = (text: string): Uint8Array => Buffer.from(text);

/** Sets that were filled in turns, as sessions that grew side by side are. */
function bitmapsOf(sessions: readonly (readonly string[])[]): Uint8Array[] {
  const counter = new GramCounter();
  const sets = sessions.map(() => new GramSet());
  const most = Math.max(...sessions.map((texts) => texts.length));
  for (let turn = 0; turn < most; turn++)
    for (const [at, set] of sets.entries()) counter.add(set, utf8(sessions[at]?.[turn] ?? ""));
  return sets.map((set) => set.toBitmap());
}

/** Of ASCII letters, each in one case or the other. */
const inAnyCase = (text: string, upper: readonly boolean[]): string =>
  text.replaceAll(/[a-z]/gi, (letter, at: number) =>
    upper[at % upper.length] === true ? letter.toUpperCase() : letter.toLowerCase(),
  );

const texts = fc.array(fc.string({ unit: "binary", maxLength: 200 }), { minLength: 1, maxLength: 5 });

describe("a signature", () => {
  test("never excludes a piece of one of its texts, in any case", () => {
    const piece = fc.record({
      sessions: fc.array(texts, { minLength: 1, maxLength: 3 }),
      which: fc.nat(),
      from: fc.nat(),
      length: fc.nat(),
      upper: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    });
    fc.assert(
      fc.property(piece, ({ sessions, which, from, length, upper }) => {
        const bitmaps = bitmapsOf(sessions);
        const at = which % sessions.length;
        for (const text of sessions[at] ?? []) {
          const start = from % (text.length + 1);
          const sought = text.slice(start, start + GRAM_BYTES + (length % 60));
          // A half of a character is another one in UTF-8.
          if (!sought.isWellFormed()) continue;
          const cells = cellsOf(utf8(inAnyCase(sought, upper)));
          if (cells !== undefined) expect(mayContain(bitmaps[at] ?? new Uint8Array(), cells)).toBe(true);
        }
      }),
    );
  });

  test("excludes nearly all that is not in its texts", () => {
    const words = Array.from({ length: 5000 }, (_, at) => `word${(at * 7919) % 5000} `);
    const [bitmap] = bitmapsOf([words]);
    const absent = Array.from({ length: 500 }, (_, at) => `missing_thing_${at * 31}_here`);
    const passed = absent.filter((text) => mayContain(bitmap!, cellsOf(utf8(text))!));
    expect(passed.length).toBeLessThan(5);
  });

  test("is as large as what is in it: 1.5 bits for each distinct run", () => {
    const text = Array.from({ length: 3000 }, (_, at) => `${at} `).join("");
    const set = new GramSet();
    const counter = new GramCounter();
    for (let again = 0; again < 20; again++) counter.add(set, utf8(text));
    expect(set.toBitmap().length).toBe(Math.ceil((set.size * 1.5) / 8));
    expect(set.size).toBeLessThan(text.length);
  });

  test("has no run across the end of a text", () => {
    const [bitmap] = bitmapsOf([["abcd", "efgh"]]);
    expect(mayContain(bitmap!, cellsOf(utf8("abcdefgh"))!)).toBe(false);
  });

  test("is not asked for what is shorter than a run", () => {
    expect(cellsOf(utf8("four"))).toBeUndefined();
    expect(cellsOf(utf8("five5"))).toHaveLength(1);
  });
});
