/**
 * A session that went two ways is restored by each of them, exactly; a native restore is what was read, by the digest of
 * its state, or nothing is written (spec.md#sources-order, spec.md#adapter-restore).
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { restore, sync, verify } from "../../src/handlers/index.ts";
import { copyFixture, writeLog } from "../support/aged-files.ts";
import { claudeCode } from "../support/histories/claude-code.ts";
import { codexCli } from "../support/histories/codex-cli.ts";
import { opencodeDatabase, opencodeTree } from "../support/histories/opencode.ts";
import type { Operation } from "../support/histories/operations.ts";
import { pi } from "../support/histories/pi.ts";
import type { SourceModel, Turn } from "../support/histories/source-model.ts";
import { settledEntries } from "../support/histories/source-model.ts";
import { World } from "../support/histories/world.ts";
import { addPart } from "../support/stored-rows.ts";
import { tempContext } from "../support/temp-context.ts";
import type { RestoreReport } from "../../src/wire/restore.ts";

const LOGS = [claudeCode, codexCli, pi];
const ALL = [...LOGS, opencodeTree, opencodeDatabase];
const append = (turn: Turn): Operation => ({ kind: "append", place: 0, session: 0, turn, how: "append" });
const diverge: Operation = { kind: "diverge", place: 1, session: 0, from: 0, turn: "prompt" };
const syncBoth: Operation = { kind: "sync", machine: 0, places: [0, 1], isLive: false, isFull: false };

async function divergedWorld(model: SourceModel): Promise<World> {
  const world = await World.start(model);
  for (const operation of [append("prompt"), append("answer"), diverge, append("tool"), syncBoth])
    await world.run(operation);
  return world;
}

function wordsAt(world: World, place: 0 | 1): readonly string[] {
  return settledEntries(world.source({ place, session: 0 }).state!).flatMap(({ word }) => word ?? []);
}

/** The words of a place that the other one has not. */
function wordsOf(
  world: World,
  place: 0 | 1,
): { readonly own: readonly string[]; readonly all: readonly string[] } {
  const words = ([0, 1] as const).map((each) => wordsAt(world, each));
  const all = words[place]!;
  return { all, own: all.filter((word) => !words[1 - place]!.includes(word)) };
}

function textOf({ files }: RestoreReport): string {
  return files.map(({ path }) => readFileSync(path, "utf8")).join("\n");
}

function expectEnd(world: World, place: 0 | 1, report: RestoreReport): void {
  const text = textOf(report);
  expect(wordsOf(world, place).all.filter((word) => !text.includes(word))).toEqual([]);
  expect(wordsOf(world, place === 0 ? 1 : 0).own.filter((word) => text.includes(word))).toEqual([]);
}

