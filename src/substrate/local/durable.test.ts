/** What is synced before something is reported stored. */
import { mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { defineTable, openStore } from "../index.ts";
import { diskUse } from "./disk-use.ts";
import { Durability } from "./durable.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" }, body: { type: "utf8", nullable: true }, data: { type: "blob" } },
  indexes: [{ column: "body", kind: "fts" }],
});

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "latest_version_hint.json")
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith("_sums"))
    .toSorted();

describe("durability", () => {
  test("a commit syncs each of its files, then every directory on the way to them, and nothing twice", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const table = join(dir.path, "default", "notes.lance");
    const synced: string[] = [];
    const durability = new Durability(
      table,
      systemClock,
      (path) => (synced.push(relative(table, path)), Promise.resolve()),
    );
    await durability.settle();
    expect(synced.filter((name) => filesIn(table).includes(name)).toSorted()).toEqual(filesIn(table));
    expect(synced).toEqual(expect.arrayContaining(["", "..", "../.."]));
    const before = new Set(filesIn(table));
    synced.length = 0;
    await notes.insertRows([{ id: "1", body: "hello", data: new Uint8Array(9_000_000) }]);
    await notes.maintain({ force: true });
    await durability.settle();
    const fresh = filesIn(table).filter((name) => !before.has(name));
    expect(fresh.some((name) => name.endsWith(".blob"))).toBe(true);
    expect(synced.slice(0, fresh.length).toSorted()).toEqual(fresh);
    const directories = synced.slice(fresh.length);
    for (const name of ["", "data", "_versions", "_transactions", "_indices"])
      expect(directories).toContain(name);
    for (const name of fresh) expect(directories).toContain(relative(table, join(table, name, "..")));
    synced.length = 0;
    await durability.settle();
    expect(synced).toEqual([]);
  });

  test("folders that another process cleans away meanwhile are nobody's failure", async () => {
    await using dir = await tempDir();
    const table = join(dir.path, "notes.lance");
    const old = Array.from({ length: 300 }, (_, index) => join(table, `_indices/${index}`));
    mkdirSync(join(table, "_versions"), { recursive: true });
    for (const look of [() => new Durability(table, systemClock).settle(), () => diskUse(table, 0)]) {
      for (const path of old) mkdirSync(path, { recursive: true });
      const looking = look();
      // By now it has seen the folders, or is about to.
      await readdir(join(table, "_indices"));
      await readdir(join(table, "_indices"));
      for (const path of old) rmSync(path, { recursive: true });
      await expect(looking.then(() => "done")).resolves.toBe("done");
    }
  });

  test("a new process syncs what another one may have left unsynced, but not what is long written back", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await notes.insertRows([{ id: "1" }]);
    const table = join(dir.path, "default", "notes.lance");
    for (const name of filesIn(table)) utimesSync(join(table, name), 1, 1);
    await notes.insertRows([{ id: "2" }]);
    const synced: string[] = [];
    await new Durability(
      table,
      systemClock,
      (path) => (synced.push(relative(table, path)), Promise.resolve()),
    ).settle();
    const files = synced.filter((name) => filesIn(table).includes(name));
    expect(files.length).toBe(3);
    expect(files.some((name) => name.endsWith(".manifest"))).toBe(true);
  });
});
