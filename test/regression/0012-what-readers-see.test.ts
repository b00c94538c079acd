/**
 * Readers were shown what was no longer there: search returned replaced and removed text unmarked, and where both
 * versions of a record matched it could show the old one; nothing said that a session has two ends, and what was replaced
 * could not be read again (issue 12, item 6). Through real stores, by real adapters.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json/json.ts";
import type { Context } from "../../src/handlers/index.ts";
import { listSessions, search, sync } from "../../src/handlers/index.ts";
import type { GetRequest, SearchRequest, SessionResult } from "../../src/wire/index.ts";
import { searchResponseSchema, sessionsResponseSchema } from "../../src/wire/schema.ts";
import { getMessage, getSession } from "../support/get-answers.ts";
import { Client, Machine, SESSION as OPENCODE } from "../support/opencode-machine.ts";
import { tempContext } from "../support/temp-context.ts";

const SESSION = "0a000000-0000-4000-8000-00000000000a";
const LOG = `-home-me-app/${SESSION}.jsonl`;

const uuid = (number: number): string => `0b000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

interface Line {
  readonly n: number;
  readonly text: string;
  readonly role?: "user" | "assistant";
  /** The record that it follows. */
  readonly parent?: number;
}

function record({ n, text, role = "user", parent = n - 1 }: Line): JsonObject {
  return {
    parentUuid: parent < 1 ? null : uuid(parent),
    isSidechain: false,
    userType: "external",
    cwd: "/home/me/app",
    sessionId: SESSION,
    version: "2.1.80",
    gitBranch: "main",
    type: role,
    message: role === "user" ? { role, content: text } : { role, content: [{ type: "text", text }] },
    uuid: uuid(n),
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
  };
}

function writeLog(place: string, lines: readonly Line[]): void {
  mkdirSync(join(place, "-home-me-app"), { recursive: true });
  rmSync(join(place, LOG), { force: true });
  writeFileSync(join(place, LOG), lines.map((line) => `${JSON.stringify(record(line))}\n`).join(""));
}

async function read(context: Context, ...places: readonly string[]): Promise<void> {
  for (const place of places) {
    const { clients } = await sync(context, { adapters: ["claude-code"], paths: [place] });
    expect(clients[0]!.issues).toEqual({});
  }
}

const session = (context: Context, request: GetRequest = {}): Promise<SessionResult> =>
  getSession(context, { session_id: SESSION, ...request });

const texts = ({ messages }: SessionResult): unknown[] => messages.map(({ text }) => text);
const marked = ({ messages }: SessionResult): unknown[] => messages.map(({ text, state }) => [text, state]);

async function find(context: Context, request: SearchRequest) {
  const response = await search(context, request);
  expect(searchResponseSchema.safeParse(response).error).toBeUndefined();
  return {
    total: response.matched_total,
    isExact: response.matched_total_exact,
    hits: response.sessions.flatMap(({ matches }) => matches.map(({ text, state }) => [text, state])),
  };
}

const MODES = ["words", "exact", "regex"] as const;

const COMMON: readonly Line[] = [
  { n: 1, text: "the common prompt" },
  { n: 2, text: "the common answer", role: "assistant" },
];
const LEFT: readonly Line[] = [...COMMON, { n: 3, text: "went left to the lemon" }];
const RIGHT: readonly Line[] = [
  ...COMMON,
  { n: 4, text: "went right to the lemon", parent: 2 },
  { n: 5, text: "and stayed there", role: "assistant" },
];

