/** Embedding that dies at any instant, in processes beside each other: nothing is doubled, and the next run goes on. */
import { expect, test } from "vitest";
import { corpusSession } from "../support/corpus-sessions.ts";
import { startChild } from "../support/child.ts";
import { fakeEmbedder, fakeVector } from "../support/fake-embedder.ts";
import { tempContext } from "../support/temp-context.ts";

const KILLS = 8;
const SESSIONS = 6;
const MESSAGES = 60;

test(
  `${KILLS} kills in the middle of embedding, two at a time: each message has one vector in the end`,
  { timeout: 300_000 },
  async () => {
    await using temp = await tempContext();
    for (let index = 0; index < SESSIONS; index++) await temp.ingest(corpusSession(index, MESSAGES));
    let calls = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Each has a state folder of its own, as two machines have: neither waits for the other.
      const children = ["one", "two"].map((machine) =>
        startChild("embed-child.ts", { home: `${temp.home}/${machine}`, store: `${temp.home}/store` }),
      );
      await Promise.any(children.map((child) => child.seen((_, lines) => lines.length > kill % 4)));
      for (const child of children) child.kill();
      await Promise.all(children.map(({ ended }) => ended));
      for (const { lines } of children) calls += lines.filter((line) => line === "call").length;
    }
    expect(calls).toBeGreaterThan(KILLS);
    const embedder = fakeEmbedder();
    await using last = await tempContext({ home: temp.home, embedder });
    const store = await last.context.store();
    const vectors = await store.vectors();
    const stored = (await vectors.held())[0]?.vectors ?? 0;
    // What was embedded before a kill stays embedded.
    expect(stored).toBeGreaterThan(0);
    const child = startChild("embed-child.ts", { home: temp.home, store: `${temp.home}/store` });
    expect(await child.ended).toEqual({ code: 0, stderr: "" });
    const table = await vectors.existing(embedder);
    const near = await table!.nearest({ vector: fakeVector("session message", embedder), limit: 10_000 });
    expect(new Set(near.map(({ session_id, id }) => `${session_id} ${id}`)).size).toBe(SESSIONS * MESSAGES);
    expect(near).toHaveLength(SESSIONS * MESSAGES);
    expect(child.lines.filter((line) => line === "call").length).toBeLessThan(
      Math.ceil((SESSIONS * MESSAGES - stored) / embedder.batch.texts) + 3,
    );
  },
);
