import { expect, test } from "vitest";
import { reachOf } from "./reach.ts";

const stretch = (from: number, to: number) => ({ from, to, lastKey: `${from}-${to}` });

test.each([
  ["nothing of nothing", [], 0, ""],
  ["one from the first row on", [stretch(0, 5)], 5, "0-5"],
  ["several that follow each other, in any order", [stretch(5, 9), stretch(0, 5)], 9, "5-9"],
  ["two processes that made the same", [stretch(0, 5), stretch(0, 7), stretch(5, 6)], 7, "0-7"],
  ["nothing behind a gap", [stretch(0, 5), stretch(6, 9)], 5, "0-5"],
  ["nothing whose beginning is missing", [stretch(5, 9)], 0, ""],
])("signatures reach: %s", (_, stretches, to, lastKey) => {
  expect(reachOf(stretches)).toMatchObject({ to, lastKey });
});
