/** A row that was edited with equal length and an unchanged time was not noticed: digests saw lengths and times only. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { DatabaseReader } from "../../src/adapters/opencode/parse/database.ts";
import { GoReader } from "../../src/adapters/opencode/parse/go-database.ts";
import { SqliteFile } from "../../src/adapters/kit/database/index.ts";
import { Client, Machine, SESSION } from "../support/opencode-machine.ts";
import { tempDir } from "../support/temp-dir.ts";

test("a part that was edited by hand is stored as it now is", async () => {
  await using machine = await Machine.start();
  using client = new Client(machine);
  client.message("msg_zz1", { role: "user", time: { created: machine.now }, agent: "build" });
  client.part("prt_zz1", "msg_zz1", { type: "text", text: "the word is aaaa" });
  machine.now += 3_600_000;
  await machine.sync();
  expect((await machine.texts()).at(-1)).toBe("the word is aaaa");
  client.run("UPDATE part SET data = replace(data, 'aaaa', 'bbbb') WHERE id = 'prt_zz1'");
  await machine.sync();
  expect((await machine.texts()).at(-1)).toBe("the word is bbbb");
  expect((await machine.verify()).unequal).toBe(0);
});

test("a change that left neither a log nor another count in the header is noticed", async () => {
  await using machine = await Machine.start();
  machine.now += 3_600_000;
  const change = (from: string, to: string): void => {
    using database = new DatabaseSync(join(machine.place, "opencode.db"));
    database.exec("PRAGMA journal_mode = WAL");
    database.prepare("UPDATE part SET data = replace(data, ?, ?)").run(from, to);
  };
  change('"text":"', '"text":"aaaa ');
  await machine.sync();
  expect((await machine.texts()).at(-1)).toContain("aaaa ");
  change('"text":"aaaa ', '"text":"bbbb ');
  await machine.sync();
  expect((await machine.texts()).at(-1)).toContain("bbbb ");
});

test.each([
  ["message", "UPDATE message SET data = replace(data, 'a', 'b') WHERE session_id = ?"],
  ["part", "UPDATE part SET data = replace(data, 'a', 'b') WHERE session_id = ?"],
  ["todo", "UPDATE todo SET content = replace(content, 'a', 'b') WHERE session_id = ?"],
])("the digest of a session sees what its rows of %s say", async (_table, sql) => {
  await using machine = await Machine.start();
  const path = join(machine.place, "opencode.db");
  using database = new DatabaseSync(path);
  const put = database.prepare(
    "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated) VALUES (?, 'aa', 's', 'p', 900, 1, 1)",
  );
  put.run(SESSION);
  const digest = async () => {
    await using file = await SqliteFile.open(path, machine.place);
    return (await new DatabaseReader(file, "opencode.db").digests()).get(SESSION);
  };
  const before = await digest();
  expect(await digest()).toBe(before);
  database.prepare(sql).run(SESSION);
  expect(await digest()).not.toBe(before);
});

test("the digest of a session of the first opencode does too", async () => {
  await using folder = await tempDir();
  const path = join(folder.path, "opencode.db");
  using database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, created_at INTEGER, updated_at INTEGER);
    CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER, updated_at INTEGER);
    CREATE TABLE files (id TEXT, session_id TEXT, content TEXT, created_at INTEGER, updated_at INTEGER);
    INSERT INTO sessions VALUES ('s', 't', 1, 1);
    INSERT INTO messages VALUES ('m', 's', 'user', '[]', 1, 1);
    INSERT INTO files VALUES ('f', 's', 'aa', 1, 1);`);
  const digest = async () => {
    await using file = await SqliteFile.open(path, folder.path);
    return (await new GoReader(file, "opencode.db").digests()).get("s");
  };
  const seen = new Set([await digest()]);
  database.exec("UPDATE files SET content = 'bb'");
  seen.add(await digest());
  database.exec("UPDATE messages SET parts = '{}'");
  seen.add(await digest());
  expect(seen.size).toBe(3);
});
