/** The same file is the same session, by whatever `--path` it was found (spec.md#sync-places). */
import { cpSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { sync } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");

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
    const { clients } = await sync(temp.context, { adapters: [adapter] });
    const before = await sessionsOf(temp.context);
    // The home holds what pond keeps, too.
    const above = [dirname(root), root].filter((path) => path !== temp.home);
    const link = join(temp.home, "link");
    symlinkSync(root, link);
    for (const path of [...above, ...inside, link, ...inside.map((each) => link + each.slice(root.length))]) {
      const [client] = (await sync(temp.context, { adapters: [adapter], paths: [path] })).clients;
      expect([path, client?.read, client?.stored.messages.inserted]).toEqual([path, 0, 0]);
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
      await sync(temp.context, { adapters: [adapter], paths: [path] });
    expect(await sessionsOf(temp.context)).toEqual([expect.stringMatching(/@[0-9a-f]{8}$/)]);
  });
});

/** A log whose name does not tell its session. */
function writeOddLog(adapter: string, folder: string): string {
  const id = "11111111-1111-4111-8111-111111111111";
  const timestamp = "2026-01-01T00:00:00.000Z";
  const content = [{ type: "text", text: "hello" }];
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
  return name;
}
