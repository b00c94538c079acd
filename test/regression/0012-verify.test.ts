/**
 * Verify proves both ways (spec.md#keep-verify): what is on disk and not stored fails it, whatever it is; what was stored
 * and is gone, moved, grown or changed since does not, and what is stored of it is proven all the same.
 */
import {
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { sync as syncSources, verify, verifyStored } from "../../src/handlers/index.ts";
import { claudeCode } from "../support/histories/claude-code.ts";
import { codexCli, codexPaginated } from "../support/histories/codex-cli.ts";
import { opencodeDatabase, opencodeTree } from "../support/histories/opencode.ts";
import type { MachineNumber, Operation, PlaceNumber } from "../support/histories/operations.ts";
import { pi } from "../support/histories/pi.ts";
import type { SessionNumber, SourceModel, Turn } from "../support/histories/source-model.ts";
import { listUnits, readUnit } from "../support/adapter-run.ts";
import { addPart } from "../support/stored-rows.ts";
import { tempContext } from "../support/temp-context.ts";
import { World } from "../support/histories/world.ts";
import type { ClientVerification } from "../../src/wire/verify.ts";

const LOGS = [claudeCode, codexCli, codexPaginated, pi];
const ALL = [...LOGS, opencodeTree, opencodeDatabase];

const append = (turn: Turn, place: PlaceNumber = 0, session: SessionNumber = 0): Operation => ({
  kind: "append",
  place,
  session,
  turn,
  how: "append",
});
const sync = (machine: MachineNumber, ...places: PlaceNumber[]): Operation => ({
  kind: "sync",
  machine,
  places,
  isLive: false,
  isFull: false,
});
const TURNS = [append("prompt"), append("answer"), append("tool"), append("answer")];
const copy: Operation = { kind: "copy", place: 1, session: 0, from: 0, back: 0, isOlder: false };
const remove: Operation = { kind: "remove", place: 0, session: 0 };

async function worldAfter(model: SourceModel, ...operations: readonly Operation[]): Promise<World> {
  const world = await World.start(model);
  for (const operation of operations) await world.run(operation);
  return world;
}

async function verified(
  world: World,
  { places = [0], machine = 0, paths }: Looking = {},
): Promise<ClientVerification> {
  const { context } = await world.machine(machine);
  const named = paths ?? places.map((place) => world.root(place));
  const source = { adapters: [world.model.adapter], paths: named };
  const { clients } = await world.at(machine, () => verify(context, source));
  return clients[0]!;
}

interface Looking {
  readonly places?: readonly PlaceNumber[];
  readonly machine?: MachineNumber;
  readonly paths?: readonly string[];
}

/** Nothing is wrong, and something was compared. */
function expectProven(client: ClientVerification, counts: Partial<ClientVerification>): void {
  expect(client).toMatchObject({ unstored: 0, unequal: 0, differences: [], issues: [], ...counts });
  expect(client.proven).toBe(true);
  expect(client.equal).toBe(client.records);
}

function expectUnstored(client: ClientVerification, name: string): void {
  expect(client.proven).toBe(false);
  expect(client.unstored).toBeGreaterThan(0);
  expect(client.differences.join("\n")).toContain(name);
}

describe.each(ALL)("$label", (model) => {
  test("what was synced is on disk as it is recorded, and equal", async () => {
    await using world = await worldAfter(model, ...TURNS, append("prompt", 0, 1), sync(0, 0));
    const client = await verified(world);
    expectProven(client, { recorded: 2, sessions: 2 });
    expect(client.records).toBeGreaterThan(4);
  });

  test("a session that was never stored is named", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), append("prompt", 0, 1));
    expectUnstored(await verified(world), model.storedId(1));
  });

  test("a folder that was never synced is named", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), append("prompt", 1, 1));
    expectUnstored(await verified(world, { places: [1] }), model.storedId(1));
  });

  test("a copy that went on is not stored, a copy that did not is", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), copy);
    expectProven(await verified(world, { places: [1] }), { recorded: 1 });
    await world.run(append("prompt", 1));
    expectUnstored(await verified(world, { places: [1] }), model.storedId(0));
  });

  test("an older copy that was never synced is contained in what is stored", async () => {
    const older: Operation = { ...copy, back: 1 };
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), older);
    const client = await verified(world, { places: [1] });
    expect(client).toMatchObject({ unequal: 0, issues: [] });
    // The session's own record in a container is of another time, and not stored.
    if (LOGS.includes(model)) expectProven(client, { contained: 1, recorded: 0 });
    else expect(client.contained + client.unstored).toBe(1);
  });

  test("a source that went on since is counted, and what is stored of it is compared", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), append("prompt"));
    const client = await verified(world);
    expectProven(client, LOGS.includes(model) ? { grown: 1 } : { changed: 1 });
    expect(client.records).toBeGreaterThan(3);
  });

  test("a source that was rewritten since is counted", async () => {
    const drop: Operation = { kind: "drop", place: 0, session: 0, at: 1, how: "replace" };
    await using world = await worldAfter(model, ...TURNS, sync(0, 0), drop);
    expectProven(await verified(world), { changed: 1 });
  });

  test("a source that is gone is counted, and one that is on disk by another path has moved", async () => {
    await using world = await worldAfter(model, ...TURNS, append("prompt", 0, 1), sync(0, 0), remove);
    expectProven(await verified(world), { gone: 1, moved: 0 });
    await world.run({ ...copy, from: 0 });
    await world.run(append("prompt", 1, 1));
    await world.run(sync(0, 1));
    const client = await verified(world, { places: [0, 1] });
    expectProven(client, { gone: 0, moved: 1 });
  });

  test("the same files by another path are the same sources", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0));
    const link = `${world.root(0)}-link`;
    symlinkSync(world.root(0), link);
    const client = await verified(world, { paths: [link] });
    expectProven(client, { recorded: 1 });
    expect(client.records).toBeGreaterThan(3);
  });

  test("another machine that looks at what is stored finds it equal", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0));
    expectProven(await verified(world, { machine: 1 }), { recorded: 1 });
    const client = await verified(world, { machine: 1, places: [2] });
    expectProven(client, { recorded: 0, sessions: 0 });
  });

  test("another machine's folder by the same path is not stored with this one's", async () => {
    const own: Operation = { kind: "copy", place: 2, session: 0, from: 1, back: 0, isOlder: false };
    await using world = await worldAfter(model, ...TURNS, copy, sync(0, 0, 1));
    expectProven(await verified(world, { machine: 1, places: [2] }), { sessions: 0, elsewhere: 1, gone: 0 });
    await world.run(own);
    expectProven(await verified(world, { machine: 1, places: [2] }), { recorded: 1, elsewhere: 0 });
    await world.run(append("answer", 2));
    expectUnstored(await verified(world, { machine: 1, places: [2] }), model.storedId(0));
  });

  test("what changed without a trace, so that sync considers it unchanged, is not stored", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0));
    changeQuietly(world.root(0));
    expectUnstored(await verified(world), "considers it unchanged");
  });

  test("a stored row that says something else is unequal, on disk and by the recorded digest", async () => {
    await using world = await worldAfter(model, ...TURNS, sync(0, 0));
    expect(await storedClient(world)).toMatchObject({ unequal: 0 });
    await addPart((await world.machine(0)).context);
    const client = await verified(world);
    expect(client.proven).toBe(false);
    expect(client.unequal).toBe(1);
    expect(await storedClient(world)).toMatchObject({
      unequal: 1,
      differences: [expect.stringContaining(model.storedId(0))],
    });
  });

  test("every recorded state is proven without any source", async () => {
    const drop: Operation = { kind: "drop", place: 0, session: 0, at: 1, how: "replace" };
    await using world = await worldAfter(
      model,
      ...TURNS,
      sync(0, 0),
      append("prompt"),
      sync(0, 0),
      drop,
      sync(0, 0),
      append("answer"),
      sync(0, 0),
    );
    rmSync(world.root(0), { recursive: true });
    const client = await storedClient(world);
    expect(client).toMatchObject({ sessions: 1, sources: 1, unequal: 0, partial: 0, differences: [] });
    expect(client?.proven).toBe(client?.states);
    expect(client?.states).toBeGreaterThan(2);
  });

  test("two ends of a session are each equal to their own source", async () => {
    const diverge: Operation = { kind: "diverge", place: 1, session: 0, from: 0, turn: "prompt" };
    await using world = await worldAfter(model, ...TURNS, diverge, sync(0, 0, 1));
    expectProven(await verified(world, { places: [0, 1] }), { recorded: 2 });
    expect(await storedClient(world)).toMatchObject({ sources: 2, unequal: 0 });
  });
});

