/** The stage `embed` of a sync: every text once, whatever happens in between, and never in the way of an import. */
import { appendFileSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PondError } from "../../base/errors.ts";
import { plainText } from "../../base/sentence.ts";
import type { Embedder } from "../../embeddings/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import type { HeldTable } from "../../sessions/vectors/index.ts";
import type { EmbedReport, SyncReport, SyncRequest } from "../../wire/sync.ts";
import { corpusSession } from "../../../test/support/corpus-sessions.ts";
import { DemoHome } from "../../../test/support/demo-home.ts";
import { fakeEmbedder, fakeVector } from "../../../test/support/fake-embedder.ts";
import { conversation } from "../../../test/support/ingested.ts";
import type { TempContext } from "../../../test/support/temp-context.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import type { Context } from "../context/context.ts";
import { doctor, repair, search, status, sync, verifyStored } from "../index.ts";

const ONLY_EMBED: SyncRequest = { stages: ["embed"] };
const MESSAGES = 30;

/** A store with two sessions of thirty texts each, all different. */
async function withSessions(embedder: Embedder, signal?: AbortSignal): Promise<TempContext> {
  const given = signal === undefined ? {} : { signal };
  const temp = await tempContext({ embedder, ...given });
  await temp.ingest([...corpusSession(0, MESSAGES), ...corpusSession(1, MESSAGES)]);
  return temp;
}

const again = ({ home }: { readonly home: string }, embedder: Embedder): Promise<TempContext> =>
  tempContext({ home, embedder });

async function embed(context: Context, request: SyncRequest = ONLY_EMBED): Promise<EmbedReport> {
  return (await sync(context, request)).embed;
}

async function heldIn(context: Context): Promise<readonly HeldTable[]> {
  return (await (await context.store()).vectors()).held();
}

/** How many rows each message has; a doubled one has two. */
async function rowsByKey(context: Context, model: Embedder): Promise<ReadonlyMap<string, number>> {
  const store = await context.store();
  const table = await (await store.vectors()).existing(model);
  const counts = new Map<string, number>();
  const nearest = await table!.nearest({ vector: fakeVector("session message", model), limit: 1000 });
  for (const { session_id, id } of nearest)
    counts.set(`${session_id} ${id}`, (counts.get(`${session_id} ${id}`) ?? 0) + 1);
  return counts;
}

async function expectEachOnce(context: Context, model: Embedder): Promise<void> {
  const rows = await rowsByKey(context, model);
  expect([rows.size, new Set(rows.values())]).toEqual([2 * MESSAGES, new Set([1])]);
}

describe("what has no vector", () => {
  test("is embedded, each text once, and found by what it says", async () => {
    const embedder = fakeEmbedder();
    await using temp = await withSessions(embedder);
    expect(await embed(temp.context)).toEqual({
      outcome: "embedded",
      run: { model: "fake", messages: 60, texts: 60, cut: 0, without: 0, left: 0, dropped: [] },
    });
    expect(new Set(embedder.texts).size).toBe(60);
    await expectEachOnce(temp.context, embedder);
    const table = await (await (await temp.context.store()).vectors()).existing(embedder);
    const [best] = await table!.nearest({ vector: fakeVector("session 1 message 14", embedder), limit: 1 });
    expect(best).toMatchObject({ session_id: "session-1", id: "m14" });
    expect(best!.similarity).toBeCloseTo(1, 2);
    expect(await table!.vectorOf(sessionId("session-1"), messageId("m14"))).toHaveLength(32);
    expect(await table!.vectorOf(sessionId("session-1"), messageId("m99"))).toBeUndefined();
  });

  test("is embedded once: the next run looks at newer messages only, and finds none", async () => {
    const embedder = fakeEmbedder();
    await using temp = await withSessions(embedder);
    await embed(temp.context);
    expect(await embed(temp.context)).toMatchObject({ outcome: "nothing to do", run: { texts: 0 } });
    await temp.ingest(corpusSession(2, 5));
    const table = await (await (await temp.context.store()).vectors()).existing(embedder);
    expect((await table!.missing(await table!.mark())).count).toBe(5);
    expect(await embed(temp.context)).toMatchObject({ run: { messages: 5, texts: 5 } });
    expect(embedder.texts).toHaveLength(65);
  });

  test("equal texts are given to the model once, in one call or in several", async () => {
    const embedder = fakeEmbedder({ batch: { texts: 1, characters: 10 } });
    await using temp = await tempContext({ embedder });
    await temp.ingest([...conversation("a", 6), ...conversation("b", 6), ...conversation("c", 9)]);
    expect(await embed(temp.context)).toMatchObject({ run: { messages: 21, texts: 9 } });
    expect(embedder.texts).toHaveLength(9);
  });

  test("calls stay within what the embedder takes, and what it cuts is counted", async () => {
    const calls: string[][] = [];
    const batch = { texts: 4, characters: 150 };
    const embedder = fakeEmbedder({ batch, onCall: (texts) => void calls.push([...texts]) });
    await using temp = await withSessions(embedder);
    await temp.ingest(corpusSession(5, 1).map(withText("long ".repeat(400))));
    expect(await embed(temp.context)).toMatchObject({ run: { cut: 1 } });
    for (const texts of calls) {
      expect(texts.length).toBeLessThanOrEqual(4);
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      expect(texts.length === 1 || characters <= 150).toBe(true);
    }
    expect(calls.some((texts) => texts.length === 4)).toBe(true);
  });

  test("a text that the model can make nothing of is not tried again", async () => {
    const embedder = fakeEmbedder();
    await using temp = await withSessions(embedder);
    await temp.ingest(corpusSession(5, 1).map(withText("?!")));
    expect(await embed(temp.context)).toMatchObject({ run: { messages: 60, without: 1 } });
    await temp.ingest(corpusSession(2, 1));
    expect(await embed(temp.context)).toMatchObject({ run: { messages: 1, without: 0, texts: 1 } });
    expect(await heldIn(temp.context)).toMatchObject([{ vectors: 61, without: 1 }]);
    expect(embedder.texts.filter((text) => text === "?!")).toHaveLength(1);
  });
});

