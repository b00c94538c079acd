/**
 * What this machine remembers of a store that is gone, went back or came back is said, and no advice leads in a circle
 * (spec.md#sync-marks): what is lost is named, what is the same is not called older.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { listSessions, repair, status, sync, verify, verifyStored } from "../../src/handlers/index.ts";
import { readLog } from "../../src/base/files/append-log.ts";
import { ID, Machine } from "../support/log-machine.ts";
import { s3Stub } from "../support/s3-stub.ts";
import { tempDir } from "../support/temp-dir.ts";
import { plainText } from "../../src/base/sentence.ts";

const OLDER = expect.stringContaining("an older copy is in its place");
const LOST = expect.stringContaining("neither on disk nor in this store");
const GONE = expect.stringContaining("is gone");

/** A store of three sessions, an older copy of which had one; the second and the third are only in the newer one. */
async function withOlderCopy(machine: Machine): Promise<void> {
  machine.write(ID.first);
  await machine.sync();
  machine.keep("older");
  machine.write(ID.second);
  machine.write(ID.third);
  await machine.sync();
}

test("what was stored before and is neither on disk nor in the older copy is named until it is found again", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.remove(ID.first, ID.second, ID.third);
  machine.putInPlace("older");
  const { notes } = await machine.sync();
  // The first is in the older copy.
  expect(notes).toEqual([OLDER, LOST]);
  expect(notes[1]).toContain("2 sources that were stored before");
  expect(notes[1]).toContain(machine.logOf(ID.second));
  expect(notes[1]).not.toContain(ID.first);
  for (let round = 0; round < 2; round++) {
    expect(await machine.troubles()).toMatchObject([{ status: "warn", message: LOST }]);
    const { lost } = await machine.run((context) => verify(context, {}));
    expect(lost).toMatchObject({
      message: LOST,
      sources: [ID.second, ID.third].map((id) => ({ session_id: id })),
    });
    expect(await machine.sync()).toMatchObject({ notes: [] });
  }

  // One is on disk again, and read.
  machine.write(ID.second);
  expect((await machine.troubles())[0]?.message).toContain("1 source that was stored before is neither");
  expect(await machine.sync()).toMatchObject({ inserted: 2, notes: [] });
  const [trouble] = await machine.troubles();
  expect(trouble?.message).toContain(ID.third);
  expect(trouble?.message).not.toContain(ID.second);

  // The newer copy is put back: it is gone on with, and nothing is called older.
  machine.putInPlace("away", "older again");
  expect((await machine.troubles()).map(({ message }) => message)).not.toContainEqual(OLDER);
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 0, notes: [] });
  expect(await machine.troubles()).toEqual([]);
});

test("a database that is gone is named, too", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("older");
  const data = join(folder.path, "home/.local/share/opencode");
  cpSync(join(import.meta.dirname, "../fixtures/adapters/opencode/data"), data, { recursive: true });
  await machine.sync();
  rmSync(data, { recursive: true });
  machine.putInPlace("older");
  const { notes } = await machine.sync();
  expect(notes).toEqual([OLDER, LOST]);
  expect(notes[1]).toContain(join(data, "opencode.db"));
});

test("the file that doctor names ends its warning", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.remove(ID.second, ID.third);
  machine.putInPlace("older");
  await machine.sync();
  const [trouble] = await machine.troubles();
  const file = /delete (\S+\.jsonl)/.exec(trouble?.fix ?? "")?.[1] ?? "";
  expect(existsSync(file)).toBe(true);
  rmSync(file);
  expect(await machine.troubles()).toEqual([]);
});

test("a log that had grown, of which the older copy has the beginning only", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("older");
  machine.write(ID.first, 4);
  await machine.sync();
  machine.remove(ID.first);
  machine.putInPlace("older");
  expect((await machine.sync()).notes).toEqual([OLDER, LOST]);
});

test("a log that was moved, and emptied logs, are not lost", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  writeFileSync(machine.logOf(ID.third), "");
  // One that is younger may still get its first record.
  utimesSync(machine.logOf(ID.third), 1_700_000_000, 1_700_000_000);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("older");
  machine.write(ID.second);
  await machine.sync();
  const moved = `${machine.logs}-moved`;
  mkdirSync(moved);
  renameSync(machine.logOf(ID.second), join(moved, `${ID.second}.jsonl`));
  machine.remove(ID.third);
  machine.putInPlace("older");
  expect((await machine.sync()).notes).toEqual([OLDER]);
});

