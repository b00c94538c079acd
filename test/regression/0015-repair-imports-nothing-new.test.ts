/**
 * What a repair reads (spec.md#keep-repair): it synced every client of the machine, also into a store that lacked nothing, so
 * that the store of a program got a person's sessions.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ingest, listSessions, repair, sync } from "../../src/handlers/index.ts";
import { dataFiles, DemoHome, filesIn } from "../support/demo-home.ts";
import { story } from "../support/story.ts";

const IMPORT = { stages: ["import"] } as const;

const sessionsIn = async (home: DemoHome): Promise<readonly string[]> =>
  (await home.run((context) => listSessions(context, { limit: 100 }))).sessions
    .map(({ id }) => id)
    .toSorted();

const repaired = (home: DemoHome) => home.run((context) => repair(context));

/** The logs of a client, by their paths. */
const logsOf = (home: DemoHome, client: string): string[] =>
  filesIn(join(home.path, client))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(home.path, client, name));

test("the store of a program has what the program stored, and no session of the machine, damaged or not", async () => {
  await using home = await DemoHome.unsynced();
  for (const id of ["one", "two"])
    await home.run((context) => ingest(context, { events: story(id).user("of a program").events() }));
  const report = await repaired(home);
  expect(report.clients.flatMap(({ read }) => read)).toEqual([]);
  expect(await sessionsIn(home)).toEqual(["one", "two"]);
  rmSync(dataFiles(home, "parts").at(-1) ?? "");
  await repaired(home);
  expect(await sessionsIn(home)).toEqual(["one", "two"]);
});

test("what is new on the machine is left to a sync", async () => {
  await using home = await DemoHome.unsynced();
  const [log = "", ...others] = logsOf(home, ".claude");
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  writeFileSync(log, `${lines.slice(0, 4).join("\n")}\n`);
  expect(others.length).toBeGreaterThan(0);
  const request = { adapters: ["claude-code"], paths: [log], ...IMPORT };
  await home.run((context) => sync(context, request));
  const before = await sessionsIn(home);
  writeFileSync(log, `${lines.join("\n")}\n`);
  expect((await repaired(home)).clients).toEqual([]);
  // A damaged one reads its own sources again, and those only.
  rmSync(dataFiles(home, "messages").at(-1) ?? "");
  const report = await repaired(home);
  expect(report.rows).toMatchObject({ lost: 0 });
  expect(report.rows.read_again).toBeGreaterThan(0);
  expect(await sessionsIn(home)).toEqual(before);
});

test("a log that its client moved since is read again where it is", async () => {
  await using home = await DemoHome.unsynced();
  const [log = ""] = logsOf(home, ".codex");
  await home.run((context) => sync(context, { adapters: ["codex-cli"], paths: [log], ...IMPORT }));
  const before = await sessionsIn(home);
  renameSync(log, join(dirname(log), "..", log.slice(dirname(log).length + 1)));
  rmSync(dataFiles(home, "messages").at(-1) ?? "");
  expect((await repaired(home)).rows).toMatchObject({ lost: 0, put_back: 0 });
  expect(await sessionsIn(home)).toEqual(before);
});

test.each([
  ["the table of states is", ["sources"]],
  ["the table of states and that of messages are", ["sources", "messages"]],
])("where no cursors are left and %s lost, every source of the machine is read", async (_, lost) => {
  await using home = await DemoHome.make();
  const before = await sessionsIn(home);
  rmSync(join(home.path, ".local/state"), { recursive: true });
  for (const table of lost) rmSync(join(home.store, `${table}.lance`), { recursive: true });
  const { stored } = await repaired(home);
  expect(stored.clients.map(({ unrecorded, unequal }) => unrecorded + unequal)).toEqual([0, 0, 0]);
  expect(await sessionsIn(home)).toEqual(before);
});
