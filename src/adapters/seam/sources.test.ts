/** Discovery and freshness: what a stat sweep sees, and what tells a grown file from a rewritten one. */
import { appendFile, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { stampFile, walk } from "./discovery.ts";
import type { FileCursor } from "./freshness.ts";
import { resumeOffset, tailHash } from "./freshness.ts";
import { SourceFile } from "./source-file.ts";
import { isSameStamp } from "./stamp.ts";

test("a walk finds accepted files in order, follows links once, and counts what it cannot read", async () => {
  await using folder = await tempDir();
  await mkdir(join(folder.path, "b/c"), { recursive: true });
  await mkdir(join(folder.path, "skip"));
  for (const name of ["b/c/2.jsonl", "a.jsonl", "b/1.jsonl", "b/note.txt", "skip/x.jsonl"])
    await writeFile(join(folder.path, name), "x");
  await symlink(folder.path, join(folder.path, "b/loop"));
  const { files, faults } = await walk(folder.path, {
    accepts: (name) => name.endsWith(".jsonl"),
    enters: (name) => name !== "skip",
  });
  const names = new Set(
    files.map(({ path }) => path.slice(folder.path.length + 1).replaceAll("b/loop/", "")),
  );
  expect([...names]).toEqual(["a.jsonl", "b/1.jsonl", "b/c/2.jsonl"]);
  expect(files.length).toBeLessThanOrEqual(6);
  expect(faults).toEqual([]);
  expect((await walk(join(folder.path, "absent"), { accepts: () => true })).files).toEqual([]);
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
  return { size, mtime, inode, device, offset, tail: tailHash(file, offset) };
}

function offsetFor(path: string, cursor: FileCursor): number {
  using file = SourceFile.open(path);
  return resumeOffset(file, cursor);
}
