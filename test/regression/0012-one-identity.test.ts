/**
 * Every source that names a session is a source of it, wherever it stands and whenever it was read: two folders of one
 * place that hold one session, each with its own end, are one session with two ends (spec.md#sync-places).
 */
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { restore, sync, verify, verifyStored } from "../../src/handlers/index.ts";
import { readLog, writeLog } from "../support/aged-files.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "11111111-1111-4111-8111-111111111111";
const ROLLOUT = `rollout-2026-01-01T00-00-00-${ID}.jsonl`;

type Log = (words: readonly string[]) => readonly object[];

const instant = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString();

const claudeLog: Log = (words) =>
  words.map((word, at) => ({
    type: "user",
    uuid: `u-${word}`,
    parentUuid: at === 0 ? null : `u-${words[at - 1]}`,
    sessionId: ID,
    cwd: "/srv/app",
    timestamp: instant(at),
    message: { role: "user", content: word },
  }));

const codexLog: Log = (words) => [
  {
    timestamp: instant(0),
    type: "session_meta",
    payload: { id: ID, timestamp: instant(0), cwd: "/srv/app" },
  },
  ...words.map((word, at) => ({
    timestamp: instant(at),
    type: "response_item",
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: word }] },
  })),
];

const PLACES = [
  {
    label: "two projects of Claude Code",
    adapter: "claude-code",
    log: claudeLog,
    files: [`.claude/projects/a/${ID}.jsonl`, `.claude/projects/b/${ID}.jsonl`],
  },
  {
    label: "an oddly named copy in Claude Code's place",
    adapter: "claude-code",
    log: claudeLog,
    files: [`.claude/projects/a/${ID}.jsonl`, ".claude/projects/a/before.jsonl"],
  },
  {
    label: "two days of Codex",
    adapter: "codex-cli",
    log: codexLog,
    files: [`.codex/sessions/2026/01/01/${ROLLOUT}`, `.codex/sessions/2026/01/02/${ROLLOUT}`],
  },
  {
    label: "a live and an archived session of Codex",
    adapter: "codex-cli",
    log: codexLog,
    files: [`.codex/sessions/2026/01/01/${ROLLOUT}`, `.codex/archived_sessions/${ROLLOUT}`],
  },
] as const;

type Place = (typeof PLACES)[number];

/** Which of the files turn up before each sync. */
const ORDERS = { "A then B": [[0], [1]], "B then A": [[1], [0]], "both at once": [[0, 1]] };

const WORDS = [
  ["one", "two", "left"],
  ["one", "two", "right", "further"],
] as const;

const write = (home: string, { files, log }: Place, which: number): void =>
  writeLog(join(home, files[which] ?? ""), log(WORDS[which] ?? []));

function loseCursors(home: string): void {
  const found = readdirSync(home, { recursive: true, encoding: "utf8" });
  const cursors = found.filter((path) => path.endsWith("cursors"));
  expect(cursors.length).toBeGreaterThan(0);
  for (const path of cursors) rmSync(join(home, path), { recursive: true });
}

interface Rows {
  readonly sessions: readonly string[];
  readonly messages: number;
  readonly parts: number;
}

async function rowsOf(context: Context): Promise<Rows> {
  const store = await context.store();
  const { messages, parts } = store.tables;
  const sessions: string[] = [];
  for await (const { id } of store.allSessions(() => undefined)) sessions.push(id);
  return {
    sessions,
    messages: (await messages.scan({ select: ["session_id"] })).length,
    parts: (await parts.scan({ select: ["session_id"] })).length,
  };
}