describe.each(ALL)("$label", (model) => {
  test("each end is restored, by its number and by its source", async () => {
    await using world = await divergedWorld(model);
    const { context, home } = await world.machine(0);
    const session_id = model.storedId(0);
    const heads = await (await context.store()).stateHeads(model.adapter);
    const newest = await restore(context, { session_id, out: join(home, "newest") });
    expect(newest.state).toMatchObject({ end: 1, ends: 2 });
    for (const place of [0, 1] as const) {
      const head = heads.findLast(({ path }) => path.startsWith(world.root(place)))!;
      expect(wordsOf(world, place).own.length).toBeGreaterThan(0);
      const by = [
        { source: head.source },
        { source: head.path },
        { end: head.source === newest.state?.source ? 1 : 2 },
      ];
      for (const [index, choice] of by.entries()) {
        const out = join(home, `out-${place}-${index}`);
        const report = await restore(context, { session_id, out, ...choice });
        expect(report.state).toMatchObject({ source: head.source, path: head.path, ends: 2 });
        expectEnd(world, place, report);
      }
    }
    const wrong = { session_id, out: join(home, "none") };
    await expect(restore(context, { ...wrong, end: 3 })).rejects.toMatchObject({ code: "validation_failed" });
    await expect(restore(context, { ...wrong, source: "/nowhere" })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(existsSync(wrong.out)).toBe(false);
  });

  test("a state that its source has left is restored, by its number", async () => {
    const truncate: Operation = { kind: "truncate", place: 0, session: 0, count: 2, how: "replace" };
    const syncOne: Operation = { ...syncBoth, places: [0] };
    await using world = await World.start(model);
    for (const operation of [append("prompt"), append("answer"), append("tool"), append("prompt"), syncOne])
      await world.run(operation);
    const words = wordsAt(world, 0);
    await world.run(truncate);
    await world.run(syncOne);
    const trimmed = words.filter((word) => !wordsAt(world, 0).includes(word));
    expect(trimmed.length).toBeGreaterThan(0);
    const { context, home } = await world.machine(0);
    const session_id = model.storedId(0);
    const newest = await restore(context, { session_id, out: join(home, "newest") });
    const before = (newest.state?.state ?? 0) - 1;
    expect(trimmed.filter((word) => textOf(newest).includes(word))).toEqual([]);
    for (const [at, source] of [undefined, newest.state!.path].entries()) {
      const request = { session_id, out: join(home, `out-${at}`), state: before };
      const report = await restore(context, source === undefined ? request : { ...request, source });
      expect(report.state).toMatchObject({ state: before, source: newest.state!.source });
      expect(words.filter((word) => !textOf(report).includes(word))).toEqual([]);
    }
    const out = join(home, "none");
    await expect(restore(context, { session_id, out, state: 99 })).rejects.toMatchObject({
      code: "validation_failed",
      hint: expect.stringContaining(`its states are ${before} to ${before + 1}`),
    });
    await expect(restore(context, { session_id, out, state: before, end: 1 })).rejects.toMatchObject({
      code: "validation_failed",
    });
    expect(existsSync(out)).toBe(false);
  });

  test("a state of one of several sources needs to be told which", async () => {
    await using world = await divergedWorld(model);
    const { context, home } = await world.machine(0);
    const request = { session_id: model.storedId(0), out: join(home, "none"), state: 0 };
    await expect(restore(context, request)).rejects.toMatchObject({
      code: "validation_failed",
      hint: expect.stringContaining("source <path or id>"),
    });
  });

  test("what does not restore as it was read is not written, also with mapped paths", async () => {
    await using world = await divergedWorld(model);
    const { context, home } = await world.machine(0);
    await addPart(context);
    const request = { session_id: model.storedId(0), out: join(home, "out") };
    const changed = [1, 2].map(async (end) =>
      restore(context, { ...request, out: join(home, `out-${end}`), end }),
    );
    const results = await Promise.allSettled(changed);
    const [refused] = results.filter((result) => result.status === "rejected");
    expect(refused?.reason).toMatchObject({
      reason: "corrupt",
      message: expect.stringContaining(`session ${request.session_id}`),
    });
    for (const [index, { status }] of results.entries())
      expect(existsSync(join(home, `out-${index + 1}`))).toBe(status === "fulfilled");
    const map_paths = ["/home/me/app=/srv/app"];
    const end = results.findIndex(({ status }) => status === "rejected") + 1;
    await expect(restore(context, { ...request, map_paths, end })).rejects.toMatchObject({
      reason: "corrupt",
    });
    expect(existsSync(request.out)).toBe(false);
  });
});

test.each(LOGS)("$label: a restored log has the records of its own end, and no other", async (model) => {
  await using world = await divergedWorld(model);
  const { context, home } = await world.machine(0);
  const heads = await (await context.store()).stateHeads(model.adapter);
  for (const place of [0, 1] as const) {
    const { source } = heads.findLast(({ path }) => path.startsWith(world.root(place)))!;
    const out = join(home, `out-${place}`);
    const { files } = await restore(context, { session_id: model.storedId(0), out, source });
    const lines = files
      .filter(({ path }) => path.endsWith(".jsonl"))
      .flatMap(({ path }) => readFileSync(path, "utf8").trimEnd().split("\n"))
      .map((line) => JSON.parse(line) as unknown);
    const { state } = world.source({ place, session: 0 });
    expect(lines).toEqual(state!.entries.map(({ value }) => value));
  }
});

describe("a restore that nobody touched", () => {
  const SESSION = "42a619cc-bb76-46e4-81e9-08563bb4c708";

  async function synced(context: Context, home: string): Promise<void> {
    const place = join(home, "claude");
    copyFixture("claude-code/projects", place);
    await sync(context, { adapters: ["claude-code"], paths: [place], stages: ["import"] });
  }

  const timestamp = "2027-01-01T00:00:00.000Z";
  const content = [{ type: "input_text", text: "And then?" }];
  const NEXT: Readonly<Record<string, readonly object[]>> = {
    // Twice, as Codex writes it: a prompt is held back until then.
    "codex-cli": [
      { timestamp, type: "response_item", payload: { type: "message", role: "user", content } },
      { timestamp, type: "event_msg", payload: { type: "user_message", message: "And then?" } },
    ],
    pi: [{ type: "message", id: "ffffffff", timestamp, message: { role: "user", content: "And then?" } }],
    "claude-code": [
      { type: "user", uuid: "ffffffff", timestamp, message: { role: "user", content: "And then?" } },
    ],
  };

  test.each(["codex-cli", "opencode", "pi", "claude-code"])("into %s is no news to verify", async (to) => {
    await using at = await tempContext();
    await synced(at.context, at.home);
    const out = join(at.home, "restored", to);
    mkdirSync(dirname(out), { recursive: true });
    const map_paths = ["/tmp=/srv"];
    const { files } = await restore(at.context, { session_id: SESSION, to, out, map_paths });
    const request = { adapters: [to], paths: [out] };
    const [client] = (await verify(at.context, request)).clients;
    expect(client).toMatchObject({ unstored: 0, differences: [] });
    expect(client?.restored).toBeGreaterThan(0);
    expect(client!.proven).toBe(true);
    for (const { path } of files) utimesSync(path, 1, 1);
    const [touched] = (await verify(at.context, request)).clients;
    // What was restored is known by what it holds.
    expect(touched).toMatchObject({ restored: client?.restored, proven: true });
    const logs = files.filter(({ path }) => path.endsWith(".jsonl"));
    if (logs.length === 0) return;
    for (const { path } of logs)
      for (const next of NEXT[to] ?? []) appendFileSync(path, `${JSON.stringify(next)}\n`);
    const [carriedOn] = (await verify(at.context, request)).clients;
    expect(carriedOn).toMatchObject({ restored: 0, proven: false });
  });
});

/** Long ago, so that nothing waits for more. */

describe("an end of another machine", () => {
  const ID = "11111111-1111-4111-8111-111111111111";
  const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  const CLIENTS = [
    {
      adapter: "claude-code",
      file: (folder: string) => `.claude/projects/${folder.replaceAll("/", "-")}/${ID}.jsonl`,
      records: (cwd: string, texts: readonly string[]) =>
        texts.map((content, n) => ({
          type: "user",
          uuid: `u${n}`,
          parentUuid: n === 0 ? null : `u${n - 1}`,
          sessionId: ID,
          // The first was written before the log was carried over.
          cwd: n === 0 ? "/srv/shop" : cwd,
          timestamp: at(n),
          message: { role: "user", content },
        })),
    },
    {
      adapter: "codex-cli",
      file: () => `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${ID}.jsonl`,
      records: (cwd: string, texts: readonly string[]) => [
        { timestamp: at(0), type: "session_meta", payload: { id: ID, timestamp: at(0), cwd } },
        ...texts.map((text, n) => ({
          timestamp: at(n),
          type: "response_item",
          payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
        })),
      ],
    },
    {
      adapter: "pi",
      file: (folder: string) =>
        `.pi/agent/sessions/-${folder.replaceAll("/", "-")}--/2026-01-01T00-00-00-000Z_${ID}.jsonl`,
      records: (cwd: string, texts: readonly string[]) => [
        { type: "session", version: 3, id: ID, timestamp: at(0), cwd },
        ...texts.map((content, n) => ({
          type: "message",
          id: `m${n}`,
          parentId: n === 0 ? null : `m${n - 1}`,
          timestamp: at(n),
          message: { role: "user", content },
        })),
      ],
    },
  ];

  test.each(CLIENTS)("of $adapter goes where that machine worked", async ({ adapter, file, records }) => {
    await using desk = await tempContext();
    await using laptop = await tempContext({ env: { POND_STORE: join(desk.home, "store") } });
    const log = join(laptop.home, file("/Users/me/shop"));
    writeLog(join(desk.home, file("/srv/shop")), records("/srv/shop", ["one", "two"]));
    writeLog(log, records("/Users/me/shop", ["one", "two", "three"]));
    for (const { context } of [desk, laptop]) await sync(context, { adapters: [adapter] });
    rmSync(log);
    const report = await restore(laptop.context, { session_id: ID });
    expect(report.files.map(({ path }) => path)).toEqual([log]);
    expect(report.resume.directory).toBe("/Users/me/shop");
  });

  test("is not copied over what went on since without a warning", async () => {
    await using temp = await tempContext();
    const { context, home } = temp;
    const [{ file, records }] = CLIENTS as [(typeof CLIENTS)[0]];
    const log = join(home, file("/srv/shop"));
    writeLog(log, records("/srv/shop", ["one", "two"]));
    await sync(context, {});
    const equal = await restore(context, { session_id: ID, out: join(home, "equal") });
    expect(equal.resume).toMatchObject({ copy_to: join(home, ".claude/projects") });
    expect(equal.resume.in_the_way).toBeUndefined();
    writeLog(log, records("/srv/shop", ["one", "two", "three"]), 2);
    const older = await restore(context, { session_id: ID, out: join(home, "older") });
    expect(older.resume.in_the_way).toEqual([log]);
  });
});
