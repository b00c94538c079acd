/** Discovery and freshness: what a stat sweep sees, and what tells a grown file from a rewritten one. */
import { appendFile, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { stampFile, walk } from "./discovery.ts";
import type { FileCursor } from "./freshness.ts";
import { resumeOffset } from "./freshness.ts";
import { SourceFile } from "../files/source-file.ts";
import { isSameStamp } from "../files/stamp.ts";

test("a walk finds accepted files in order, follows links once, and counts what it cannot read", async () => {
  await using folder = await tempDir();
  await mkdir(join(folder.path, "b/c"), { recursive: true });
  await mkdir(join(folder.path, "skip"));
  for (const name of ["b/c/2.jsonl", "a.jsonl", "b/1.jsonl", "b/note.txt", "skip/x.jsonl"])
    await writeFile(join(folder.path, name), "x");
  await using outside = await tempDir();
  await writeFile(join(outside.path, "3.jsonl"), "x");
  await symlink(outside.path, join(folder.path, "b/first"));
  await symlink(outside.path, join(folder.path, "b/second"));
  await symlink(join(folder.path, "gone"), join(folder.path, "b/dangling"));
  const { files, faults } = await walk(folder.path, {
    accepts: (name) => name.endsWith(".jsonl"),
    enters: (name) => name !== "skip",
  });
  expect(files.map(({ path }) => path.slice(folder.path.length + 1))).toEqual([
    "a.jsonl",
    "b/1.jsonl",
    "b/c/2.jsonl",
    expect.stringMatching(/^b\/(?:first|second)\/3\.jsonl$/),
  ]);
  expect(faults).toEqual([]);
  expect((await walk(join(folder.path, "absent"), { accepts: () => true })).files).toEqual([]);
});

test("what a restore prepares is no source", async () => {
  await using folder = await tempDir();
  await mkdir(join(folder.path, ".pond-restore-1a2b-1-2-xyz/p"), { recursive: true });
  for (const name of [".pond-restore-1a2b-1-2-xyz/p/a.jsonl", "b.jsonl"])
    await writeFile(join(folder.path, name), "x");
  const { files } = await walk(folder.path, { accepts: () => true });
  expect(files.map(({ path }) => path)).toEqual([join(folder.path, "b.jsonl")]);
  // Unless it is named: the restore reads back what it prepared.
  const staged = await walk(join(folder.path, ".pond-restore-1a2b-1-2-xyz"), { accepts: () => true });
  expect(staged.files).toHaveLength(1);
});

test("a link that leads nowhere by itself is one fault, and the files beside it are found", async () => {
  await using folder = await tempDir();
  await writeFile(join(folder.path, "a.jsonl"), "x");
  await symlink("loop", join(folder.path, "loop"));
  const { files, faults } = await walk(folder.path, { accepts: () => true });
  expect(files.map(({ path }) => path)).toEqual([join(folder.path, "a.jsonl")]);
  expect(faults).toEqual([
    { path: join(folder.path, "loop"), message: expect.stringContaining("symbolic link") },
  ]);
});

test("a link back to the place, above it, or to a folder on the way is not followed", async () => {
  await using folder = await tempDir();
  const at = (path: string): string => join(folder.path, path);
  for (const path of ["home/place/p/q", "home/other", "away/deep", "home/place/r"])
    await mkdir(at(path), { recursive: true });
  for (const path of ["home/place/p/1.jsonl", "home/other/2.jsonl", "away/3.jsonl", "away/deep/4.jsonl"])
    await writeFile(at(path), "x");
  for (const [link, target] of [
    ["home/place/p/q/up", "../../../.."],
    ["home/place/p/q/top", "/"],
    ["home/place/p/q/here", "."],
    ["home/place/r/away", "../../../away"],
    ["away/deep/back", "../../home/place/r"],
    ["away/deep/home", "../../home"],
    ["away/deep/up", ".."],
    ["linked", "home/place"],
  ] as const)
    await symlink(target, at(link));
  const found = async (root: string): Promise<readonly string[]> =>
    (await walk(at(root), { accepts: (name) => name.endsWith(".jsonl") })).files.map(({ path }) =>
      path.slice(at(root).length + 1),
    );
  const all = ["p/1.jsonl", "r/away/3.jsonl", "r/away/deep/4.jsonl"];
  expect(await found("home/place")).toEqual(all);
  expect(await found("linked")).toEqual(all);
});

test("unchanged is fresh; grown goes on at its offset; rewritten, cut or replaced starts anew", async () => {
  await using folder = await tempDir();
  const path = join(folder.path, "log.jsonl");
  await writeFile(path, '{"a":1}\n{"b":2}\n');
  const cursor = await cursorOf(path, 16);
  expect(isSameStamp((await stampFile(path))!, cursor)).toBe(true);
  expect(isSameStamp((await stampFile(path))!, undefined)).toBe(false);

  await appendFile(path, '{"c":3}\n');
  expect(isSameStamp((await stampFile(path))!, cursor)).toBe(false);
  expect(offsetFor(path, cursor)).toBe(16);

  await writeFile(path, '{"a":1}\n{"x":9}\n{"c":3}\n');
  expect(offsetFor(path, cursor)).toBe(0);

  await truncate(path, 5);
  expect(offsetFor(path, cursor)).toBe(0);
});

async function cursorOf(path: string, offset: number): Promise<FileCursor> {
  const stamp = (await stampFile(path))!;
  using file = SourceFile.open(path);
  const { size, mtime, inode, device } = stamp;
  return { size, mtime, inode, device, offset, tail: file.tailHash(offset) };
}

function offsetFor(path: string, cursor: FileCursor): number {
  using file = SourceFile.open(path);
  return resumeOffset(file, cursor);
}
