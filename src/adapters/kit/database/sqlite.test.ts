import { hash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { compareRows } from "../restore/compare-rows.ts";
import { jsonOfSql, SqliteFile } from "./sqlite.ts";

const SCHEMA = "CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT, n INTEGER, r REAL, b BLOB)";

/** Names, sizes, times and content: what must be the same after a read. */
function fingerprint(folder: string): string[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const { size, mtimeMs, ino, mode } = statSync(path);
      return `${name} ${size} ${mtimeMs} ${ino} ${mode} ${hash("sha256", readFileSync(path), "hex").slice(0, 8)}`;
    });
}

interface Box {
  readonly folder: string;
  readonly path: string;
  readonly scratch: string;
}

/** A database that its client left in the given state, in a folder with a name that an address must escape. */
function prepare(root: string, state: "closed" | "killed" | "copied"): Box {
  const work = join(root, "work");
  const folder = join(root, "a b#?%41");
  mkdirSync(work);
  mkdirSync(folder);
  const client = new DatabaseSync(join(work, "c.db"));
  client.exec(`PRAGMA journal_mode = WAL; ${SCHEMA}; INSERT INTO t (id, n) VALUES ('one', 1)`);
  if (state === "closed") client.close();
  const suffixes = { closed: [""], killed: ["", "-wal", "-shm"], copied: ["", "-wal"] }[state];
  for (const suffix of suffixes) copyFileSync(join(work, `c.db${suffix}`), join(folder, `c.db${suffix}`));
  if (state !== "closed") client.close();
  return { folder, path: join(folder, "c.db"), scratch: join(root, "scratch") };
}

describe("opening", () => {
  test.each([
    ["closed", "immutable"],
    ["killed", "live"],
    ["copied", "copy"],
  ] as const)(
    "a database that was %s is read as %s, and nothing beside it changes",
    async (state, access) => {
      await using root = await tempDir();
      const { folder, path, scratch } = prepare(root.path, state);
      const before = fingerprint(folder);
      {
        await using file = await SqliteFile.open(path, scratch);
        expect(file.access).toBe(access);
        expect(file.all("SELECT id FROM t")).toEqual([{ id: "one" }]);
        expect(file.isUntouched()).toBe(true);
      }
      expect(fingerprint(folder)).toEqual(before);
      // A copy is gone with its reader: it may hold what is none of pond's business.
      expect(state === "copied" ? readdirSync(scratch) : []).toEqual([]);
    },
  );

  test("what a running client commits while pond reads is seen, and its files are not touched", async () => {
    await using root = await tempDir();
    const path = join(root.path, "live.db");
    using client = new DatabaseSync(path);
    client.exec(`PRAGMA journal_mode = WAL; ${SCHEMA}; INSERT INTO t (id) VALUES ('one')`);
    await using file = await SqliteFile.open(path, join(root.path, "scratch"));
    expect(file.access).toBe("live");
    const before = fingerprint(root.path);
    {
      using snapshot = file.transaction();
      void snapshot;
      expect(file.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 1n }]);
      expect(fingerprint(root.path)).toEqual(before);
      client.exec("INSERT INTO t (id) VALUES ('two')");
      expect(file.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 1n }]);
    }
    expect(file.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 2n }]);
    expect(readdirSync(root.path).toSorted()).toEqual(["live.db", "live.db-shm", "live.db-wal"]);
  });

  test("a writer that comes while an immutable database is read is noticed", async () => {
    await using root = await tempDir();
    const { path, scratch } = prepare(root.path, "closed");
    await using file = await SqliteFile.open(path, scratch);
    expect(file.isUntouched()).toBe(true);
    using client = new DatabaseSync(path);
    client.exec("INSERT INTO t (id) VALUES ('two')");
    expect(file.isUntouched()).toBe(false);
  });

  test("a change that was rolled back in a journal is not read", async () => {
    await using root = await tempDir();
    const path = join(root.path, "j.db");
    const client = new DatabaseSync(path);
    client.exec(`PRAGMA journal_mode = DELETE; ${SCHEMA}; INSERT INTO t (id, x) VALUES ('one', 'committed')`);
    client.exec("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN");
    const big = "y".repeat(100_000);
    client.prepare("UPDATE t SET x = ?").run(big);
    client.prepare("INSERT INTO t (id, x) VALUES ('two', ?)").run(big);
    const folder = join(root.path, "killed");
    mkdirSync(folder);
    for (const suffix of ["", "-journal"]) copyFileSync(path + suffix, join(folder, `j.db${suffix}`));
    client.exec("ROLLBACK");
    client.close();
    const before = fingerprint(folder);
    await using file = await SqliteFile.open(join(folder, "j.db"), join(root.path, "scratch"));
    expect(file.access).toBe("copy");
    expect(file.all("SELECT id, x FROM t")).toEqual([{ id: "one", x: "committed" }]);
    expect(fingerprint(folder)).toEqual(before);
  });

  test("a database too large to copy is refused, with the way out", async () => {
    await using root = await tempDir();
    const { path, scratch } = prepare(root.path, "copied");
    truncateSync(`${path}-wal`, 5 * 1024 ** 3);
    await expect(SqliteFile.open(path, scratch)).rejects.toMatchObject({
      code: "validation_failed",
      reason: "limit",
      hint: expect.stringContaining("client"),
    });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test.each([
    ["is not there", undefined, "not_found"],
    ["is no database", "not a database at all, but long enough to look at", "validation_failed"],
  ])("a file that %s is an error that names it", async (_, content, code) => {
    await using root = await tempDir();
    const path = join(root.path, "x.db");
    if (content !== undefined) writeFileSync(path, content.repeat(40));
    await expect(SqliteFile.open(path, root.path)).rejects.toMatchObject({
      code,
      message: expect.stringContaining("x.db"),
    });
  });
});

