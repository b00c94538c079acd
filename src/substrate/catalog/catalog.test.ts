/** Opening stores and tables: isolation, identity, versions, and what is refused. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { defineTable, inspectStore, openStore, parseStorageUrl } from "../index.ts";
import { loadLance } from "../engine/lance.ts";
import { peekStore } from "../local/peek.ts";

const V1 = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" }, text: { type: "utf8", nullable: true } },
});
const V2 = defineTable({
  ...V1,
  version: 2,
  columns: {
    ...V1.columns,
    more: { type: "utf8", nullable: true, packed: "together" },
    n: { type: "int32", nullable: true },
    data: { type: "blob" },
  },
});

describe("a store", () => {
  test("lies where the layout says, and lists its tables", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path, { namespace: "team.a-1" });
    await store.table(V1);
    expect(readdirSync(join(dir.path, "team.a-1"))).toEqual(["notes.lance"]);
    expect(await store.tables()).toEqual(["notes"]);
  });

  test("keeps namespaces apart", async () => {
    await using dir = await tempDir();
    await using one = await openStore(dir.path, { namespace: "one" });
    await using two = await openStore(dir.path, { namespace: "two" });
    await (await one.table(V1)).insertRows([{ id: "1" }]);
    expect(await (await two.table(V1)).count()).toBe(0);
    expect(await one.id()).not.toBe(await two.id());
  });

  test.each(["", "..", "a/b", ".hidden", "a\0", "x".repeat(129)])(
    "refuses the namespace %j",
    async (namespace) => {
      await using dir = await tempDir();
      await expect(openStore(dir.path, { namespace })).rejects.toMatchObject({ code: "validation_failed" });
      expect(readdirSync(dir.path)).toEqual([]);
    },
  );

  test("keeps its identity until it is made anew", async () => {
    await using dir = await tempDir();
    const first = await openStore(dir.path);
    const id = await first.id();
    first.close();
    await using again = await openStore(dir.path);
    expect(await again.id()).toBe(id);
    await using elsewhere = await openStore(join(dir.path, "other"));
    expect(await elsewhere.id()).not.toBe(id);
  });

  test("is not made by a reader", async () => {
    await using dir = await tempDir();
    await expect(openStore(join(dir.path, "absent"), { create: false })).rejects.toMatchObject({
      code: "not_found",
      hint: expect.any(String),
    });
    expect(existsSync(join(dir.path, "absent"))).toBe(false);
    (await openStore(dir.path)).close();
    await using store = await openStore(dir.path, { create: false });
    await expect(store.table(V1)).rejects.toMatchObject({ code: "not_found" });
    expect(await store.tables()).toEqual([]);
  });

  test("can be looked at without the engine", async () => {
    await using dir = await tempDir();
    const url = parseStorageUrl(dir.path);
    expect(await peekStore(url)).toBeUndefined();
    await using store = await openStore(url);
    const notes = await store.table(V1);
    await notes.insertRows([{ id: "1" }]);
    expect(await peekStore(url)).toBeUndefined();
    await store.id();
    expect(await peekStore(url)).toMatchObject({
      id: await store.id(),
      marks: [],
      versions: { notes: await notes.version() },
    });
    expect(await peekStore(url, { namespace: "other" })).toBeUndefined();
    await notes.insertRows([{ id: "2" }]);
    expect((await peekStore(url))?.versions).toEqual({ notes: await notes.version() });
  });

  test("keeps the last marks of each reader, the newest first, however many are left", async () => {
    await using dir = await tempDir();
    const url = parseStorageUrl(dir.path);
    await using store = await openStore(url);
    await using second = await openStore(url);
    const id = await store.id();
    const marks: string[] = [];
    for (let at = 0; at < 70; at++)
      marks.unshift(await (at % 2 === 0 ? store : second).leaveMark("reader-1"));
    const other = await second.leaveMark("reader-2");
    expect(await peekStore(url, { reader: "reader-1" })).toMatchObject({ id, marks: marks.slice(0, 4) });
    expect((await peekStore(url, { reader: "reader-2" }))?.marks).toEqual([other]);
    expect((await peekStore(url, { reader: "reader" }))?.marks).toEqual([]);
    expect(await inspectStore(dir.path, "reader-1", {})).toEqual({ id, marks: marks.slice(0, 4) });
  });

  test("knows the commit of each version that is still there", async () => {
    await using dir = await tempDir();
    const url = parseStorageUrl(dir.path);
    await using store = await openStore(url);
    await store.id();
    const notes = await store.table(V1);
    await notes.insertRows([{ id: "1" }]);
    const peek = await peekStore(url);
    const version = await notes.version();
    expect(peek?.commitOf("notes", version)).toMatch(/^\d+-[0-9a-f-]{36}\.txn$/);
    expect(peek?.commitOf("notes", version)).not.toBe(peek?.commitOf("notes", version - 1));
    expect(peek?.commitOf("notes", version + 1)).toBeUndefined();
  });

  test("in memory lives as long as it is open", async () => {
    await using store = await openStore("memory://one");
    await using same = await openStore("memory://one");
    await using other = await openStore("memory://two");
    const notes = await store.table(V1);
    await notes.insertRows([{ id: "1" }]);
    expect(await (await same.table(V1)).count()).toBe(1);
    expect(await (await other.table(V1)).count()).toBe(0);
  });

  test("sees at once what another process commits", async () => {
    await using dir = await tempDir();
    await using one = await openStore(dir.path);
    const { lancedb } = loadLance();
    const notes = await one.table(V1);
    const other = await (await lancedb.connect(join(dir.path, "default"))).openTable("notes");
    await other.add([{ id: "x" }]);
    expect(await notes.count()).toBe(1);
  });

  test("drops only what can be made again", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const DERIVED = defineTable({ ...V1, name: "derived", derived: true });
    await (await store.table(DERIVED)).insertRows([{ id: "1" }]);
    await store.drop(DERIVED);
    expect(await (await store.table(DERIVED)).count()).toBe(0);
    await expect(store.drop(V1)).rejects.toMatchObject({ code: "internal" });
  });
});

describe("schema versions", () => {
  test("an older table gains the new nullable columns and keeps its rows", async () => {
    await using dir = await tempDir();
    const old = await openStore(dir.path);
    await (await old.table(V1)).insertRows([{ id: "1", text: "kept" }]);
    old.close();
    await using store = await openStore(dir.path);
    await using racing = await openStore(dir.path, { freshnessMs: 1 });
    const [notes] = await Promise.all([store.table(V2), racing.table(V2)]);
    await notes.insertRows([{ id: "2", more: "new", n: 7, data: new Uint8Array([1]) }]);
    const rows = await notes.scan({
      select: ["id", "text", "more", "n"],
      orderBy: [{ column: "id" }],
      withRowId: true,
    });
    expect([rows.string("text", 0), rows.stringOrNull("more", 0), rows.intOrNull("n", 0)]).toEqual([
      "kept",
      null,
      null,
    ]);
    expect([rows.stringOrNull("text", 1), rows.string("more", 1), rows.int("n", 1)]).toEqual([
      null,
      "new",
      7,
    ]);
    expect((await notes.fetchBlobs("data", rows.rowIds())).map((blob) => blob?.length ?? null)).toEqual([
      null,
      1,
    ]);
  });

  test("a newer table is refused", async () => {
    await using dir = await tempDir();
    for (const make of [V2, V1]) {
      const store = await openStore(dir.path, { namespace: `made-by-${make.version}` });
      await store.table(make);
      store.close();
    }
    const upgraded = await openStore(dir.path, { namespace: "made-by-1" });
    await upgraded.table(V2);
    upgraded.close();
    for (const namespace of ["made-by-1", "made-by-2"]) {
      await using store = await openStore(dir.path, { namespace });
      await expect(store.table(V1)).rejects.toMatchObject({
        code: "version_unsupported",
        data: { stored: 2, known: 1 },
        hint: expect.stringContaining("newer pond"),
      });
    }
  });

  test("an older table that lacks a column that cannot be null is refused", async () => {
    await using dir = await tempDir();
    const old = await openStore(dir.path);
    await old.table(V1);
    old.close();
    const RIGID = defineTable({ ...V1, version: 2, columns: { ...V1.columns, must: { type: "utf8" } } });
    await using store = await openStore(dir.path);
    await expect(store.table(RIGID)).rejects.toMatchObject({
      code: "version_unsupported",
      message: expect.stringContaining("must"),
    });
  });

  test("a declaration that makes no sense is refused where it is written", () => {
    expect(() => defineTable({ ...V1, name: "Bad Name" })).toThrow(/a name is/);
    expect(() => defineTable({ ...V1, name: "pond_x" })).toThrow(/does not begin with pond_/);
    expect(() => defineTable({ ...V1, primaryKey: ["text"] })).toThrow(/key column text/);
    expect(() => defineTable({ ...V1, indexes: [{ column: "nope", kind: "btree" }] })).toThrow(
      /no such column/,
    );
    expect(() => defineTable({ ...V1, indexes: [{ column: "id", kind: "btree" }] })).toThrow(
      /have one already/,
    );
    expect(() => defineTable({ ...V1, columns: { ...V1.columns, v: { type: "float16_vector" } } })).toThrow(
      /needs its dim/,
    );
  });
});

describe("the binding", () => {
  test("is the pinned version, with the one copy of Arrow that it knows", () => {
    const { lancedb, arrow } = loadLance();
    const versionOf = (name: string): unknown =>
      JSON.parse(readFileSync(new URL(`../../../node_modules/${name}/package.json`, import.meta.url), "utf8"))
        .version;
    expect([versionOf("@lancedb/lancedb"), versionOf("apache-arrow")]).toEqual(["0.39.0", "18.1.0"]);
    expect(lancedb.blob("x").type).toBeInstanceOf(arrow.Struct);
  });
});
