/** The same file is the same session, by whatever `--path` it was found (spec.md#sync-places). */
import { cpSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { sync, verify } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");

const ID = "11111111-1111-4111-8111-111111111111";

/** Where each client looks in a home, and what stands there here: copies and odd names among it. */
const PLACES = [
  { adapter: "claude-code", fixture: "claude-code/projects", place: ".claude/projects" },
  { adapter: "codex-cli", fixture: "codex-cli/home", place: ".codex" },
  { adapter: "opencode", fixture: "opencode/data", place: ".local/share/opencode" },
  { adapter: "pi", fixture: "pi/sessions", place: ".pi/agent/sessions" },
];

async function sessionsOf(context: Context): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of (await context.store()).allSessions(() => undefined)) ids.push(id);
  return ids.toSorted();
}

describe.each(PLACES)("$adapter", ({ adapter, fixture, place }) => {
  test("what stands in the client's own place is fresh by every path to it", async () => {
    await using temp = await tempContext();
    const root = join(temp.home, place);
    cpSync(join(FIXTURES, fixture), root, { recursive: true });
    const inside = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => join(root, path));
    // Long ago, so that nothing waits for more.
    for (const path of inside) utimesSync(path, 1, 1);
    const { clients } = await sync(temp.context, { ...IMPORT, adapters: [adapter] });
    const before = await sessionsOf(temp.context);
    // The home holds what pond keeps, too.
    const above = [dirname(root), root].filter((path) => path !== temp.home);
    const link = join(temp.home, "link");
    symlinkSync(root, link);
    const linkAbove = join(temp.home, "link-above");
    symlinkSync(dirname(root), linkAbove);
    if (dirname(root) !== temp.home) above.push(linkAbove);
    for (const path of [...above, ...inside, link, ...inside.map((each) => link + each.slice(root.length))]) {
      const [client] = (await sync(temp.context, { ...IMPORT, adapters: [adapter], paths: [path] })).clients;
      expect([path, client?.stored.messages.inserted]).toEqual([path, 0]);
      // The many files of a tree of opencode are one stamp, by their paths: it is read again.
      if (path === linkAbove && adapter === "opencode") continue;
      expect([path, client?.read]).toEqual([path, 0]);
      if (above.includes(path)) expect(client?.seen).toBe(clients[0]?.seen);
    }
    expect(await sessionsOf(temp.context)).toEqual(before);
    expect(before.length).toBeGreaterThan(3);
  });

  test("what stands elsewhere is one session by every path to it", async () => {
    await using temp = await tempContext();
    const folder = join(temp.home, "backup/2026/logs");
    const log = join(folder, writeOddLog(adapter, folder));
    for (const path of [log, folder, dirname(folder), dirname(dirname(folder))])
      await sync(temp.context, { ...IMPORT, adapters: [adapter], paths: [path] });
    expect(await sessionsOf(temp.context)).toEqual([adapter === "opencode" ? "ses_1" : ID]);
  });
});

test.each(["codex-cli", "pi"])(
  "a log of %s that names no session is one by every path to it",
  async (adapter) => {
    await using temp = await tempContext();
    const folder = join(temp.home, "backup/2026/logs");
    const log = join(folder, writeOddLog(adapter, folder, { isNamed: false }));
    for (const path of [log, folder, dirname(folder), dirname(dirname(folder))])
      await sync(temp.context, { ...IMPORT, adapters: [adapter], paths: [path] });
    expect(await sessionsOf(temp.context)).toEqual([expect.stringMatching(/^odd@[0-9a-f]{8}$/)]);
  },
);

// A cursor of opencode, whose containers hold any number of sessions, names none.
test.each([
  { adapter: "claude-code", isNamed: true, sessions: 1 },
  { adapter: "codex-cli", isNamed: true, sessions: 1 },
  { adapter: "codex-cli", isNamed: false, sessions: 2 },
  { adapter: "pi", isNamed: true, sessions: 1 },
  { adapter: "pi", isNamed: false, sessions: 2 },
])(
  "verify compares each log of $adapter (named: $isNamed) with its own session, by every path to it",
  async ({ adapter, isNamed, sessions }) => {
    await using temp = await tempContext();
    const folders = ["a", "b"].map((name) => join(temp.home, "backup", name));
    const [log = "", other = ""] = folders.map((folder) =>
      join(folder, writeOddLog(adapter, folder, { text: folder, isNamed })),
    );
    for (const path of [log, other, ...folders, dirname(folders[0] ?? "")]) {
      await sync(temp.context, { ...IMPORT, adapters: [adapter], paths: [path] });
      const [client] = (await verify(temp.context, { adapters: [adapter], paths: [path] })).clients;
      expect([path, client]).toMatchObject([path, { unstored: 0, unequal: 0, differences: [] }]);
    }
    expect(await sessionsOf(temp.context)).toHaveLength(sessions);
  },
);

test("what is named beside the sessions in Codex's own place is read as of that place", async () => {
  await using temp = await tempContext();
  const root = join(temp.home, ".codex");
  mkdirSync(join(root, "sessions"), { recursive: true });
  const folder = join(root, "sessions.old/2026");
  const log = join(folder, writeOddLog("codex-cli", folder));
  const request = { ...IMPORT, adapters: ["codex-cli"] };
  for (const [index, path] of [log, folder, dirname(folder)].entries())
    expect((await sync(temp.context, { ...request, paths: [path] })).clients).toMatchObject([
      { seen: 1, fresh: Math.sign(index), read: 1 - Math.sign(index) },
    ]);
  expect((await sync(temp.context, request)).clients).toMatchObject([{ seen: 0 }]);
});

interface OddLog {
  readonly text?: string;
  readonly isNamed?: boolean;
}

/** A log whose name does not tell its session; its records do, unless nothing is to. */
function writeOddLog(
  adapter: string,
  folder: string,
  { text = "hello", isNamed = true }: OddLog = {},
): string {
  const id = isNamed ? ID : undefined;
  const timestamp = "2026-01-01T00:00:00.000Z";
  const content = [{ type: "text", text }];
  const message = { role: "user", content };
  const time = { created: 1_767_225_600_000, updated: 1_767_225_600_000 };
  const user = { id: "msg_1", sessionID: "ses_1", role: "user", time, agent: "build" };
  const logs: Readonly<Record<string, readonly unknown[]>> = {
    "claude-code": [{ type: "user", uuid: "u1", sessionId: id, cwd: "/home/me/app", timestamp, message }],
    "codex-cli": [
      { timestamp, type: "session_meta", payload: { id, timestamp, cwd: "/home/me/app" } },
      { timestamp, type: "response_item", payload: { type: "message", ...message } },
    ],
    opencode: [
      {
        info: { id: "ses_1", directory: "/home/me/app", title: "a", time },
        messages: [
          { info: user, parts: [{ id: "prt_1", sessionID: "ses_1", messageID: "msg_1", ...content[0] }] },
        ],
      },
    ],
    pi: [
      { type: "session", version: 3, id, timestamp, cwd: "/home/me/app" },
      { type: "message", id: "a1", parentId: null, timestamp, message },
    ],
  };
  const name = adapter === "opencode" ? "session-export.json" : "odd.jsonl";
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, name),
    `${(logs[adapter] ?? []).map((record) => JSON.stringify(record)).join("\n")}\n`,
  );
  // Long ago, so that nothing waits for more.
  utimesSync(join(folder, name), 1, 1);
  return name;
}
