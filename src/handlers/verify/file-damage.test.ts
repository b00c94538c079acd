import { expect, test } from "vitest";
import { describeDamage } from "./file-damage.ts";

test.each([
  ["rows", true, "it contains rows of an old version"],
  ["deletions", true, "it contains the list of deleted rows of an old version"],
  ["index", true, "it contains an index of an old version, which can be rebuilt"],
  ["index", false, "it contains an index, which can be rebuilt"],
  ["version", true, "it contains the list of files of an old version"],
  ["version", false, "it contains the list of files of a version"],
] as const)("a damaged file with %s (old: %s) is told as a sentence", (holds, is_old, said) => {
  const damage = { table: "parts", file: "f", what: "missing", holds, is_old } as const;
  expect(describeDamage(damage)).toBe(`parts.lance/f is missing; ${said}`);
});
