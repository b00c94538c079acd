import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { loadLance } from "./lance.ts";

test("the binding and pond have one Arrow, which is one file", () => {
  const { arrow, lancedb } = loadLance();
  expect(lancedb.makeArrowTable([{ n: 1 }])).toBeInstanceOf(arrow.Table);
  const require = createRequire(import.meta.url);
  expect(require("apache-arrow")).toBe(arrow);
  const files = Object.values(require.cache).map((module) => module?.filename ?? "");
  expect(new Set(files.filter((file) => file.includes("/apache-arrow/"))).size).toBe(1);
});
