/**
 * The size bound measured the JSON of a text, so that 28 MB of lines were cut; what was cut was lost for native restore; a
 * record that is long by many small values left only a marker, which no adapter could restore; and a file beside a log
 * that no row could hold stopped all files behind it, at every sync.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, get, listSessions, restore, search, sync, verify } from "../../src/handlers/index.ts";
import { openJson, sessionId } from "../../src/model/index.ts";
import { LATER } from "../support/adapter-run.ts";
import { Machine } from "../support/opencode-machine.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { ClientReport } from "../../src/wire/sync.ts";

const MIB = 1024 * 1024;
const SESSION = "00000000-0000-4000-8000-000000000001";
const at = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

/** 40 MB of values that no cut makes shorter: Codex was given back null in the place of such a record. */
const SMALL_VALUES = Array.from({ length: 650_000 }, (_, n) => String(n).padStart(60, "."));
/** Past the bound, and another character at its end than at its head. */
const LONG = `${"long text ".repeat(3.4 * MIB)}end`;

interface Source {
  readonly name: string;
  /** Files below the place. */
  readonly files: (text: string) => ReadonlyMap<string, readonly object[]>;
  readonly records: number;
}

const SOURCES: readonly Source[] = [
  {
    name: "claude-code",
    records: 3,
    files: (text) =>
      jsonl(`-home-me-app/${SESSION}.jsonl`, [
        claude(0, "user", "the first prompt"),
        claude(1, "user", [{ type: "tool_result", tool_use_id: "t", content: text }]),
        claude(2, "assistant", [{ type: "text", text: "the last answer" }]),
      ]),
  },
  {
    name: "codex-cli",
    records: 4,
    files: (text) =>
      jsonl(`sessions/2026/01/01/rollout-2026-01-01T00-00-00-${SESSION}.jsonl`, [
        codex(0, "session_meta", { id: SESSION, timestamp: at(0), cwd: "/home/me/app" }),
        codex(1, "response_item", { type: "function_call_output", call_id: "c", output: text }),
        codex(2, "event_msg", { type: "token_count", info: SMALL_VALUES }),
        codex(3, "response_item", {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "the last answer" }],
        }),
      ]),
  },
  {
    name: "pi",
    records: 4,
    files: (text) =>
      jsonl(`--home-me-app--/2026-01-01T00-00-00-000Z_${SESSION}.jsonl`, [
        { type: "session", version: 3, id: SESSION, cwd: "/home/me/app", timestamp: at(0) },
        pi(1, { role: "user", content: "the first prompt" }),
        // Several records on one line.
        [pi(2, { role: "user", content: text }), pi(3, { role: "user", content: "x" })],
        pi(4, { role: "assistant", content: [{ type: "text", text: "the last answer" }] }),
      ]),
  },
  {
    name: "opencode",
    records: 1,
    files: (text) => {
      const time = { created: Date.parse(at(0)), updated: Date.parse(at(1)) };
      const info = { id: "ses_1", projectID: "p", directory: "/home/me/app", title: "a", version: "1", time };
      const message = (id: string, role: string, parts: readonly object[]): object => ({
        info: { id, sessionID: "ses_1", role, time },
        parts: parts.map((part, n) => ({ id: `${id}p${n}`, sessionID: "ses_1", messageID: id, ...part })),
      });
      const state = { status: "completed", input: {}, output: text, metadata: {}, time: {}, title: "" };
      const value = {
        info,
        messages: [
          message("m1", "user", [{ type: "text", text: "the first prompt" }]),
          message("m2", "assistant", [{ type: "tool", callID: "c", tool: "bash", state }]),
          message("m3", "assistant", [{ type: "text", text: "the last answer" }]),
        ],
      };
      return new Map([["export.json", [value]]]);
    },
  },
];

describe.each(SOURCES)("a session of $name", ({ name, files, records }) => {
  test(
    "with a text past the bound restores equal, and shows the head of the text",
    { timeout: 240_000 },
    async () => {
      await using home = await tempHome();
      home.write(files(LONG));
      const source = { adapters: [name], paths: [home.place] };
      const { issues } = await synced(home.context, source);
      expect(issues).toEqual({ truncated_value: 1 });
      const [proof] = (await verify(home.context, source)).clients;
      expect(proof).toMatchObject({ records, equal: records, unequal: 0, differences: [] });
      expect(await synced(home.context, source)).toMatchObject({ fresh: 1, stored: { commits: 0 } });

      const session = (await listSessions(home.context, {})).sessions[0]?.id ?? "";
      const messages = await messagesOf(home.context, session);
      const shown = JSON.stringify(messages);
      expect(shown.includes(`<pond:truncated ${LONG.length} bytes>`)).toBe(true);
      expect(shown.includes("whole")).toBe(false);
      const found = await search(home.context, { query: "the last answer" });
      expect(found).toMatchObject({ sessions: [{ session_id: session }] });
    },
  );
});

test("a text of 28 MB is kept as it is, however long its JSON", { timeout: 120_000 }, async () => {
  await using home = await tempHome();
  const text = '"\n'.repeat(14 * MIB);
  home.write(SOURCES[0]!.files(text));
  const source = { adapters: ["claude-code"], paths: [home.place] };
  expect(await synced(home.context, source)).toMatchObject({ issues: {} });
  const store = await home.context.store();
  const state = await store.state(sessionId(SESSION));
  const part = state?.messages[1]?.parts[0];
  // Compared here: a test that fails must not print 28 MB.
  expect(part?.type === "tool_result" && part.result !== undefined && openJson(part.result) === text).toBe(
    true,
  );
});

