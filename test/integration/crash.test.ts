/** What a process that dies at any instant leaves behind (spec.md#session-durable-copy). */
import { describe, expect, test } from "vitest";
import { replay } from "../../src/model/events/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import type { Table } from "../../src/substrate/index.ts";
import { corpusSession } from "../support/corpus-sessions.ts";
import { startChild } from "../support/child.ts";
import { tempDir } from "../support/temp-dir.ts";

const KILLS = 30;
const SESSIONS = 40;
const MESSAGES = 12;

describe("kill -9", () => {
  test(
    `${KILLS} kills in the middle of ingest and maintenance lose nothing acknowledged and double nothing`,
    { timeout: 300_000 },
    async () => {
      await using folder = await tempDir();
      const acknowledged = new Set<number>();
      const random = pseudoRandom(7);
      for (let kill = 0; kill < KILLS; kill++) {
        const order = Array.from({ length: SESSIONS }, (_, index) => (index * 7 + kill) % SESSIONS);
        const child = startChild("ingest-child.ts", {
          store: folder.path,
          order,
          messages: MESSAGES,
          maintainEvery: 3,
        });
        // Dies a random moment after a random number of acknowledged sessions: in a commit, between tables, in a fold.
        const after = Math.floor(random() * 6);
        await child.seen((_, lines) => lines.length > after);
        await spin(random() * 40);
        child.kill();
        await child.ended;
        for (const line of child.lines) if (line !== "open") acknowledged.add(Number(line));
      }
      expect(acknowledged.size).toBeGreaterThan(5);
      await expectWhole(folder.path, acknowledged);

      const order = Array.from({ length: SESSIONS }, (_, index) => index);
      const last = startChild("ingest-child.ts", { store: folder.path, order, messages: MESSAGES });
      expect((await last.ended).code).toBe(0);
      await expectWhole(folder.path, new Set(order));
    },
  );
});

/** Every session is there, value for value, and no row is there twice. */
async function expectWhole(path: string, sessions: ReadonlySet<number>): Promise<void> {
  await using store = await openSessionStore(
    { url: path, namespace: "default", options: {} },
    { create: true },
  );
  for (const index of sessions) {
    const [expected] = replay(corpusSession(index, MESSAGES));
    expect(await store.state(sessionId(`session-${index}`))).toEqual(expected);
  }
  const { sessions: rowsOfSessions, messages, parts, sources } = store.tables;
  for (const table of [rowsOfSessions, messages, parts, sources!] as unknown as readonly Table[]) {
    const key = table.spec.primaryKey;
    const rows = await table.scan({ select: key as never });
    const keys = Array.from({ length: rows.length }, (_, row) =>
      key.map((column) => rows.string(column as never, row)).join("\0"),
    );
    expect(new Set(keys).size).toBe(keys.length);
  }
}

/** Waits without a timer: the moment of the kill must not depend on the event loop alone. */
async function spin(milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) await new Promise((next) => setImmediate(next));
}

function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}
