import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { argumentWords, optionWords, shellLine, shellWord } from "./shell.ts";

test("any text is one word that a shell reads back as it is", () => {
  // What a process cannot be given at all is left out.
  const text = fc.string({ unit: "grapheme" }).filter((each) => !each.includes("\0"));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const read = execFileSync("sh", ["-c", script], { encoding: "utf8" });
      expect(read).toBe(words.map((word) => `${word}\0`).join(""));
    }),
    { numRuns: 30 },
  );
});

test("what needs no quotes has none", () => {
  expect(shellWord("0193a000-0000-7000-8000-000000000002")).toBe("0193a000-0000-7000-8000-000000000002");
  expect(shellWord("a; touch b")).toBe("'a; touch b'");
  expect(shellWord("")).toBe("''");
});

test("a value that looks like a flag is none", () => {
  expect(shellLine(optionWords("--resume", "abc"))).toBe("--resume abc");
  expect(shellLine(optionWords("--resume", "--yes; id"))).toBe("'--resume=--yes; id'");
  expect(shellLine(argumentWords("abc"))).toBe("abc");
  expect(shellLine(argumentWords("--yes"))).toBe("-- --yes");
  expect(shellWord("=ls")).toBe("'=ls'");
});
