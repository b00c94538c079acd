/** A manifest read by hand against what the engine and the disk say. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { defineTable, openStore } from "../index.ts";
import { manifestNames, parseManifest, readManifest, versionOfName } from "./manifest.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" }, text: { type: "utf8", nullable: true }, data: { type: "blob" } },
  indexes: [{ column: "text", kind: "fts" }],
});

test("every version names its files with their sizes, its indexes and the commit that made it", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  for (const id of ["a", "b", "c"])
    await notes.insertRows([{ id, text: `note ${id}`, data: new Uint8Array(200_000) }]);
  await notes.maintain();
  const directory = join(dir.path, "default", "notes.lance");
  const names = await manifestNames(directory);
  expect(names.map(versionOfName)[0]).toBe(await notes.version());
  const commits = new Set<string>();
  for (const name of names) {
    const manifest = await readManifest(directory, name);
    expect(manifest?.version).toBe(versionOfName(name));
    commits.add(manifest?.transaction ?? "");
    expect(existsSync(join(directory, "_transactions", manifest?.transaction ?? ""))).toBe(true);
    for (const { path, bytes } of manifest?.fragments.flatMap(({ files }) => files) ?? [])
      expect(statSync(join(directory, path)).size).toBe(bytes);
    for (const { folder } of manifest?.indexes ?? []) expect(existsSync(join(directory, folder))).toBe(true);
  }
  expect(commits.size).toBe(names.length);
  const newest = await readManifest(directory, names[0] ?? "");
  expect(newest?.fragments.map(({ rows }) => rows)).toEqual([1, 1, 1]);
  expect(newest?.indexes.map(({ name }) => name).toSorted()).toEqual(["id_btree", "text_fts"]);
  expect(await readManifest(directory, "00000000000000000000.manifest")).toBeUndefined();
});

test("what is cut off or is no manifest is not understood, and never taken for one without files", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  await (await store.table(NOTES)).insertRows([{ id: "a" }]);
  const directory = join(dir.path, "default", "notes.lance");
  const [name = ""] = await manifestNames(directory);
  const bytes = readFileSync(join(directory, "_versions", name));
  for (const wrong of [bytes.subarray(0, -1), bytes.subarray(1), Buffer.alloc(0), Buffer.alloc(bytes.length)])
    expect(() => parseManifest(wrong)).toThrow(/ it |^it /);
});