test("a file that cannot be read is an issue, and what is stored of it is not gone", async () => {
  await using world = await worldAfter(opencodeTree, ...TURNS, sync(0, 0));
  await world.run({ kind: "fault", place: 0, session: 0, file: 2, fault: "denied" });
  const client = await verified(world);
  expect(client.proven).toBe(false);
  expect(client).toMatchObject({ gone: 0, unequal: 0, issues: [{ kind: "unreadable" }] });
});

test("a row of a database that belongs to no session is on disk and not stored", async () => {
  await using world = await worldAfter(opencodeDatabase, ...TURNS);
  {
    const database = new DatabaseSync(databaseIn(world.root(0)));
    // Which session it is of, it does not say.
    database.exec("DROP TABLE IF EXISTS session_input");
    database.exec("CREATE TABLE session_input (id TEXT PRIMARY KEY, session_id TEXT, prompt TEXT)");
    database.exec("INSERT INTO session_input VALUES ('in_1', NULL, 'lost')");
    database.close();
  }
  await world.run(sync(0, 0));
  expectUnstored(
    await verified(world),
    "1 of 1 rows of the table session_input belongs to no stored session",
  );
});

/** Every file of a place, in no order. */
function filesIn(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile());
}

function databaseIn(root: string): string {
  return filesIn(root).find((path) => path.endsWith(".db"))!;
}