test("an older copy twice in a row: what only the first one had is named, too", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("oldest");
  machine.write(ID.second);
  await machine.sync();
  machine.keep("older");
  machine.write(ID.third);
  await machine.sync();
  machine.remove(ID.second);
  machine.putInPlace("older");
  expect((await machine.sync()).notes).toEqual([OLDER]);
  machine.putInPlace("oldest", "away too");
  const { notes } = await machine.sync();
  expect(notes).toEqual([OLDER, LOST]);
  expect(notes[1]).toContain(ID.second);
});

test("a sync that was cut off while it read everything again is gone on with", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.remove(ID.second);
  machine.putInPlace("older");
  await machine.run(async (context) => {
    const stop = new AbortController();
    const store: Context["store"] = async () => {
      stop.abort();
      return await context.store();
    };
    await sync({ ...context, store, signal: stop.signal }, {});
  });
  expect(await machine.troubles()).toHaveLength(1);
  const { inserted, notes } = await machine.sync();
  expect(inserted).toBe(2);
  expect(notes).toContainEqual(LOST);
  expect((await machine.sync()).notes).toEqual([]);
});

test("a store that has vanished is told of by every command, and a new one is made of what is on disk", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  machine.write(ID.second);
  await machine.sync();
  machine.remove(ID.second);
  renameSync(machine.store, join(folder.path, "away"));

  const [trouble] = await machine.troubles();
  expect(trouble).toMatchObject({ status: "fail", message: GONE });
  expect(trouble?.fix).toMatch(/mount it or move it back.*storage\.url.*pond sync makes a new one/);
  expect(await machine.run((context) => status(context))).toMatchObject({
    exists: false,
    is_gone: true,
    last_sync: { messages: 4 },
  });
  await expect(machine.run((context) => listSessions(context, {}))).rejects.toMatchObject({
    code: "not_found",
    message: GONE,
    hint: expect.stringContaining("mount it or move it back"),
  });
  const dry = await machine.run((context) => sync(context, { dry_run: true }));
  expect(dry.notes).toEqual([GONE]);
  expect(existsSync(machine.store)).toBe(false);

  const { inserted, notes } = await machine.sync();
  expect(inserted).toBe(2);
  expect(notes).toEqual([GONE, LOST]);
  expect(notes[1]).toContain(ID.second);

  // The one that had vanished is back.
  machine.putInPlace("away", "made anew");
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 1, notes: [] });
  expect(await machine.troubles()).toEqual([]);
});

test("a store that has vanished is not made of nothing", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.removeClient();
  renameSync(machine.store, join(folder.path, "away"));
  expect((await machine.sync()).notes).toEqual([GONE]);
  expect(existsSync(machine.store)).toBe(false);
});

test("where there never was a store nothing is gone", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  expect((await machine.troubles())[0]).toMatchObject({ status: "warn", fix: "pond sync" });
  await expect(machine.run((context) => listSessions(context, {}))).rejects.toMatchObject({
    message: expect.stringMatching(/^there is no store at .*, the address given by /),
  });
  machine.write(ID.first);
  expect((await machine.sync()).notes).toEqual([]);
});

test("an exact copy in the store's place is the same store", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("copy");
  machine.putInPlace("copy");
  expect(await machine.troubles()).toEqual([]);
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 1, notes: [] });
});

test("the newer copy that is put back is gone on with, also after it was written to elsewhere", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.putInPlace("older");
  expect(await machine.sync()).toMatchObject({ inserted: 4, notes: [OLDER] });
  machine.putInPlace("away", "older");
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 3, notes: [] });
  machine.putInPlace("older", "newer");
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 3, notes: [] });
});

test("what only the older copy took in is named when the newer one is back", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.keep("older");
  machine.write(ID.second);
  await machine.sync();
  machine.putInPlace("older");
  machine.write(ID.third);
  await machine.sync();
  machine.remove(ID.third);
  machine.putInPlace("away", "older");
  const { notes } = await machine.sync();
  expect(notes).toEqual([LOST]);
  expect(notes[0]).toContain(ID.third);
});