/** The rows after every step of an order, with two ends at each one from the first sync of both files on. */
async function rowsAfter(place: Place, order: readonly (readonly number[])[]): Promise<readonly Rows[]> {
  await using temp = await tempContext();
  const { context, home } = temp;
  const request = { ...IMPORT, adapters: [place.adapter] };
  const rows: Rows[] = [];
  const look = async (): Promise<void> => {
    rows.push(await rowsOf(context));
    const out = join(home, `out-${rows.length}`);
    const { state } = await restore(context, { session_id: ID, out });
    expect(state).toMatchObject({ ends: 2 });
    const [client] = (await verify(context, request)).clients;
    expect(client).toMatchObject({ unstored: 0, unequal: 0, differences: [] });
  };
  for (const files of order) {
    for (const which of files) write(home, place, which);
    await sync(context, request);
  }
  await look();
  await sync(context, { ...request, verify: true });
  await look();
  loseCursors(home);
  await sync(context, request);
  await look();
  return rows;
}

describe.each(PLACES)("$label", (place) => {
  test.each(Object.entries(ORDERS))("%s is one session with two ends", async (_name, order) => {
    const [first, ...later] = await rowsAfter(place, order);
    expect(first?.sessions).toEqual([ID]);
    // The two that both have are there once, and no record that only one has is missing.
    const words = [...new Set(WORDS.flat())];
    expect(first).toMatchObject({ messages: place.log(words).length, parts: words.length });
    expect(later).toEqual([first, first]);
  });
});

test("sessions of two clients that share an id are two ends, each restored into its own client", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const logs = [
    { adapter: "claude-code", path: `.claude/projects/a/${ID}.jsonl`, records: claudeLog(["one", "two"]) },
    { adapter: "codex-cli", path: `.codex/sessions/2026/01/01/${ROLLOUT}`, records: codexLog(["three"]) },
  ];
  for (const { path, records } of logs) writeLog(join(home, path), records);
  await sync(context, IMPORT);
  for (const { adapter, path, records } of logs) {
    const source = realpathSync(join(home, path));
    const out = join(home, `out-${adapter}`);
    const report = await restore(context, { session_id: ID, source, out });
    expect(report).toMatchObject({ to: adapter, fidelity: "native", state: { ends: 2 } });
    expect(readLog(report.files[0]!.path)).toEqual(records);
    const { clients } = await verifyStored(context, { adapters: [adapter] });
    expect(clients).toMatchObject([{ adapter, sources: 1, states: 1, proven: 1, unequal: 0 }]);
  }
});

test("a rollout that lost its first line is a later state of its session, told by the id in its name", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const path = join(home, `.codex/sessions/2026/01/01/${ROLLOUT}`);
  const records = codexLog(["one", "two"]);
  writeLog(path, records);
  await sync(context, IMPORT);
  writeLog(path, records.slice(1), 2);
  loseCursors(home);
  await sync(context, IMPORT);
  expect((await rowsOf(context)).sessions).toEqual([ID]);
  const newest = await restore(context, { session_id: ID, out: join(home, "newest") });
  expect(readLog(newest.files[0]!.path)).toEqual(records.slice(1));
  const before = await restore(context, { session_id: ID, out: join(home, "before"), state: 1 });
  expect(readLog(before.files[0]!.path)).toEqual(records);
});

test("a path that two machines read and found different things at needs to be told by its id", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await using other = await tempContext({ env: { POND_STORE: join(home, "store") } });
  const path = join(home, `.claude/projects/a/${ID}.jsonl`);
  const reading = { ...IMPORT, adapters: ["claude-code"], paths: [join(home, ".claude/projects")] };
  writeLog(path, claudeLog(["one", "left"]));
  await sync(context, reading);
  writeLog(path, claudeLog(["one", "right"]));
  await sync(other.context, reading);
  const request = { session_id: ID, source: path, out: join(home, "out") };
  await expect(restore(other.context, request)).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining("several machines read that path"),
  });
  const heads = await (await other.context.store()).stateHeads("claude-code");
  expect(heads.map(({ path: at }) => at)).toHaveLength(2);
  for (const [at, { source }] of heads.entries()) {
    const report = await restore(other.context, { ...request, source, out: join(home, `out-${at}`) });
    expect(report.state).toMatchObject({ source });
  }
});
