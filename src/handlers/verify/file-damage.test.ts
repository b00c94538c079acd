import { expect, test } from "vitest";
import { describeDamage } from "./file-damage.ts";

test.each([
  ["rows", true, "it holds rows of an old version"],
  ["deletions", true, "it holds which rows are deleted in an old version"],
  ["index", true, "it holds an index of an old version, which can be made again"],
  ["index", false, "it holds an index, which can be made again"],
  ["version", true, "it holds the list of files of an old version"],
  ["version", false, "it holds the list of files of a version"],
] as const)("a damaged file with %s (old: %s) is told as a sentence", (holds, is_old, said) => {
  const damage = { table: "parts", file: "f", what: "missing", holds, is_old } as const;
  expect(describeDamage(damage)).toBe(`parts.lance/f is missing; ${said}`);
});