test("the newer copy put back on an object store", async () => {
  await using folder = await tempDir();
  await using s3 = await s3Stub();
  const options = Object.entries(s3.storageOptions).map(
    ([name, value]) => [`POND_STORAGE_OPTIONS_${name.toUpperCase()}`, value] as const,
  );
  const machine = new Machine(folder.path, { POND_STORE: s3.url, ...Object.fromEntries(options) });
  const objects = s3.objects as Map<string, unknown>;
  const put = (kept: readonly (readonly [string, unknown])[]): void => {
    objects.clear();
    for (const [key, object] of kept) objects.set(key, object);
  };
  machine.write(ID.first);
  await machine.sync();
  const older = [...objects];
  machine.write(ID.second);
  await machine.sync();
  const newer = [...objects];
  put(older);
  expect(await machine.sync()).toMatchObject({ inserted: 2, notes: [OLDER] });
  put(newer);
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 2, notes: [] });
  objects.clear();
  expect(await machine.troubles()).toMatchObject([{ status: "fail", message: GONE }]);
  expect((await machine.sync()).notes).toEqual([GONE]);
});

test("status says when the last sync was, whatever copy of the store is in its place", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.putInPlace("older");
  expect(await machine.run((context) => status(context))).toMatchObject({
    exists: true,
    last_sync: { messages: 4 },
  });
});

test("an older copy and no sources: one sync settles it", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.removeClient();
  machine.putInPlace("older");
  expect(await machine.troubles()).toMatchObject([{ message: OLDER }]);
  expect((await machine.sync()).notes).toEqual([OLDER, LOST]);
  expect(await machine.troubles()).toMatchObject([{ message: LOST }]);
  expect((await machine.sync()).notes).toEqual([]);
});

test("rows that were taken out by a repair, and no sources: one sync settles it", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  machine.removeClient();
  await machine.run(async (context) => (await context.store()).forgetMarks());
  expect(await machine.troubles()).toHaveLength(1);
  await machine.sync();
  expect(await machine.troubles()).toEqual([]);
});

test("what is remembered of stores stays short, and names the copy in place last", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.putInPlace("older");
  await machine.sync();
  machine.putInPlace("away", "older");
  await machine.sync();
  const state = await machine.run(async ({ config }) => config.paths.state);
  const { values } = readLog(join(state, "stores.jsonl"));
  const before = values.length;
  await machine.sync();
  expect(readLog(join(state, "stores.jsonl")).values).toHaveLength(before);
  expect(readFileSync(join(state, "stores.jsonl"), "utf8")).not.toContain("incarnation");
});

test("verify names what went with an older copy before any sync, and repair hands on what its sync says", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  await withOlderCopy(machine);
  machine.remove(ID.second);
  machine.putInPlace("older");
  const lost = { message: LOST, sources: [{ session_id: ID.second }] };
  expect((await machine.run((context) => verify(context, {}))).lost).toMatchObject(lost);
  expect((await machine.run((context) => verifyStored(context, {}))).lost).toMatchObject(lost);
  const { notes } = await machine.run((context) => repair(context));
  expect(notes.map(plainText)).toEqual([OLDER, LOST]);
  expect(await machine.troubles()).toMatchObject([{ message: LOST }]);
  expect((await machine.run((context) => verify(context, {}))).lost).toMatchObject(lost);
  expect((await machine.run((context) => verifyStored(context, {}))).lost).toMatchObject(lost);
});

test("a database whose sessions are stored is not called lost with their states", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  const data = join(folder.path, "home/.local/share/opencode");
  cpSync(join(import.meta.dirname, "../fixtures/adapters/opencode/data"), data, { recursive: true });
  await machine.sync();
  rmSync(data, { recursive: true });
  machine.removeClient();
  rmSync(machine.table("sources"), { recursive: true });
  expect((await machine.run((context) => repair(context))).notes).toEqual([]);
  expect((await machine.troubles()).filter(({ message }) => message.includes("neither on disk"))).toEqual([]);
  const { clients, lost, unrecorded = 0 } = await machine.run((context) => verify(context, {}));
  expect({ clients, lost }).toEqual({ clients: [], lost: undefined });
  expect(unrecorded).toBeGreaterThan(0);
});