describe("at any moment", () => {
  test("two at once, as two machines are, store each vector once", async () => {
    const [one, two] = [fakeEmbedder(), fakeEmbedder()];
    await using first = await withSessions(one);
    await using second = await otherMachine(first, two);
    const reports = await Promise.all([embed(first.context), embed(second.context)]);
    expect(reports.map(({ outcome }) => outcome)).not.toContain("failed");
    await expectEachOnce(first.context, one);
    expect(await heldIn(first.context)).toMatchObject([{ vectors: 60 }]);
  });

  test("a second one on the same machine leaves it to the first", async () => {
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = fakeEmbedder({
      onCall: () => {
        started.resolve();
        return goOn.promise;
      },
    });
    await using first = await withSessions(slow);
    const running = embed(first.context);
    await started.promise;
    await using second = await again(first, fakeEmbedder());
    expect(await embed(second.context)).toEqual({ outcome: "busy" });
    goOn.resolve();
    expect(await running).toMatchObject({ outcome: "embedded" });
  });

  test("a signal leaves what is stored, and the next run does the rest", async () => {
    const abort = new AbortController();
    let calls = 0;
    const embedder = fakeEmbedder({ onCall: () => void (++calls === 4 && abort.abort()) });
    await using temp = await withSessions(embedder, abort.signal);
    const report = await embed(temp.context);
    expect(report).toMatchObject({ outcome: "interrupted", run: { messages: 24, left: 36 } });
    const rest = fakeEmbedder();
    await using next = await again(temp, rest);
    expect(await embed(next.context)).toMatchObject({
      outcome: "embedded",
      run: { messages: 36, texts: 36 },
    });
    await expectEachOnce(next.context, rest);
  });

  test("a damaged table of vectors is made again, and nothing else is touched", async () => {
    const embedder = fakeEmbedder();
    await using temp = await withSessions(embedder);
    await embed(temp.context);
    const [{ table }] = (await heldIn(temp.context)) as [HeldTable];
    await temp.context[Symbol.asyncDispose]();
    cutAll(join(temp.home, "store/default", `${table}.lance/data`));
    await using next = await again(temp, embedder);
    await next.ingest(corpusSession(2, 1));
    expect(await embed(next.context)).toMatchObject({ outcome: "embedded", run: { messages: 61 } });
    expect(await heldIn(next.context)).toMatchObject([{ table, vectors: 61 }]);
  });
});

describe("a damaged table of vectors", () => {
  const harms: readonly [string, (folder: string) => void][] = [
    ["its data are cut", (folder) => cutAll(join(folder, "data"))],
    ["its versions are cut", (folder) => cutAll(join(folder, "_versions"))],
    ["an index of it is cut", (folder) => cutAll(join(folder, "_indices"))],
    ["its data are gone", (folder) => rmSync(join(folder, "data"), { recursive: true })],
  ];
  test.each(harms)(
    "%s: everything else works, a repair lets go of it, a sync makes it again",
    async (_, harm) => {
      await using home = await DemoHome.unsynced();
      const place = { home: home.path };
      const embedder = fakeEmbedder();
      let table = "";
      let messages = 0;
      {
        await using temp = await again(place, embedder);
        messages = (await sync(temp.context, {})).embed.run?.messages ?? 0;
        const store = await temp.context.store();
        await (await store.vectors()).maintain({ force: true });
        table = (await heldIn(temp.context))[0]?.table ?? "";
      }
      harm(join(home.path, "store/default", `${table}.lance`));
      {
        await using temp = await again(place, embedder);
        expect((await search(temp.context, { query: "backoff" })).sessions.length).toBeGreaterThan(0);
        expect(await sync(temp.context, {})).toMatchObject({ interrupted: false });
        expect((await verifyStored(temp.context, {})).clients).toMatchObject([{ unequal: 0 }, {}, {}]);
        const findings = await doctor(temp.context);
        expect(JSON.stringify(findings.find(({ topic }) => topic === "files"))).toContain(table);
        expect((await status(temp.context)).messages).toBe(30);
        expect((await repair(temp.context)).done.join()).toContain(`${table}: rebuilt`);
      }
      await using after = await again(place, embedder);
      expect(await sync(after.context, {})).toMatchObject({
        embed: { outcome: "embedded", run: { messages } },
      });
      expect(await heldIn(after.context)).toMatchObject([{ vectors: messages }]);
    },
  );
});

