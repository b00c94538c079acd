/**
 * Rows that are lost for good, because their sources are gone: what is left stays readable, what is not is counted and
 * named, and nothing calls the store whole (spec.md#keep-repair, spec.md#keep-verify).
 */
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  doctor,
  get,
  listSessions,
  repair,
  restore,
  sync,
  verify,
  verifyStored,
} from "../../src/handlers/index.ts";
import { sessionId } from "../../src/model/index.ts";
import type { GetResponse } from "../../src/wire/index.ts";
import { appendSums } from "../../src/substrate/local/sums.ts";
import { changeRow } from "../support/changed-row.ts";
import { dataFiles, DemoHome, filesIn } from "../support/demo-home.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const isFail = ({ status }: { readonly status: string }): boolean => status === "fail";

/** A home with one log of Claude Code, synced as it grew to each of these numbers of lines. */
async function grown(
  ...counts: readonly number[]
): Promise<{ readonly home: DemoHome; readonly id: string; readonly log: string }> {
  const home = await DemoHome.unsynced();
  const [name = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
  const log = join(home.path, ".claude", name);
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  for (const count of counts) {
    writeFileSync(log, `${lines.slice(0, count).join("\n")}\n`);
    await home.run((context) => sync(context, IMPORT));
  }
  return { home, id: basename(log, ".jsonl"), log };
}

test("sessions that lost their rows are faults of the proof, and repair makes them readable again from their messages", async () => {
  await using home = await DemoHome.make();
  const before = await home.run((context) => listSessions(context, {}));
  rmSync(join(home.path, ".claude"), { recursive: true });
  rmSync(join(home.store, "sessions.lance"), { recursive: true });
  // As a repair leaves it that was cut off: no sync makes the table anew.
  await home.run((context) => context.store({ remakesLost: true }));
  await home.run((context) => sync(context, {}));
  const proof = await home.run((context) => verifyStored(context, {}));
  expect(proof.clients.flatMap(({ differences }) => differences).join()).toContain("has lost its row");
  expect((await home.run((context) => doctor(context))).filter(isFail)).toMatchObject([
    { topic: "store", message: expect.stringContaining("not stored as they were read") },
  ]);
  const report = await home.run((context) => repair(context));
  expect(report.done.join()).toContain("rebuilt from messages");
  expect(report.stored.clients.map(({ unequal }) => unequal)).toEqual(report.stored.clients.map(() => 0));
  const after = await home.run((context) => listSessions(context, {}));
  const facts = (list: typeof before): unknown =>
    list.sessions.map(({ id, title, source_agent, project, messages }) => ({
      id,
      title,
      source_agent,
      project,
      messages,
    }));
  expect(facts(after)).toEqual(facts(before));
  for (const { id, source_agent } of after.sessions.filter((each) =>
    each.source_agent.startsWith("claude-code"),
  )) {
    const out = join(home.path, "out", source_agent);
    expect(await home.run((context) => restore(context, { session_id: id, out }))).toMatchObject({
      fidelity: "native",
    });
  }
  expect((await home.run((context) => doctor(context))).filter(isFail)).toEqual([]);
});

test("a row that was made from messages gives way to the source when that is there again", async () => {
  await using home = await DemoHome.make();
  const before = await home.run((context) => listSessions(context, {}));
  const kept = join(home.path, "kept");
  cpSync(join(home.path, ".claude"), kept, { recursive: true });
  rmSync(join(home.path, ".claude"), { recursive: true });
  rmSync(join(home.store, "sessions.lance"), { recursive: true });
  await home.run((context) => repair(context));
  cpSync(kept, join(home.path, ".claude"), { recursive: true });
  await home.run((context) => repair(context));
  const after = await home.run((context) => listSessions(context, {}));
  const times = (list: typeof before): unknown => list.sessions.map(({ id, created_at }) => [id, created_at]);
  expect(times(after)).toEqual(times(before));
});

test("messages whose state was lost with its source gone are shown and restored again", async () => {
  const { home, id, log } = await grown(2, 4);
  await using _ = home;
  const shown = async (): Promise<number | undefined> => {
    const { sessions } = await home.run((context) => listSessions(context, {}));
    return sessions.find((session) => session.id === id)?.messages.total;
  };
  const before = await shown();
  expect(before).toBeGreaterThan(2);
  const text = readFileSync(log, "utf8");
  rmSync(log);
  rmSync(dataFiles(home, "sources").at(-1) ?? "");
  const report = await home.run((context) => repair(context));
  expect(report.done.join()).toContain("states were recovered");
  expect(await shown()).toBe(before);
  const out = join(home.path, "out");
  await home.run((context) => restore(context, { session_id: id, out }));
  const [file = ""] = filesIn(out).filter((each) => each.endsWith(`${id}.jsonl`));
  const values = (from: string): unknown =>
    from
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  expect(values(readFileSync(join(out, file), "utf8"))).toEqual(values(text));
});

test("what is lost for good is counted, and doctor goes on saying so until it is there again", async () => {
  const { home, log } = await grown(2, 4);
  await using _ = home;
  const text = readFileSync(log, "utf8");
  rmSync(log);
  rmSync(dataFiles(home, "messages").at(-1) ?? "");
  const report = await home.run((context) => repair(context));
  expect(report.rows).toMatchObject({ taken_out: 2, lost: 2, read_again: 0, put_back: 0 });
  expect(report.stored.clients.flatMap(({ unequal_sessions }) => unequal_sessions)).toMatchObject([
    { sources: [{ path: log, machine: "this" }] },
  ]);
  for (const deep of [false, true])
    expect((await home.run((context) => doctor(context, { deep }))).filter(isFail)).toHaveLength(1);
  writeFileSync(log, text);
  await home.run((context) => repair(context));
  expect((await home.run((context) => doctor(context))).filter(isFail)).toEqual([]);
  for (const { proven } of (await home.run((context) => verify(context, {}))).clients)
    expect(proven).toBe(true);
});

test("a damaged file without a checksum is repaired from its source", async () => {
  await using home = await DemoHome.make();
  rmSync(join(home.store, "parts.lance/_sums"), { recursive: true });
  for (const path of dataFiles(home, "parts")) {
    const bytes = readFileSync(path);
    const at = Math.floor((bytes.length * 2) / 3);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(path, bytes);
  }
  const report = await home.run((context) => repair(context));
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  for (const { proven } of (await home.run((context) => verify(context, {}))).clients)
    expect(proven).toBe(true);
});

test("a value that changed under a good checksum is read again from its source", async () => {
  const { home, id } = await grown(4);
  await using _ = home;
  await home.run((context) =>
    changeRow(context, { table: "parts", session: id, column: "variant_data", from: "text", to: "texx" }),
  );
  await home.run((context) => sync(context, { stages: ["update-indexes"] }));
  const report = await home.run((context) => repair(context));
  expect(report.done.join()).toContain("from what was read");
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  for (const { proven } of (await home.run((context) => verify(context, {}))).clients)
    expect(proven).toBe(true);
});

test("the newest list of files that is lost is put back from its link by whoever opens the table", async () => {
  const { home, log } = await grown(1, 2, 3, 4);
  await using _ = home;
  rmSync(log);
  const versions = join(home.store, "messages.lance/_versions");
  const [newest = ""] = filesIn(versions);
  rmSync(join(versions, newest));
  await home.run((context) => sync(context, { stages: ["update-indexes"] }));
  expect(filesIn(versions)).toContain(newest);
  const proof = await home.run((context) => verifyStored(context, {}));
  expect(proof.clients.flatMap(({ differences }) => differences)).toEqual([]);
  rmSync(join(versions, filesIn(versions)[0] ?? ""));
  const report = await home.run((context) => repair(context));
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  expect(report.rows.lost).toBe(0);
});

test("a machine whose first sync failed on the damage stores what was lost once another one has repaired it", async () => {
  await using home = await DemoHome.make();
  const here = (command: Parameters<typeof home.run>[0]): Promise<unknown> => home.run(command);
  const there = (command: Parameters<typeof home.run>[0]): Promise<unknown> =>
    home.run(command, [], { XDG_STATE_HOME: join(home.path, "there") });
  for (const path of dataFiles(home, "parts")) rmSync(path);
  await there((context) => sync(context, {})).catch(() => undefined);
  cpSync(join(home.path, ".claude"), join(home.path, "kept"), { recursive: true });
  rmSync(join(home.path, ".claude"), { recursive: true });
  await here((context) => repair(context));
  cpSync(join(home.path, "kept"), join(home.path, ".claude"), { recursive: true });
  await there((context) => sync(context, {}));
  const proof = await home.run((context) => verifyStored(context, {}));
  expect(proof.clients.flatMap(({ differences }) => differences)).toEqual([]);
});

test("a source that no client's place has is read again by the repair that needs it", async () => {
  const { home, id, log } = await grown(6);
  await using _ = home;
  const stick = join(home.path, "stick", basename(log));
  cpSync(log, stick);
  rmSync(join(home.path, ".claude"), { recursive: true });
  await home.run((context) =>
    sync(context, { adapters: ["claude-code"], paths: [stick], stages: ["import"] }),
  );
  await home.run((context) =>
    changeRow(context, { table: "parts", session: id, column: "variant_data", from: "e", to: "E" }),
  );
  const report = await home.run((context) => repair(context));
  expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
  expect(report.rows).toMatchObject({ lost: 0 });
  expect(report.rows.read_again).toBeGreaterThan(0);
});

test("doctor goes on saying that rows of sessions were made anew", async () => {
  await using home = await DemoHome.make();
  for (const client of [".claude", ".codex", ".pi"]) rmSync(join(home.path, client), { recursive: true });
  rmSync(join(home.store, "sessions.lance"), { recursive: true });
  await home.run((context) => repair(context));
  const findings = await home.run((context) => doctor(context));
  expect(findings).toContainEqual(
    expect.objectContaining({
      status: "warn",
      message: expect.stringContaining("rebuilt from their messages"),
    }),
  );
});

test.each(["messages", "sessions", "sources"])(
  "what was read from outside the clients' places is read again from there when the files of %s are lost",
  async (table) => {
    await using home = await DemoHome.unsynced();
    const elsewhere = join(home.path, "backup");
    const [name = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
    const log = join(elsewhere, "-elsewhere", basename(name));
    mkdirSync(dirname(log), { recursive: true });
    renameSync(join(home.path, ".claude", name), log);
    await home.run((context) => sync(context, IMPORT));
    await home.run((context) => sync(context, { ...IMPORT, adapters: ["claude-code"], paths: [elsewhere] }));
    const before = await home.run((context) => listSessions(context, {}));
    for (const file of dataFiles(home, table)) rmSync(file);
    const report = await home.run((context) => repair(context));
    expect(report.rows).toMatchObject({ lost: 0, put_back: 0 });
    expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
    expect(await home.run((context) => listSessions(context, {}))).toEqual(before);
    const again = await home.run((context) => repair(context));
    expect(again).toMatchObject({ damage: [], rows: { taken_out: 0, lost: 0 } });
    const session_id = basename(log, ".jsonl");
    const out = join(home.path, "out");
    expect(await home.run((context) => restore(context, { session_id, out }))).toMatchObject({
      fidelity: "native",
    });
    expect((await home.run((context) => doctor(context))).filter(isFail)).toEqual([]);
  },
);

/** Calls every data file of a table damaged, though no value in it is changed. */
async function callDamaged(home: DemoHome, table: string): Promise<void> {
  const files = dataFiles(home, table).map(
    (path) => [`data/${basename(path)}`, { digest: "another", bytes: statSync(path).size }] as const,
  );
  await appendSums(join(home.store, `${table}.lance`), new Map(files));
}

const linesOf = (path: string): readonly string[] => readFileSync(path, "utf8").trimEnd().split("\n");

/** A log that its client trimmed to its last two records, after both states were stored. */
async function trimmed(): Promise<{
  readonly home: DemoHome;
  readonly id: string;
  readonly all: readonly string[];
}> {
  const { home, id, log } = await grown(4);
  const all = linesOf(log);
  writeFileSync(log, `${all.slice(2).join("\n")}\n`);
  await home.run((context) => sync(context, {}));
  return { home, id, all };
}

test.for([["messages", "parts", "sources"], ["sources"]])(
  "what only an earlier state has survives the repair of %s",
  async (tables) => {
    const { home, id, all } = await trimmed();
    await using _ = home;
    for (const table of tables) await callDamaged(home, table);
    const report = await home.run((context) => repair(context));
    expect(report.rows).toMatchObject({ lost: 0, left_out: 0 });
    expect(report.stored.clients.flatMap(({ differences }) => differences)).toEqual([]);
    for (const [state, records] of [
      [1, all],
      [2, all.slice(2)],
    ] as const) {
      const out = join(home.path, `out-${state}`);
      await home.run((context) => restore(context, { session_id: id, state, out }));
      const [file = ""] = filesIn(out).filter((each) => each.endsWith(`${id}.jsonl`));
      expect(linesOf(join(out, file)).map((line) => JSON.parse(line) as unknown)).toEqual(
        records.map((line) => JSON.parse(line) as unknown),
      );
    }
  },
);

test("a session's row that could only be read from a damaged file is marked, with the labels that its messages have", async () => {
  await using home = await DemoHome.make();
  const { sessions } = await home.run((context) => listSessions(context, { source_agent: "codex-cli" }));
  const { id, project } = sessions[0] ?? { id: "", project: "" };
  for (const client of [".claude", ".codex", ".pi"]) rmSync(join(home.path, client), { recursive: true });
  for (const path of dataFiles(home, "sessions")) {
    const bytes = readFileSync(path);
    const at = bytes.indexOf(project);
    if (at === -1) continue;
    bytes[at + 1] = (bytes[at + 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }
  const report = await home.run((context) => repair(context));
  expect(report.done.join()).toContain("marked options.pond.recovered");
  const after = await home.run(async (context) => (await context.store()).session(id));
  expect(after).toMatchObject({ project, options: { pond: { recovered: true } } });
  const findings = await home.run((context) => doctor(context));
  expect(findings).toContainEqual(expect.objectContaining({ status: "warn", topic: "store" }));
});

test("the loss of recorded states is told until somebody accepts it", async () => {
  await using home = await DemoHome.make();
  for (const client of [".claude", ".codex", ".pi"]) rmSync(join(home.path, client), { recursive: true });
  for (const name of ["_versions", "_sums"])
    rmSync(join(home.store, "sources.lance", name), { recursive: true });
  await home.run((context) => repair(context));
  const { remains } = await home.run((context) => repair(context));
  expect(remains).toHaveLength(1);
  const told = async (): Promise<readonly string[]> => {
    const findings = await home.run((context) => doctor(context));
    return findings.filter(isFail).map(({ message }) => message);
  };
  expect(await told()).toEqual([expect.stringContaining(remains[0] ?? "-")]);
  rmSync(remains[0] ?? "-", { recursive: true });
  expect(await told()).toEqual([]);
});

test("what was lost is told by get, and once read again from another folder it has its title, turns and counts", async () => {
  await using home = await DemoHome.unsynced();
  const only = { ...IMPORT, adapters: ["claude-code"] };
  await home.run((context) => sync(context, only));
  const [name = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
  const id = basename(name, ".jsonl");
  const own = async (): Promise<unknown> => {
    const { sessions } = await home.run((context) => listSessions(context, {}));
    return sessions.find((session) => session.id === id);
  };
  const read = (history: boolean): Promise<GetResponse> =>
    home.run((context) => get(context, { session_id: id, ...(history ? { history } : {}) }));
  const before = await own();
  const elsewhere = join(home.path, "elsewhere");
  renameSync(join(home.path, ".claude"), elsewhere);
  // As a repair leaves it that finds no source.
  await home.run(async (context) => {
    const store = await context.store();
    const { value } = await store.tree().messages(sessionId(id));
    await store.takeOutMessages(
      sessionId(id),
      value.map((ref) => ref.id),
    );
    await store.dropSummaries();
  });
  for (const history of [false, true])
    expect((await read(history)).issues).toEqual([
      {
        session_id: id,
        kind: "missing",
        message: expect.stringMatching(
          /^\d+ of its records are not stored, though its source had them when it was read$/u,
        ),
      },
    ]);
  await home.run((context) => sync(context, { ...only, paths: [join(elsewhere, "projects")] }));
  expect(await own()).toEqual(before);
  for (const history of [false, true]) expect((await read(history)).issues).toBeUndefined();
});