describe.each([
  ["the older one first", ["left", "right"]],
  ["the newer one first", ["right", "left"]],
] as const)("a session in two places that went different ways, %s", (_, order) => {
  async function twoEnds() {
    const temp = await tempContext();
    const places = { left: join(temp.home, "left"), right: join(temp.home, "right") };
    writeLog(places.left, LEFT);
    writeLog(places.right, RIGHT);
    for (const side of order) await read(temp.context, places[side]);
    return { ...temp, places };
  }

  test("shows its newest end and says that there are two", async () => {
    await using temp = await twoEnds();
    const { context, places } = temp;
    const newest = await session(context);
    expect(texts(newest)).toEqual(RIGHT.map(({ text }) => text));
    expect(newest).toMatchObject({
      end: 1,
      ends: [
        { end: 1, source: { path: join(places.right, LOG), form: "log" }, records: 4 },
        {
          end: 2,
          source: { path: join(places.left, LOG), form: "log" },
          records: 3,
          last_at: "2026-01-01T00:03:00.000Z",
          parted_after: uuid(2),
        },
      ],
    });
    expect(newest.replaced).toBeUndefined();
    const other = await session(context, { end: 2 });
    expect([texts(other), other.end]).toEqual([LEFT.map(({ text }) => text), 2]);
    await expect(session(context, { end: 3 })).rejects.toThrow("has no end 3");
    const list = await listSessions(context, {});
    expect(sessionsResponseSchema.safeParse(list).error).toBeUndefined();
    expect(list.sessions).toMatchObject([{ ends: 2, messages: { total: 4 } }]);
  });

  test.each(MODES)("is found in both ends by %s, the common part once", async (mode) => {
    await using temp = await twoEnds();
    const { context } = temp;
    expect(await find(context, { query: "common", mode })).toMatchObject({ total: 2 });
    const lemon = await find(context, { query: "lemon", mode });
    expect([lemon.total, lemon.isExact]).toEqual([2, true]);
    expect(new Set(lemon.hits)).toEqual(
      new Set([
        ["went left to the lemon", "other_end"],
        ["went right to the lemon", undefined],
      ]),
    );
  });

  test("a message of the other end is read among its own, and its history holds both", async () => {
    await using temp = await twoEnds();
    const { context } = temp;
    const left = await getMessage(context, { message_id: uuid(3) });
    expect(left.target).toMatchObject({ text: "went left to the lemon", state: "other_end" });
    expect(left.siblings.map(({ text }) => text)).toEqual(["the common prompt", "the common answer"]);
    expect(left.siblings_before).toBe(2);
    expect(marked(await session(context, { history: true }))).toEqual([
      ["the common prompt", undefined],
      ["the common answer", undefined],
      ["went left to the lemon", "other_end"],
      ["went right to the lemon", undefined],
      ["and stayed there", undefined],
    ]);
  });
});

