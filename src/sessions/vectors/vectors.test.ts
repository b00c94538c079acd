/** Vectors as a search asks for them: filters before ranking, rows that are there, and the rule which are used. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { messageId, sessionId } from "../../model/index.ts";
import { and, eq, ge, isIn } from "../../substrate/engine/predicate.ts";
import { openStore } from "../../substrate/index.ts";
import { corpusSession } from "../../../test/support/corpus-sessions.ts";
import { fakeVector } from "../../../test/support/fake-embedder.ts";
import { ingestInto } from "../../../test/support/ingested.ts";
import { s3Stub } from "../../../test/support/s3-stub.ts";
import { tempStore } from "../../../test/support/temp-store.ts";
import type { MessageFilter } from "../index.ts";
import { SessionStore } from "../index.ts";
import type { HeldVectors } from "./index.ts";
import { vectorsFor } from "./index.ts";
import type { VectorTable } from "./index.ts";

const MODEL = { name: "fake", dimension: 32 };
const READER = "this machine";

/** Three sessions of ten messages, each with the vector of its text. */
async function embedded(sessions: SessionStore): Promise<VectorTable> {
  const ingest = sessions.ingest({ clock: systemClock });
  for (const index of [0, 1, 2]) await ingest.add(corpusSession(index, 10));
  await ingest.flush();
  return embedMissing(sessions);
}

async function embedMissing(sessions: SessionStore): Promise<VectorTable> {
  const vectors = await sessions.vectors();
  const table = await vectors.writable(MODEL);
  const version = await vectors.version();
  for await (const messages of (await table.missing(await table.mark())).read())
    await table.add(
      messages.map(({ text, ...message }) => ({ ...message, vector: fakeVector(text, MODEL) })),
    );
  await table.leaveMark({ version, reader: READER });
  return table;
}

const query = fakeVector("session 1 message 7", MODEL);

describe("nearest", () => {
  test("filters decide before anything is ranked, by the indexes", async () => {
    await using store = await tempStore();
    const table = await embedded(store.sessions);
    const filters: readonly [string, MessageFilter, RegExp][] = [
      ["project", isIn("project", ["/p/2"]), /project_bitmap/],
      ["role", eq("role", "assistant"), /role_bitmap/],
      ["session", eq("session_id", "session-2"), /session_id_btree/],
      ["time", ge("timestamp", 1_760_000_002_000_000), /timestamp_btree/],
    ];
    await store.sessions.updateIndexes({ force: true });
    for (const [name, where, index] of filters) {
      const near = await table.nearest({ vector: query, limit: 30, where });
      expect([name, near.length]).toEqual([name, name === "role" ? 15 : 10]);
      if (name !== "role")
        expect(new Set(near.map((each) => each.session_id))).toEqual(new Set(["session-2"]));
      expect(await table.explain({ vector: query, limit: 30, where })).toMatch(index);
    }
    const both = and(eq("role", "user"), eq("session_id", "session-1"));
    expect(await table.nearest({ vector: query, limit: 3, where: both })).toHaveLength(3);
  });

  test("a filter for messages is one for vectors, and no other is", async () => {
    await using store = await tempStore();
    const table = await embedded(store.sessions);
    const where: MessageFilter = eq("source_agent", "test");
    expect(await store.sessions.tables.messages.count(where)).toBe(30);
    expect(await table.nearest({ vector: query, limit: 50, where })).toHaveLength(30);
    // @ts-expect-error -- vectors have no such column
    const wrong: MessageFilter = eq("origin", "x");
    expect(wrong).toBeDefined();
  });

  test("the best is the one that says the same, and its row is that of the message", async () => {
    await using store = await tempStore();
    const table = await embedded(store.sessions);
    const [best, second] = await table.nearest({ vector: query, limit: 2 });
    expect(best).toMatchObject({ session_id: "session-1", id: "m7" });
    expect(best!.similarity).toBeCloseTo(1, 2);
    expect(second!.similarity).toBeLessThan(best!.similarity);
    expect(await store.sessions.heads([best!.row])).toMatchObject([{ session_id: "session-1", id: "m7" }]);
  });

  test("a message that is gone is none, and one that was stored again is found where it is now", async () => {
    await using store = await tempStore();
    const table = await embedded(store.sessions);
    await store.sessions.takeOutMessages(sessionId("session-1"), ["m7", "m8"]);
    const without = await table.nearest({ vector: query, limit: 30 });
    expect(without.map(({ session_id, id }) => `${session_id} ${id}`)).not.toContain("session-1 m7");
    expect(without).toHaveLength(28);
    await ingestInto(store, corpusSession(1, 10));
    const [best, ...others] = await table.nearest({ vector: query, limit: 30 });
    expect([best?.id, others.length]).toEqual(["m7", 29]);
    expect(await store.sessions.heads([best!.row])).toMatchObject([{ id: "m7" }]);
    // It has its vector still: nothing is embedded twice.
    expect((await table.missing(undefined)).count).toBe(0);
  });
});

test("an object store has the same vectors", async () => {
  await using server = await s3Stub();
  await using sessions = await SessionStore.open(
    await openStore(server.url, { storageOptions: server.storageOptions }),
  );
  const table = await embedded(sessions);
  await embedMissing(sessions);
  expect(await table.counts()).toEqual({ vectors: 30, without: 0 });
  expect(await table.nearest({ vector: query, limit: 1 })).toMatchObject([
    { session_id: "session-1", id: "m7" },
  ]);
  expect(await table.vectorOf(sessionId("session-1"), messageId("m7"))).toHaveLength(32);
});

test("a mark of another state of the store is none: everything is looked at", async () => {
  await using store = await tempStore();
  const table = await embedded(store.sessions);
  const far = { version: 1_000_000, reader: READER };
  await ingestInto(store, corpusSession(3, 2));
  expect((await table.missing(await table.mark())).count).toBe(2);
  await table.leaveMark(far);
  expect(await table.mark()).toEqual(far);
  expect((await table.missing(far)).count).toBe(2);
});

test("reading makes no table, and marks are no vectors", async () => {
  await using store = await tempStore();
  const vectors = await store.sessions.vectors();
  expect([await vectors.existing(MODEL), await vectors.held()]).toEqual([undefined, []]);
  await embedded(store.sessions);
  expect(await vectors.held()).toMatchObject([{ model: MODEL, vectors: 30, without: 0 }]);
  expect(await vectors.texts()).toBe(30);
});

describe("which vectors a search uses", () => {
  const held: HeldVectors[] = [
    { model: MODEL, vectors: 90, without: 4 },
    { model: { name: "empty", dimension: 8 }, vectors: 0, without: 0 },
  ];
  test.each([
    ["those of the configured model", MODEL, { kind: "vectors", model: MODEL, missing: 6 }],
    ["none where none is configured", undefined, { kind: "off" }],
    ["none of another model, whatever it has", { name: "other", dimension: 32 }, { kind: "none" }],
    ["none of another dimension", { name: "fake", dimension: 16 }, { kind: "none" }],
    ["none where nothing is embedded yet", { name: "empty", dimension: 8 }, { kind: "none" }],
  ])("%s", (_, configured, choice) => {
    expect(vectorsFor(configured, { held, texts: 100 })).toEqual(choice);
  });
});