test("a line that is not JSON is kept byte for byte past the bound", { timeout: 120_000 }, async () => {
  await using home = await tempHome();
  const [path] = home.write(SOURCES[0]!.files("short"));
  // A file system that lost a block leaves zeros, each of which takes six characters in JSON.
  const file = openSync(path!, "a");
  writeSync(file, Buffer.alloc(40 * MIB));
  writeSync(file, `\n${JSON.stringify(claude(9, "user", "behind it"))}\n`);
  closeSync(file);
  const source = { adapters: ["claude-code"], paths: [home.place] };
  expect(await synced(home.context, source)).toMatchObject({ issues: { not_json: 1, truncated_value: 1 } });
  const [proof] = (await verify(home.context, source)).clients;
  expect(proof).toMatchObject({ records: 5, equal: 5, differences: [] });
});

test(
  "a file of 260 MB beside a log is stored, one past the bound is an issue once, and the files behind them are stored",
  { timeout: 240_000 },
  async () => {
    await using home = await tempHome();
    home.write(SOURCES[0]!.files("short"));
    const folder = join(home.place, `-home-me-app/${SESSION}/tool-results`);
    mkdirSync(folder, { recursive: true });
    // Holes take no room on disk.
    for (const [name, bytes] of [["a.txt", 260_000_000] as const, ["b.txt", 513 * MIB] as const]) {
      const file = openSync(join(folder, name), "w");
      ftruncateSync(file, bytes);
      closeSync(file);
    }
    writeFileSync(join(folder, "c.txt"), "behind them");
    const source = { adapters: ["claude-code"], paths: [home.place] };
    expect(await synced(home.context, source)).toMatchObject({ read: 1, issues: { too_long: 1 } });
    expect(await synced(home.context, source)).toMatchObject({ fresh: 1, read: 0, issues: {} });
    const { files } = await restore(home.context, { session_id: SESSION, out: join(home.path, "out") });
    expect(files.map(({ bytes }) => bytes).toSorted((a, b) => b - a)).toMatchObject([
      260_000_000,
      expect.any(Number),
      11,
    ]);
  },
);

test.each(["legacy", "data"])(
  "a file that no text can hold, beside a session of opencode (%s), is an issue, and the session is stored",
  async (fixture) => {
    await using machine = await Machine.start(fixture);
    const session = "ses_e1dfc6e09ffe3lAwy288LtSjGi";
    const file = openSync(join(machine.place, `storage/session_diff/${session}.json`), "w");
    ftruncateSync(file, 513 * MIB);
    closeSync(file);
    expect(await machine.sync()).toMatchObject({ issues: { too_long: 1 } });
    expect((await machine.messages(session)).length).toBeGreaterThan(0);
    expect(await machine.sync()).toMatchObject({ read: 0, issues: {} });
  },
);

interface Home extends AsyncDisposable {
  readonly context: Context;
  readonly path: string;
  readonly place: string;
  /** Tells where the files are. */
  write(files: ReadonlyMap<string, readonly object[]>): readonly string[];
}

async function tempHome(): Promise<Home> {
  const folder = await tempDir();
  const environment = { env: {}, home: folder.path, platform: "linux" as const, cwd: folder.path };
  const config = await loadConfig({ environment });
  const { signal } = new AbortController();
  // Long after any file was written, so that nothing waits for more.
  const clock = { ...systemClock, now: () => LATER };
  const context = createContext({ config, machine: environment, signal, clock });
  const place = join(folder.path, "place");
  return {
    context,
    path: folder.path,
    place,
    write: (files) =>
      [...files].map(([key, records]) => {
        const path = join(place, key);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
        return path;
      }),
    [Symbol.asyncDispose]: async () => {
      await context[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function synced(
  context: Context,
  source: { readonly adapters: readonly string[]; readonly paths: readonly string[] },
): Promise<ClientReport> {
  const { clients } = await sync(context, { ...source, stages: ["import"] });
  return clients[0]!;
}

async function messagesOf(context: Context, session_id: string): Promise<readonly object[]> {
  const messages: object[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await get(context, {
      session_id,
      response_mode: "verbatim",
      ...(after === undefined ? {} : { after_id: after }),
    });
    if (page.scope !== "session" || page.messages.length === 0) return messages;
    messages.push(...page.messages);
    after = page.messages.at(-1)?.id;
  }
}

function jsonl(key: string, records: readonly object[]): ReadonlyMap<string, readonly object[]> {
  return new Map([[key, records]]);
}

function claude(n: number, role: string, content: unknown): object {
  return {
    type: role,
    uuid: `u${n}`,
    parentUuid: n === 0 ? null : `u${n - 1}`,
    sessionId: SESSION,
    cwd: "/home/me/app",
    timestamp: at(n),
    message: { role, content },
  };
}

function codex(n: number, type: string, payload: object): object {
  return { timestamp: at(n), type, payload };
}

function pi(n: number, message: object): object {
  return { type: "message", id: `e${n}`, parentId: n === 1 ? null : `e${n - 1}`, timestamp: at(n), message };
}
