/**
 * A first import that was killed every second never came to its end (issue 13, item 9): cursors moved only with every fourth
 * batch of 10 MB, and the next run began where this one had. Where a sync was killed, the next one makes what it has read
 * durable soon (spec.md#session-ingest), so that each run leaves less to the one behind it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sync, verify } from "../../src/handlers/index.ts";
import { writeLog } from "../support/aged-files.ts";
import { startChild } from "../support/child.ts";
import { tempContext } from "../support/temp-context.ts";

const SESSIONS = 6;
const MESSAGES = 4;

const idOf = (n: number): string => `${String(n).padStart(8, "0")}-1111-4111-8111-111111111111`;

const record = (session: number, n: number): object => ({
  type: "user",
  uuid: `${session}-${n}`,
  parentUuid: null,
  sessionId: idOf(session),
  cwd: "/srv/app",
  timestamp: new Date(Date.UTC(2026, 0, 1, 0, session, n)).toISOString(),
  message: { role: "user", content: `message ${n} of session ${session}` },
});

/** Sources that are remembered as read. */
function remembered(home: string): number {
  const folder = join(home, ".local/state/pond/cursors");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  const lines = files
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1))
    .filter((line) => line.startsWith("["));
  return new Set(lines.map((line) => (JSON.parse(line) as readonly unknown[]).slice(0, 3).join(" "))).size;
}

test(
  "an import that is killed whenever it has stored something comes to its end",
  { timeout: 300_000 },
  async () => {
    await using at = await tempContext();
    for (let session = 0; session < SESSIONS; session += 1)
      writeLog(
        join(at.home, ".claude/projects/-srv-app", `${idOf(session)}.jsonl`),
        Array.from({ length: MESSAGES }, (_, n) => record(session, n)),
      );
    // The first one is killed before it has stored anything.
    const first = await startChild("slow-sync-child.ts", { home: at.home, dieAt: "source" }).ended;
    expect([first, remembered(at.home)]).toEqual([{ code: null, stderr: "" }, 0]);
    let [before, messages, kills] = [0, 0, 1];
    for (; ; kills += 1) {
      const child = startChild("slow-sync-child.ts", { home: at.home, dieAt: "cursor" });
      const { code, stderr } = await child.ended;
      expect(stderr).toBe("");
      if (code !== null) break;
      const now = remembered(at.home);
      expect(now).toBeGreaterThan(before);
      before = now;
      const stored = await (await at.context.store()).tables.messages.count();
      expect(stored).toBeGreaterThanOrEqual(Math.max(messages, now * MESSAGES));
      messages = stored;
    }
    // Not all at once, at its end.
    expect(kills).toBeGreaterThan(SESSIONS / 2);
    expect(remembered(at.home)).toBe(SESSIONS);
    expect((await verify(at.context, {})).clients).toMatchObject([
      { proven: true, sessions: SESSIONS, recorded: SESSIONS, records: SESSIONS * MESSAGES },
    ]);
  },
);

test("indexes that a sync did not come to are made by the next one, though it finds nothing new", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const log = join(home, ".claude/projects/-srv-app/11111111-1111-4111-8111-111111111111.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  const message = { role: "user", content: "hello" };
  const timestamp = "2026-01-01T00:00:00.000Z";
  writeFileSync(log, `${JSON.stringify({ type: "user", uuid: "1", cwd: "/srv/app", timestamp, message })}\n`);
  // As one that was killed behind its last commit leaves it.
  await sync(context, { stages: ["import"] });
  const next = await sync(context, {});
  expect(next.clients[0]).toMatchObject({ seen: 1, read: 0 });
  expect(next.indexes.outcome).toBe("updated");
  expect((await sync(context, {})).indexes.outcome).toBe("nothing to do");
});
