/**
 * Killed work leaves nothing behind (spec.md#storage-no-garbage): not beside the tables, and not in the folder for temporary
 * files. POND_TEST_KILLS says how many kills.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { ownedName } from "../../src/base/files/owned-name.ts";
import { sync } from "../../src/handlers/index.ts";
import { defineTable, openStore } from "../../src/substrate/index.ts";
import { writeLog } from "../support/aged-files.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";

const KILLS = Number(process.env["POND_TEST_KILLS"] ?? 3);
const SUBSTRATE = join(import.meta.dirname, "../../src/substrate/index.ts");

const DERIVED = defineTable({
  name: "derived",
  version: 1,
  derived: true,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" } },
});

/** A process that opens a store and is killed once it has: its temporary folder stays. */
async function openAndKill(store: string, temporary: string): Promise<void> {
  const code = `const { openStore } = await import(${JSON.stringify(SUBSTRATE)});
    await openStore(${JSON.stringify(store)});
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: "ignore",
  });
  await new Promise((done) => child.once("close", done));
}

const engineFolders = (temporary: string): string[] =>
  readdirSync(temporary).filter((name) => name.startsWith("pond-engine-"));

test("the engine's temporary folders of killed processes are removed by the next one, those of living ones are not", async () => {
  await using dir = await tempDir();
  const [store, temporary] = [join(dir.path, "store"), join(dir.path, "tmp")];
  mkdirSync(temporary);
  // Of this process, which lives, and of a machine that cannot be asked.
  const living = `${ownedName("pond-engine-")}abc123`;
  for (const name of [living, "pond-engine-00000000-1-1-abc123", "pond-engine-older"])
    mkdirSync(join(temporary, name));
  for (let kill = 0; kill < KILLS; kill++) await openAndKill(store, temporary);
  const left = engineFolders(temporary).filter((name) => !/older|00000000|abc123$/.test(name));
  expect(left).toHaveLength(1);
  expect(engineFolders(temporary)).toEqual(expect.arrayContaining([living, "pond-engine-older"]));
});

test("the engine's folders for sorting vectors go when it is done, and with whoever was killed", async () => {
  await using dir = await tempDir();
  const [store, temporary] = [join(dir.path, "store"), join(dir.path, "tmp")];
  mkdirSync(temporary);
  const derive = `const { defineTable, openStore } = await import(${JSON.stringify(SUBSTRATE)});
    const spec = defineTable({ name: "vectors", version: 1, primaryKey: ["id"], derived: true,
      columns: { id: { type: "utf8" }, vector: { type: "float16_vector", dim: 64 } },
      indexes: [{ column: "vector", kind: "vector", minRows: 300 }] });
    await using store = await openStore(${JSON.stringify(store)});
    const table = await store.table(spec);
    const vector = (n) => Array.from({ length: 64 }, (_, at) => ((n * 31 + at * 17) % 97) / 97);
    for (let from = 0; from < 600; from += 300) {
      await table.insertRows(Array.from({ length: 300 }, (_, n) => ({ id: String(from + n), vector: vector(from + n) })));
      await table.maintain({ force: true });
    }
    const { due } = await table.health();
    const { readdirSync } = await import("node:fs");
    process.stdout.write(JSON.stringify([due, readdirSync(process.env.TMPDIR, { recursive: true }).length]));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", derive], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await new Promise((done) => child.once("close", done));
  // While it runs, a folder of its own and the one that the engine makes with its cache.
  expect([said, readdirSync(temporary)]).toEqual(["[[],2]", []]);
});

test("tables that a killed process was making are removed a day later, not sooner", async () => {
  await using dir = await tempDir();
  (await openStore(dir.path)).close();
  const folder = join(dir.path, "default");
  const [old, young] = [join(folder, "pond_new_old.lance"), join(folder, "pond_new_young.lance")];
  for (const draft of [old, young]) mkdirSync(join(draft, "data"), { recursive: true });
  utimesSync(old, 1, 1);
  await using _ = await openStore(dir.path);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test("drafts of locks go a day later, too", async () => {
  await using dir = await tempDir();
  (await openStore(dir.path)).close();
  const locks = join(dir.path, "default", ".locks");
  mkdirSync(locks, { recursive: true });
  const [old, journal, young] = ["draft-1", "draft-1-journal", "draft-2"].map((name) => join(locks, name));
  for (const draft of [old!, journal!, young!, join(locks, "notes.sqlite")]) writeFileSync(draft, "");
  for (const draft of [old!, journal!, join(locks, "notes.sqlite")]) utimesSync(draft, 1, 1);
  await using _ = await openStore(dir.path);
  expect(readdirSync(locks).toSorted()).toEqual(["draft-2", "notes.sqlite"]);
});

test("a derived table that is dropped is gone at once, whatever the kill left of it", async () => {
  await using dir = await tempDir();
  const table = join(dir.path, "default", "derived.lance");
  {
    await using store = await openStore(dir.path);
    await (await store.table(DERIVED)).insertRows([{ id: "1" }]);
  }
  // Dies before it takes away the second file.
  const code = `import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    for (const call of ["unlink", "rm", "rmdir"])
      fs.promises[call] = () => process.kill(process.pid, "SIGKILL");
    syncBuiltinESMExports();
    const { openStore } = await import(${JSON.stringify(SUBSTRATE)});
    const store = await openStore(${JSON.stringify(dir.path)});
    await store.drop(${JSON.stringify(DERIVED)});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
  const signal = await new Promise((done) => child.once("close", (_, by) => done(by)));
  expect([signal, existsSync(table)]).toEqual(["SIGKILL", false]);
  await using store = await openStore(dir.path);
  expect(await (await store.table(DERIVED)).count()).toBe(0);
});

test("drafts and copies of databases in the state folder go a day later with the next sync", async () => {
  await using at = await tempContext();
  const { state } = at.context.config.paths;
  const names = ["stores.jsonl.new", "reader.123", "locks/a.lock.123", "locks/a.lock.123.dead"];
  const left = [...names, "cursors/a.jsonl.new", "syncs/a.jsonl.new", "scratch/sqlite-abc/a.db"];
  const young = ["cursors/b.jsonl.new", "locks/b.lock.123"];
  for (const name of [...left, ...young]) writeLog(join(state, name), [], 1);
  for (const name of young) utimesSync(join(state, name), systemClock.now() / 1000, systemClock.now() / 1000);
  utimesSync(join(state, "scratch/sqlite-abc"), 1, 1);
  writeLog(join(at.home, ".claude/projects/a/b.jsonl"), [{ type: "summary", summary: "s", leafUuid: "u" }]);
  await sync(at.context, { stages: ["import"] });
  expect(left.filter((name) => existsSync(join(state, name)))).toEqual([]);
  expect(young.filter((name) => existsSync(join(state, name)))).toEqual(young);
});
