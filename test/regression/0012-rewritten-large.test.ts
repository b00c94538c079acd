/**
 * A record of a large log that was rewritten with equal length, far before its end, was taken for unchanged; where the log
 * grew too, a state was recorded that its source never had (spec.md#sync-change-detection).
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { restore, sync, verify } from "../../src/handlers/index.ts";
import { readLog, writeLog } from "../support/aged-files.ts";
import { tempContext } from "../support/temp-context.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const instant = (at: number): string => new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();

type Line = (text: string, at: number) => object;

const CLIENTS: readonly {
  readonly adapter: string;
  readonly path: string;
  readonly head: readonly object[];
  readonly line: Line;
}[] = [
  {
    adapter: "claude-code",
    path: `.claude/projects/a/${ID}.jsonl`,
    head: [],
    line: (text, at) => ({
      type: "user",
      uuid: `u-${at}`,
      parentUuid: at === 0 ? null : `u-${at - 1}`,
      sessionId: ID,
      cwd: "/srv/app",
      timestamp: instant(at),
      message: { role: "user", content: text },
    }),
  },
  {
    adapter: "codex-cli",
    path: `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${ID}.jsonl`,
    head: [
      {
        timestamp: instant(0),
        type: "session_meta",
        payload: { id: ID, timestamp: instant(0), cwd: "/srv/app" },
      },
    ],
    line: (text, at) => ({
      timestamp: instant(at),
      type: "response_item",
      payload: {
        type: "message",
        id: `m-${at}`,
        role: "user",
        content: [{ type: "input_text", text }],
      },
    }),
  },
  {
    adapter: "pi",
    path: `.pi/agent/sessions/--srv-app--/2026-01-01T00-00-00-000Z_${ID}.jsonl`,
    head: [{ type: "session", version: 3, id: ID, timestamp: instant(0), cwd: "/srv/app" }],
    line: (text, at) => ({
      type: "message",
      id: `m${at}`,
      parentId: at === 0 ? null : `m${at - 1}`,
      timestamp: instant(at),
      message: { role: "user", content: text, timestamp: Date.UTC(2026, 0, 1) + at * 1000 },
    }),
  },
];

const FILLER = "x".repeat(100_000);

const SIZES = { "2 MB": 20, "5 MB": 50 };

describe.each(CLIENTS)("$adapter", ({ adapter, path: key, head, line }) => {
  test.each(
    Object.entries(SIZES).flatMap(([size, count]) => [
      { size, count, grown: 0 },
      { size, count, grown: 1 },
    ]),
  )("a log of $size, and $grown more records", async ({ count, grown }) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    const path = join(home, key);
    const write = (word: string, more: number, time: number): readonly object[] => {
      const records = Array.from({ length: count + more }, (_, at) =>
        line(at === 5 ? `${word} ${FILLER}` : `${at} ${FILLER}`, at),
      );
      writeLog(path, [...head, ...records], time);
      return [...head, ...records];
    };
    const stages = ["import"] as const;
    write("before", 0, 1);
    await sync(context, { adapters: [adapter], stages });
    const records = write("behind", grown, 2);
    await sync(context, { adapters: [adapter], stages });
    const [client] = (await verify(context, { adapters: [adapter] })).clients;
    expect(client).toMatchObject({ proven: true, recorded: 1 });
    const { files } = await restore(context, { session_id: ID, out: join(home, "out") });
    expect(readLog(files[0]!.path)).toEqual(records);
  });
});