/** Another word of the same length, with size, time and inode as they were. */
function changeQuietly(root: string): void {
  for (const path of filesIn(root)) {
    const { atimeMs, mtimeMs } = statSync(path);
    const text = readFileSync(path, "latin1");
    if (!text.includes("word0001x")) continue;
    writeFileSync(path, text.replaceAll("word0001x", "word0001y"), "latin1");
    utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
  }
}

async function storedClient(world: World) {
  const { context } = await world.machine(0);
  return (await verifyStored(context, { adapters: [world.model.adapter] })).clients[0];
}

test("a session that an older pond stored, without a state, is compared as it is stored", async () => {
  await using at = await tempContext();
  const place = join(at.home, "projects");
  cpSync(
    join(import.meta.dirname, "../fixtures/adapters/claude-code/projects/-tmp-pond-fixture-demo-app"),
    place,
    { recursive: true },
  );
  for (const path of filesIn(place)) utimesSync(path, 1, 1);
  const claude = adapterNamed("claude-code")!;
  const { units } = await listUnits(claude, place);
  for (const unit of units) await at.ingest((await readUnit(claude, unit, { root: place })).events);
  const client = (await verify(at.context, { adapters: ["claude-code"], paths: [place] })).clients[0]!;
  expectProven(client, { sessions: client.recorded });
  expect(client.records).toBeGreaterThan(10);
});

describe("a client whose folder is gone", () => {
  const FIXTURE = join(import.meta.dirname, "../fixtures/adapters/claude-code/projects");

  test("is counted as gone, source by source, and not where something else was asked for", async () => {
    await using at = await tempContext();
    const place = join(at.home, ".claude/projects");
    const other = join(at.home, "other");
    for (const folder of [place, other]) {
      cpSync(FIXTURE, folder, { recursive: true });
      for (const path of filesIn(folder)) utimesSync(path, 1, 1);
    }
    await syncSources(at.context, { stages: ["import"] });
    const [before] = (await verify(at.context, {})).clients;
    expect(before).toMatchObject({ adapter: "claude-code", gone: 0 });
    rmSync(join(at.home, ".claude"), { recursive: true });
    for (const filter of [{}, { adapters: ["claude-code"] }]) {
      const { clients } = await verify(at.context, filter);
      expect(clients).toMatchObject([{ adapter: "claude-code", sources: 0, proven: true, issues: [] }]);
      expect(clients[0]!.gone).toBe(before!.recorded);
    }
    expect((await verify(at.context, { adapters: ["pi"] })).clients).toEqual([]);
    const named = await verify(at.context, { adapters: ["claude-code"], paths: [other] });
    expect(named.clients).toMatchObject([{ gone: 0, recorded: before!.recorded }]);
  });
});
