/** Prefixes beside cursors: kept with the cursor they belong to, or as good as not kept. */
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { Cursors } from "./cursors.ts";

const source = (key: string) => ({ adapter: "a", root: "/r", key });
const reached = (key: string, prefix?: string) => ({ source: source(key), stamp: "1", cursor: {}, prefix });
const filesBelow = (folder: string): string[] =>
  readdirSync(join(folder, "prefixes"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test("a prefix is there for the next process, for its own source and store only", async () => {
  await using folder = await tempDir();
  Cursors.open(folder.path, "one").advance(
    [reached("x", '{"n":1}'), reached("y"), reached("z", '{"n":3}')],
    "00ff",
  );
  const again = Cursors.open(folder.path, "one");
  expect(["x", "y", "z", "w"].map((key) => again.prefix(source(key)))).toEqual([
    '{"n":1}',
    undefined,
    '{"n":3}',
    undefined,
  ]);
  expect([again.get(source("x")), again.isFresh(source("x"), "1")]).toEqual([{}, true]);
  expect(Cursors.open(folder.path, "two").prefix(source("x"))).toBeUndefined();
});

test("sources without a prefix leave no file, and one that loses it takes its file along", async () => {
  await using folder = await tempDir();
  const cursors = Cursors.open(folder.path, "one");
  cursors.advance([reached("y")], "00ff");
  expect(readdirSync(folder.path)).toEqual(["cursors"]);
  cursors.advance([reached("x", "1")], "00ff");
  cursors.advance([reached("x", "2")], "00ff");
  expect(filesBelow(folder.path)).toHaveLength(1);
  expect(cursors.prefix(source("x"))).toBe("2");
  cursors.advance([reached("x")], "00ff");
  expect([filesBelow(folder.path), cursors.prefix(source("x"))]).toEqual([[], undefined]);
});

test("a damaged, foreign, older or missing prefix is none", async () => {
  await using folder = await tempDir();
  Cursors.open(folder.path, "one").advance([reached("x", "first"), reached("y", "other")], "00ff");
  const paths = filesBelow(folder.path);
  const older = paths.map((path) => readFileSync(path, "utf8"));
  Cursors.open(folder.path, "one").advance([reached("x", "second")], "00ff");
  const path = paths[older.indexOf("first")]!;
  const found = (text: string): string | undefined => {
    writeFileSync(path, text);
    return Cursors.open(folder.path, "one").prefix(source("x"));
  };
  expect(["second", "secon", "first", "other", ""].map(found)).toEqual([
    "second",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  rmSync(path);
  expect(Cursors.open(folder.path, "one").prefix(source("x"))).toBeUndefined();
});

test("what cannot be kept is not, and the cursor advances all the same", async () => {
  await using folder = await tempDir();
  writeFileSync(join(folder.path, "prefixes"), "not a folder");
  Cursors.open(folder.path, "one").advance([reached("x", "first")], "00ff");
  const again = Cursors.open(folder.path, "one");
  expect([again.get(source("x")), again.prefix(source("x"))]).toEqual([{}, undefined]);
});

test("prefixes of logs and stores that are long gone are swept", async () => {
  await using folder = await tempDir();
  Cursors.open(folder.path, "gone").advance([reached("x", "first")], "00ff");
  mkdirSync(join(folder.path, "prefixes/empty"));
  const [old] = filesBelow(folder.path);
  utimesSync(old!, new Date("2020-01-01"), new Date("2020-01-01"));
  const cursors = Cursors.open(folder.path, "one");
  cursors.advance([reached("y", "second")], "00ff");
  expect(filesBelow(folder.path)).toHaveLength(1);
  expect(cursors.prefix(source("y"))).toBe("second");
});
