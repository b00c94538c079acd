import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { spansOf } from "./provenance.ts";

const pieces = (text: string): string[] =>
  spansOf(text).map(({ start, end, injected }) => `${injected ?? "typed"}: ${text.slice(start, end)}`);

const SKILL = '<skill name="a" location="/s/SKILL.md">\nDo this.\n</skill>';

describe("what a person typed", () => {
  test("is the whole of a plain prompt, also of one that talks about tags", () => {
    for (const text of ["hello", "", "<b>bold</b>", "see <skill name=x>", `quote: ${SKILL}`])
      expect(pieces(text)).toEqual([`typed: ${text}`]);
  });

  test("is what follows a skill, and nothing when nothing does", () => {
    expect(pieces(`${SKILL}\n\nonly roses`)).toEqual([`skill: ${SKILL}\n\n`, "typed: only roses"]);
    expect(pieces(SKILL)).toEqual([`skill: ${SKILL}`]);
  });

  test("is what follows the files of the command line", () => {
    const files = '<file name="/a.txt">\none <file> </file>\n</file>\n<file name="/b.png"></file>\n';
    expect(pieces(`${files}compare`)).toEqual([`file: ${files}`, "typed: compare"]);
    expect(pieces('<file name="/a.txt">\nnever closed')).toEqual([
      'typed: <file name="/a.txt">\nnever closed',
    ]);
  });

  test("covers any text without gaps, in order", () => {
    const bit = fc.constantFrom(
      SKILL,
      "\n\n",
      "x",
      '<file name="/a">\n',
      "\n</file>\n",
      "</skill>",
      "<",
      "\ud83d",
    );
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 12 }), (bits) => {
        const text = bits.join("");
        const spans = spansOf(text);
        expect(spans[0]?.start).toBe(0);
        expect(spans.at(-1)?.end).toBe(text.length);
        for (const [index, span] of spans.slice(1).entries()) expect(span.start).toBe(spans[index]?.end);
      }),
    );
  });
});
