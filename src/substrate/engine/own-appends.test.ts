import { expect, test } from "vitest";
import { OwnAppends } from "./own-appends.ts";

const batch = (...keys: readonly (readonly [group: string, key: string])[]) => ({
  groups: keys.map(([group]) => group),
  keyAt: (row: number): string => keys[row]?.join("/") ?? "",
});

test("of a table that was empty every group is known, while nobody else commits", () => {
  const own = new OwnAppends();
  own.isEmptyAt(3);
  expect(own.isNew("a", 3)).toBe(true);
  own.appended(batch(["a", "1"], ["b", "1"]), { before: 3, after: 4, isNew: false });
  expect(["a", "b", "c"].map((group) => own.isNew(group, 4))).toEqual([false, false, true]);
  expect(own.isNew("c", 5)).toBe(false);
  own.appended(batch(["c", "1"]), { before: 5, after: 6, isNew: false });
  expect(own.isNew("d", 6)).toBe(false);
});

test("the keys of the last group of a batch are known, also of one that an empty table cannot have had", () => {
  const own = new OwnAppends();
  own.isEmptyAt(1);
  own.appended(batch(["a", "1"], ["b", "1"]), { before: 1, after: 2, isNew: false });
  expect(own.of("a", 2)).toBeUndefined();
  expect(own.of("b", 2)?.has("b/1")).toBe(true);
  expect(own.of("b", 2)?.has("b/2")).toBe(false);
  expect(own.of("b", 3)).toBeUndefined();
});