describe("what a model answers wrongly", () => {
  const wrong: readonly [string, RegExp, NonNullable<Parameters<typeof fakeEmbedder>[0]>["answer"]][] = [
    ["another dimension", /16 dimensions instead of 32/, (texts) => texts.map(() => unit(16))],
    ["numbers that are none", /not numbers/, (texts) => texts.map(() => unit(32).fill(NaN))],
    ["other lengths", /of length 2\.000/, (texts) => texts.map(() => unit(32).map((value) => value * 2))],
    ["too few", /7 vectors for 8 texts/, (_, vectors) => vectors.slice(1)],
  ];
  test.each(wrong)("%s: nothing of it is stored, and the report says why", async (_, message, answer) => {
    await using temp = await withSessions(fakeEmbedder(answer === undefined ? {} : { answer }));
    const { embed: report, notes } = await sync(temp.context, ONLY_EMBED);
    expect(report).toMatchObject({
      outcome: "failed",
      run: { messages: 0, left: 60 },
      error: { code: "internal", message: expect.stringMatching(message) },
    });
    expect(JSON.stringify(notes)).toMatch(/60 messages are left to the next sync/);
    expect(await heldIn(temp.context)).toMatchObject([{ vectors: 0, without: 0 }]);
  });

  test("one call that fails does not keep those behind it from being stored", async () => {
    const isPoison = (text: string): boolean => text.startsWith("session 0 message 4 ");
    const picky = fakeEmbedder({
      onCall: (texts) => {
        if (texts.some(isPoison)) throw new PondError("validation_failed", "no such characters");
      },
    });
    await using temp = await withSessions(picky);
    expect(await embed(temp.context)).toMatchObject({ outcome: "failed", run: { messages: 52, left: 8 } });
    const healed = fakeEmbedder();
    await using next = await again(temp, healed);
    expect(await embed(next.context)).toMatchObject({ outcome: "embedded", run: { messages: 8 } });
    await expectEachOnce(next.context, healed);
  });

  test("a model that never answers is asked a few times, not for every message", async () => {
    const dead = fakeEmbedder({
      onCall: () => {
        throw new PondError("storage_unavailable", "nobody is there");
      },
    });
    await using temp = await withSessions(dead);
    expect(await embed(temp.context)).toMatchObject({ outcome: "failed", run: { left: 60 } });
    expect(dead.calls).toBe(3);
  });
});

describe("another model", () => {
  test("has vectors of its own; those of the one before go when they are complete", async () => {
    const [before, after] = [fakeEmbedder(), fakeEmbedder({ name: "better", dimension: 16 })];
    await using temp = await withSessions(before);
    await embed(temp.context);

    const abort = new AbortController();
    let calls = 0;
    const cutOff = fakeEmbedder({
      name: "better",
      dimension: 16,
      onCall: () => void (++calls === 3 && abort.abort()),
    });
    await using stopped = await tempContext({ home: temp.home, embedder: cutOff, signal: abort.signal });
    expect(await embed(stopped.context)).toMatchObject({ outcome: "interrupted", run: { dropped: [] } });
    expect((await heldIn(temp.context)).map(({ model, vectors }) => [model.name, vectors])).toEqual([
      ["fake", 60],
      ["better", 16],
    ]);
    await expectEachOnce(temp.context, before);

    await using next = await again(temp, after);
    expect(await embed(next.context)).toMatchObject({ run: { messages: 44, dropped: ["fake"] } });
    expect((await heldIn(next.context)).map(({ model }) => model)).toEqual([
      { name: "better", dimension: 16 },
    ]);
    await expectEachOnce(next.context, after);
  });

  test("of another machine stays: each would embed everything again, and again", async () => {
    const [mine, theirs] = [fakeEmbedder(), fakeEmbedder({ name: "theirs" })];
    await using temp = await withSessions(mine);
    await embed(temp.context);
    await using other = await otherMachine(temp, theirs);
    expect(await embed(other.context)).toMatchObject({ run: { messages: 60, dropped: [] } });
    expect(await heldIn(other.context)).toHaveLength(2);
    expect(await embed(temp.context)).toMatchObject({ outcome: "nothing to do", run: { dropped: [] } });
  });

  test("forced, everything is embedded again, and no other row is written", async () => {
    await using temp = await withSessions(fakeEmbedder());
    await embed(temp.context);
    const store = await temp.context.store();
    const versions = await store.versions();
    const embedder = fakeEmbedder();
    await using next = await again(temp, embedder);
    const forced = await embed(next.context, { ...ONLY_EMBED, force_embed: true });
    expect(forced).toMatchObject({ outcome: "embedded", run: { messages: 60, texts: 60 } });
    expect(await store.versions()).toEqual(versions);
    await expectEachOnce(next.context, embedder);
  });
});

