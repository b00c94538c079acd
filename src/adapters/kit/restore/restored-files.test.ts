import { expect, test } from "vitest";
import type { RestoredFile } from "./restore.ts";
import { RestoredFiles } from "./restored-files.ts";

const log = (path: string, ...records: readonly number[]): RestoredFile => ({ kind: "jsonl", path, records });
const bytes = (path: string, text: string): RestoredFile => ({
  kind: "bytes",
  path,
  data: Buffer.from(text),
});

test("equal content is one file, whoever it is of", () => {
  const files = new RestoredFiles();
  expect([files.add(log("a/x.jsonl", 1, 2), "one"), files.add(log("a/x.jsonl", 1, 2), "two")]).toEqual([
    "a/x.jsonl",
    "a/x.jsonl",
  ]);
  expect(files.list()).toEqual([log("a/x.jsonl", 1, 2)]);
});

test("other content stands beside the first, under a name of its own that keeps its kind", () => {
  const files = new RestoredFiles();
  files.add(log("a/x.jsonl", 1), "one");
  files.add(bytes("a/x.meta.json", "{}"), "one");
  const paths = [
    files.add(log("a/x.jsonl", 1, 2), "two"),
    files.add(log("a/x.jsonl", 3), "three"),
    files.add(bytes("a/x.meta.json", "{ }"), "two"),
  ];
  expect(paths).toEqual([
    expect.stringMatching(/^a\/x@[0-9a-f]{8}\.jsonl$/),
    expect.stringMatching(/^a\/x@[0-9a-f]{8}\.jsonl$/),
    expect.stringMatching(/^a\/x@[0-9a-f]{8}\.meta\.json$/),
  ]);
  expect(files.list()).toHaveLength(5);
  expect(new Set(files.list().map(({ path }) => path)).size).toBe(5);
});

test("a session with two contents for one name is refused", () => {
  const files = new RestoredFiles();
  for (const records of [1, 2]) files.add(log("x.jsonl", records), "one");
  expect(() => files.add(log("x.jsonl", 3), "one")).toThrow(/two files named x.jsonl/);
});
