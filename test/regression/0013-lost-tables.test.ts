/**
 * A table that is lost whole is made anew by `pond repair` and by nobody else (spec.md#storage-lost-tables): whoever else
 * made one would hide that rows are missing. So is the identity of a store told of.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { doctor, listSessions, repair, status, sync, verifyFiles } from "../../src/handlers/index.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import { peekSessionStore } from "../../src/sessions/peek.ts";
import { rememberFaults } from "../../src/state/besides.ts";
import { knownReaderId } from "../../src/state/index.ts";
import { ID, Machine } from "../support/log-machine.ts";
import { story } from "../support/story.ts";
import { tempDir } from "../support/temp-dir.ts";

const REFUSED = {
  code: "storage_unavailable",
  message: expect.stringContaining("the store has lost its table"),
  hint: "run repair",
};

const TABLES = ["sessions", "messages", "parts", "sources"];

test("a lost table is made anew by no sync, and by repair", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  const before = await machine.run((context) => listSessions(context, {}));
  // Something is to be stored, and it is not what was lost.
  machine.write(ID.second);
  for (const table of TABLES) {
    const place = machine.table(table);
    renameSync(place, join(folder.path, table));
    await expect(machine.sync()).rejects.toMatchObject(REFUSED);
    const only = { stages: ["update-indexes"] } as const;
    await expect(machine.run((context) => sync(context, only))).rejects.toMatchObject(REFUSED);
    // A table can be renamed over an empty folder.
    mkdirSync(place);
    await expect(machine.sync()).rejects.toMatchObject(REFUSED);
    renameSync(join(folder.path, table), place);
  }
  rmSync(machine.table("sessions"), { recursive: true });
  machine.remove(ID.first, ID.second);
  await machine.run((context) => repair(context));
  const { sessions } = await machine.run((context) => listSessions(context, {}));
  expect(sessions.map(({ id }) => id)).toEqual(before.sessions.map(({ id }) => id));
  await machine.sync();
});

test("all tables but the identity's lost, in which a reader left its mark", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  // Summaries are there only where something but an import ran.
  for (const table of [...TABLES, "summaries"])
    rmSync(machine.table(table), { recursive: true, force: true });
  await expect(machine.sync()).rejects.toMatchObject({
    ...REFUSED,
    message: expect.stringContaining("its tables sessions, messages, parts"),
  });
  const files = await machine.run((context) => verifyFiles(context));
  expect(files?.damage.map(({ table }) => table)).toEqual(["sessions", "messages", "parts"]);
});

test("a repair that was killed when it had made the table leaves no mark that cursors hold by", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  const marks = (): Promise<readonly string[] | undefined> =>
    machine.run(async ({ address, config }) => {
      const reader = knownReaderId(config.paths.state);
      return (await peekSessionStore({ ...address, options: {} }, reader))?.marks;
    });
  const [mark = ""] = (await marks()) ?? [];
  expect(mark).not.toBe("");
  rmSync(machine.table("messages"), { recursive: true });
  await machine.run((context) => context.store({ remakesLost: true }));
  expect(await marks()).not.toContain(mark);
});

test("what was killed between making two tables is gone on with, whichever is missing", async () => {
  await using folder = await tempDir();
  const storage = { url: folder.path, namespace: "default", options: {} };
  await (await openSessionStore(storage, { create: true }))[Symbol.asyncDispose]();
  for (const table of TABLES) {
    rmSync(join(folder.path, "default", `${table}.lance`), { recursive: true });
    await using store = await openSessionStore(storage, { create: true });
    // The identity alone tells of no row.
    await store.id();
  }
  await using store = await openSessionStore(storage, { create: true });
  const ingest = store.ingest({ clock: systemClock });
  await ingest.add(story("s").user("hello").events());
  await ingest.flush();
  rmSync(join(folder.path, "default", "parts.lance"), { recursive: true });
  await expect(openSessionStore(storage, { create: true })).rejects.toMatchObject(REFUSED);
});

test("a lost identity is told, and made anew by one sync", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  rmSync(machine.table("pond_store"), { recursive: true });
  // A command that reads makes nothing.
  await machine.run((context) => status(context));
  expect(existsSync(machine.table("pond_store"))).toBe(false);
  expect(await machine.troubles()).toMatchObject([
    { message: expect.stringContaining("lost its identity"), fix: expect.stringContaining("pond sync") },
  ]);
  expect(await machine.sync()).toEqual({
    inserted: 0,
    fresh: 0,
    notes: [expect.stringContaining("lost its identity")],
  });
  expect(await machine.troubles()).toEqual([]);
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 1, notes: [] });
});

test("an identity without a list of its files refuses a sync, which names the repair, and one repair mends it", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first);
  await machine.sync();
  for (const part of ["_versions", "_sums"])
    rmSync(join(machine.table("pond_store"), part), { recursive: true });
  await expect(machine.sync()).rejects.toMatchObject({ hint: "run repair" });
  const { left } = await machine.run((context) => repair(context));
  expect(left).toEqual([]);
  expect(await machine.troubles()).toEqual([]);
  expect(await machine.sync()).toMatchObject({ inserted: 0, notes: [] });
});

test("one session is told of as one", async () => {
  await using folder = await tempDir();
  const machine = new Machine(folder.path);
  machine.write(ID.first, 1);
  await machine.sync();
  const storeLine = await machine.run(async (context) => {
    rememberFaults(context.config.paths.state, context.address, { at: 0, sessions: 1 });
    return (await doctor(context)).find(({ topic }) => topic === "store")?.message;
  });
  expect(storeLine).toContain("1 row of sessions, 1 row of messages");
  expect((await machine.troubles())[0]?.message).toMatch(/^1 session is not stored as it was read/);
  machine.remove(ID.first);
  rmSync(machine.table("sessions"), { recursive: true });
  const { done } = await machine.run((context) => repair(context));
  expect(done.join()).toContain("1 lost row was rebuilt from messages: its parent is not known");
  expect((await machine.troubles())[0]?.message).toMatch(/^the row of 1 session was lost/);
});