describe("in a whole sync", () => {
  test("an embedder that fails ends no import, and the next sync goes on", async () => {
    await using home = await DemoHome.unsynced();
    const place = { home: home.path };
    await using temp = await again(place, fakeEmbedder());
    const failing: Context = {
      ...temp.context,
      embeddings: { settings: "x", open: () => Promise.reject(NO_WEIGHTS) },
    };
    const report = await sync(failing, {});
    expect(inserted(report)).toBeGreaterThan(10);
    expect(report).toMatchObject({ embed: { outcome: "failed" }, indexes: { outcome: "updated" } });
    expect(report.notes.map(plainText)).toContain("embed: no weights: fetch them");
    const embedder = fakeEmbedder();
    await using next = await again(place, embedder);
    expect(await sync(next.context, {})).toMatchObject({ embed: { outcome: "embedded" } });
  });

  test("one that finds nothing new opens neither the store nor the model; one message more is one text", async () => {
    await using home = await DemoHome.unsynced();
    const place = { home: home.path };
    await using temp = await again(place, fakeEmbedder());
    await sync(temp.context, {});
    const idle: Context = {
      ...temp.context,
      store: () => Promise.reject(new Error("the store was opened")),
      existingStore: () => Promise.reject(new Error("the store was opened")),
      embeddings: { settings: "given: fake", open: () => Promise.reject(new Error("the model was opened")) },
    };
    expect(await sync(idle, {})).toMatchObject({ embed: { outcome: "nothing to do" }, notes: [] });
    // Other settings may mean another model.
    const changed: Context = { ...idle, embeddings: { ...idle.embeddings!, settings: "given: other" } };
    await expect(sync(changed, {})).rejects.toThrow("the store was opened");

    appendToPi(home.path);
    const embedder = fakeEmbedder();
    await using next = await again(place, embedder);
    expect(await sync(next.context, {})).toMatchObject({ embed: { run: { messages: 1, texts: 1 } } });
  });

  test("of a dry run, or where it is skipped or off, nothing is embedded", async () => {
    const embedder = fakeEmbedder();
    await using temp = await withSessions(embedder);
    expect(await embed(temp.context, { dry_run: true })).toEqual({ outcome: "skipped" });
    expect(await embed(temp.context, { stages: ["import"] })).toEqual({ outcome: "skipped" });
    await using off = await tempContext({ home: temp.home });
    expect(await embed(off.context)).toEqual({ outcome: "off" });
    expect([embedder.calls, await heldIn(temp.context)]).toEqual([0, []]);
  });
});

const NO_WEIGHTS = new PondError("not_found", "no weights", { hint: "fetch them" });

const inserted = ({ clients }: SyncReport): number =>
  clients.reduce((sum, { stored }) => sum + stored.messages.inserted, 0);

/** The same store, with a state folder of its own. */
async function otherMachine(temp: TempContext, embedder: Embedder): Promise<TempContext> {
  return tempContext({ embedder, env: { POND_STORE: join(temp.home, "store") } });
}

function unit(dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  vector[0] = 1;
  return vector;
}

const withText =
  (text: string) =>
  (event: ReturnType<typeof corpusSession>[number]): typeof event =>
    event.kind === "part" && event.part.type === "text"
      ? ({ kind: "part", part: { ...event.part, text } } as typeof event)
      : event;

function cutAll(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) truncateSync(path, 40);
  }
}

/** One more message in the log of the demo's pi session. */
function appendToPi(home: string): void {
  const folder = join(home, ".pi/agent/sessions");
  const [log] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  const timestamp = "2026-10-05T12:00:00.000Z";
  const message = {
    role: "user",
    content: [{ type: "text", text: "one more thing" }],
    timestamp: Date.parse(timestamp),
  };
  const entry = { type: "message", id: "aaaa0001", parentId: null, timestamp, message };
  appendFileSync(join(folder, log!), `${JSON.stringify(entry)}\n`);
}
