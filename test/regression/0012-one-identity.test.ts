/**
 * Every source that names a session is a source of it, wherever it stands and whenever it was read: two folders of one
 * place that hold one session, each with its own end, are one session with two ends (spec.md#sync-places).
 */
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { restore, sync, verify } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";

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

function write(home: string, { files, log }: Place, which: number): void {
  const path = join(home, files[which] ?? "");
  mkdirSync(dirname(path), { recursive: true });
  const records = log(WORDS[which] ?? []);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  // Long ago, so that nothing waits for more.
  utimesSync(path, 1, 1);
}

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
  const request = { adapters: [place.adapter] };
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