describe("values", () => {
  test("integers, infinities, blobs, NUL and text that is not UTF-8 are exact", async () => {
    await using root = await tempDir();
    const path = join(root.path, "v.db");
    const client = new DatabaseSync(path);
    client.exec(`${SCHEMA};
      INSERT INTO t VALUES ('a', 'he' || char(0) || 'llo', 9223372036854775807, 9e999, x'00ff');
      INSERT INTO t VALUES ('b', CAST(x'ff41' AS TEXT), -5, -9e999, NULL);
      INSERT INTO t VALUES ('c', char(65533), 0, 1.5, x'')`);
    client.close();
    await using file = await SqliteFile.open(path, root.path);
    const rows = file.all("SELECT * FROM t ORDER BY id").map((row) => file.exact("t", row, "id"));
    expect(JSON.stringify(rows)).toBe(
      JSON.stringify([
        {
          id: "a",
          x: "he\u0000llo",
          n: JSON.rawJSON("9223372036854775807"),
          r: JSON.rawJSON("9e999"),
          b: { blob: "AP8=" },
        },
        { id: "b", x: { blob: "/0E=" }, n: -5, r: JSON.rawJSON("-9e999"), b: null },
        { id: "c", x: "\uFFFD", n: 0, r: 1.5, b: { blob: "" } },
      ]),
    );
    expect(jsonOfSql(12n)).toBe(12);
  });

  test("a table that is not there has no columns, and a query that fails is an error that names the file", async () => {
    await using root = await tempDir();
    const { path, scratch } = prepare(root.path, "closed");
    await using file = await SqliteFile.open(path, scratch);
    expect(file.columns("t")).toEqual(["id", "x", "n", "r", "b"]);
    expect(file.columns("nothing")).toEqual([]);
    expect(() => file.all("SELECT absent FROM t")).toThrow(/c\.db: no such column/);
  });
});

describe("comparing rows", () => {
  const table = { name: "t", where: "id >= ?", value: "", key: ["id"] };
  const row = (id: string, x: object | string) =>
    typeof x === "string"
      ? { columns: { id, x, n: null, r: null, b: null }, json: {} }
      : { columns: { id, n: null, r: null, b: null }, json: { x: { ...x } } };

  test("by value, and both ways: a missing, an extra and another row are differences", async () => {
    await using root = await tempDir();
    const path = join(root.path, "r.db");
    const client = new DatabaseSync(path);
    client.exec(`${SCHEMA}; INSERT INTO t (id, x) VALUES ('a', '{"k": 1.0, "l": [2]}'), ('b', 'plain')`);
    client.close();
    await using file = await SqliteFile.open(path, root.path);
    const compare = (rows: readonly ReturnType<typeof row>[]) =>
      compareRows(file, { kind: "rows", path, tables: [{ ...table, rows }] });
    const a = row("a", { l: [2], k: 1 });
    expect(compare([a, row("b", "plain")])).toEqual({
      records: 2,
      equal: 2,
      counts: new Map([["t", 2]]),
    });
    expect(compare([a])).toMatchObject({ records: 2, equal: 1, difference: { pointer: '/t/["b"]' } });
    expect(compare([a, row("b", "plain"), row("c", "x")])).toMatchObject({ difference: { pointer: "/t" } });
    expect(compare([row("a", { k: 1, l: [3] }), row("b", "plain")])).toMatchObject({
      equal: 1,
      difference: { pointer: '/t/["a"]/x/l/0', left: 2, right: 3 },
    });
  });
});
