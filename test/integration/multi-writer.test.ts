/** Any number of writers at once leave exactly one copy of every row (spec.md#adapter-integrity-additive-sync). */
import { expect, test } from "vitest";
import { replay, sessionId } from "../../src/model/index.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import { corpusSession } from "../support/corpus-sessions.ts";
import { startChild } from "../support/child.ts";
import { tempDir } from "../support/temp-dir.ts";

const WRITERS = 5;
const SESSIONS = 16;
const MESSAGES = 15;

test(
  "five processes that ingest the same and overlapping sessions at once",
  { timeout: 180_000 },
  async () => {
    await using folder = await tempDir();
    const children = Array.from({ length: WRITERS }, (_, writer) => {
      // The same sessions in another order; every other writer has only half of each session.
      const order = Array.from({ length: SESSIONS }, (__, index) => (index * 5 + writer) % SESSIONS);
      const messages = writer % 2 === 0 ? MESSAGES : Math.ceil(MESSAGES / 2);
      return startChild("ingest-child.ts", { store: folder.path, order, messages });
    });
    for (const child of children) expect(await child.ended).toEqual({ code: 0, stderr: "" });

    await using store = await openSessionStore(
      { url: folder.path, namespace: "default", options: {} },
      { create: true },
    );
    for (let index = 0; index < SESSIONS; index++) {
      const [expected] = replay(corpusSession(index, MESSAGES));
      expect(await store.state(sessionId(`session-${index}`))).toEqual(expected);
    }
    const { sessions, messages, parts } = store.tables;
    expect(await sessions.count()).toBe(SESSIONS);
    expect(await messages.count()).toBe(SESSIONS * MESSAGES);
    expect(await parts.count()).toBe(SESSIONS * MESSAGES);
  },
);
