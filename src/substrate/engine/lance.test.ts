import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { loadLance, newSession } from "./lance.ts";

test("the binding and pond have one Arrow, which is one file", () => {
  const { arrow, lancedb } = loadLance();
  expect(lancedb.makeArrowTable([{ n: 1 }])).toBeInstanceOf(arrow.Table);
  const require = createRequire(import.meta.url);
  expect(require("apache-arrow")).toBe(arrow);
  const files = Object.values(require.cache).map((module) => module?.filename ?? "");
  expect(new Set(files.filter((file) => file.includes("/apache-arrow/"))).size).toBe(1);
});

test("a folder for temporary files that was swept away is made anew", () => {
  const temp = mkdtempSync(join(tmpdir(), "pond-test-"));
  vi.stubEnv("TMPDIR", temp);
  vi.stubEnv("TEMP", temp);
  const open = (): unknown => newSession(loadLance(), { index: 1e6, metadata: 1e6 });
  try {
    open();
    const [first, ...others] = readdirSync(temp);
    expect(others).toEqual([]);
    rmSync(join(temp, first!), { recursive: true });
    open();
    expect(readdirSync(temp)).toHaveLength(1);
    open();
    expect(readdirSync(temp)).toHaveLength(1);
  } finally {
    vi.unstubAllEnvs();
    rmSync(temp, { recursive: true });
  }
});
