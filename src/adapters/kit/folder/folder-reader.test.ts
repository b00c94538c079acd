import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { FolderReader } from "./folder-reader.ts";

test("a file that is no JSON is read as its text, and its fault is reported once", async () => {
  await using dir = await tempDir();
  const path = join(dir.path, "a.json");
  writeFileSync(path, '{"a":');
  const reader = new FolderReader(dir.path);
  expect(reader.read(path)).toMatchObject({ value: { raw: '{"a":' }, stem: "a", bytes: 5 });
  reader.read(path);
  expect(reader.takeFaults()).toMatchObject([{ kind: "not_json", path }]);
  expect(reader.takeFaults()).toEqual([]);
  expect(reader.hasFaults).toBe(false);
});

test("a file that is gone is no fault, a folder in its place is one that stays known", async () => {
  await using dir = await tempDir();
  const folder = join(dir.path, "b.json");
  mkdirSync(folder);
  const reader = new FolderReader(dir.path);
  expect(reader.read(join(dir.path, "gone.json"))).toBeUndefined();
  expect(reader.hasFaults).toBe(false);
  expect([...reader.sideRecords([{ path: folder }])]).toEqual([
    { name: "file:b.json", source: { file: "b.json" }, at: 0, bytes: 0, isUnreadable: true },
  ]);
  expect(reader.isFaulty(folder)).toBe(true);
});

test("only JSON files are listed, by name; a folder that is not there has none", async () => {
  await using dir = await tempDir();
  for (const name of ["b.json", "a.json", "c.txt"]) writeFileSync(join(dir.path, name), "1");
  const reader = new FolderReader(dir.path);
  expect(reader.list("")).toEqual(["a.json", "b.json"]);
  expect(reader.list("gone")).toEqual([]);
});