describe("a record that its client rewrote", () => {
  const before: readonly Line[] = [
    { n: 1, text: "plant a fig" },
    { n: 2, text: "planted", role: "assistant" },
  ];
  const after: readonly Line[] = [{ n: 1, text: "plant a fig tree" }, ...before.slice(1)];

  async function rewritten(...states: readonly (readonly Line[])[]) {
    const temp = await tempContext();
    const place = join(temp.home, "place");
    for (const state of states) {
      writeLog(place, state);
      await read(temp.context, place);
    }
    return temp;
  }

  test.each(MODES)("is found by %s in its newest version, in others when asked", async (mode) => {
    await using temp = await rewritten(before, after);
    const { context } = temp;
    expect(await find(context, { query: "fig", mode })).toEqual({
      total: 1,
      isExact: true,
      hits: [["plant a fig tree", undefined]],
    });
    const all = await find(context, { query: "fig", mode, include_superseded: true });
    expect([all.total, new Set(all.hits)]).toEqual([
      2,
      new Set([
        ["plant a fig tree", undefined],
        ["plant a fig", "superseded"],
      ]),
    ]);
  });

  test("is read and counted as it is now; its history shows what it was", async () => {
    await using temp = await rewritten(before, after);
    const { context } = temp;
    const now = await session(context);
    expect([texts(now), now.replaced, now.ends]).toEqual([["plant a fig tree", "planted"], 1, undefined]);
    expect((await listSessions(context, {})).sessions).toMatchObject([
      { title: "plant a fig tree", messages: { total: 2 } },
    ]);
    expect(marked(await session(context, { history: true }))).toEqual([
      ["plant a fig", "superseded"],
      ["plant a fig tree", undefined],
      ["planted", undefined],
    ]);
    const old = await getMessage(context, { message_id: uuid(1) });
    expect(old).toMatchObject({ target: { text: "plant a fig", state: "superseded" } });
    expect(old.siblings.map(({ text }) => text)).toEqual(["plant a fig tree", "planted"]);
  });

  test.each(MODES)("and wrote back as it was is current again, to %s too", async (mode) => {
    await using temp = await rewritten(before, after, before);
    const { context } = temp;
    expect(await find(context, { query: "fig", mode })).toMatchObject({
      total: 1,
      hits: [["plant a fig", undefined]],
    });
    expect(texts(await session(context))).toEqual(["plant a fig", "planted"]);
    expect((await listSessions(context, {})).sessions).toMatchObject([{ title: "plant a fig" }]);
    expect(marked(await session(context, { history: true }))).toContainEqual([
      "plant a fig tree",
      "superseded",
    ]);
  });

  test("and then took away is removed in its last version", async () => {
    await using temp = await rewritten(before, after, before.slice(1));
    const { context } = temp;
    expect(await find(context, { query: "fig" })).toMatchObject({
      total: 1,
      hits: [["plant a fig tree", "removed"]],
    });
    expect(await session(context)).toMatchObject({ replaced: 2 });
  });

  test("a backup from before adds nothing and hides nothing, whichever is read first", async () => {
    for (const order of [
      ["live", "backup"],
      ["backup", "live"],
    ]) {
      await using temp = await tempContext();
      const place = (name: string): string => join(temp.home, name);
      writeLog(place("live"), before);
      await read(temp.context, place("live"));
      writeLog(place("live"), [...before, { n: 3, text: "and a pear" }]);
      writeLog(place("backup"), before);
      for (const name of order) await read(temp.context, place(name));
      const now = await session(temp.context);
      expect([texts(now).at(-1), now.ends, now.replaced]).toEqual(["and a pear", undefined, undefined]);
      expect(await find(temp.context, { query: "fig" })).toMatchObject({
        hits: [["plant a fig", undefined]],
      });
    }
  });
});

test("a message that opencode removed is found with a mark, and is read where it stood", async () => {
  await using machine = await Machine.start();
  const { context } = machine;
  {
    using client = new Client(machine);
    client.message("msg_zz1", {
      role: "user",
      time: { created: machine.now },
      agent: "build",
      model: { providerID: "p", modelID: "m" },
    });
    client.part("prt_zz1", "msg_zz1", { type: "text", text: "water the quince" });
  }
  await machine.sync();
  const [line] = (await listSessions(context, {})).sessions.filter(({ id }) => id === OPENCODE);
  expect(await find(context, { query: "quince" })).toMatchObject({ hits: [["water the quince", undefined]] });
  {
    using client = new Client(machine);
    client.run("DELETE FROM part WHERE id = ?", "prt_zz1");
    client.run("DELETE FROM message WHERE id = ?", "msg_zz1");
  }
  machine.now += 3_600_000;
  await machine.sync();
  for (const mode of MODES)
    expect(await find(context, { query: "quince", mode })).toEqual({
      total: 1,
      isExact: true,
      hits: [["water the quince", "removed"]],
    });
  const now = await session(context, { session_id: OPENCODE, session_from: "end" });
  expect(texts(now)).not.toContain("water the quince");
  const past = await session(context, { session_id: OPENCODE, session_from: "end", history: true });
  expect(marked(past)).toContainEqual(["water the quince", "removed"]);
  const gone = await getMessage(context, { message_id: "msg_zz1" });
  expect(gone.target).toMatchObject({ text: "water the quince", state: "removed" });
  expect(gone.siblings.length).toBeGreaterThan(0);
  const [after] = (await listSessions(context, {})).sessions.filter(({ id }) => id === OPENCODE);
  expect(after!.messages.user).toBe(line!.messages.user - 1);
});
