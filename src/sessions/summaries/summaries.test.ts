import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { story, textPart, type Story } from "../../../test/support/story.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { systemClock } from "../../base/clock.ts";
import { openStore } from "../../substrate/index.ts";
import type { Durable } from "../ingest/index.ts";
import type { SessionSummary } from "../index.ts";
import { isPlain, SessionStore, SUMMARIES } from "../index.ts";
import { summarise } from "./summarise.ts";
import { asOf, coverageOf, markerRow, summaryRow } from "./summary-rows.ts";

async function open(path: string, create = true): Promise<SessionStore> {
  return SessionStore.open(await openStore(path, { create }));
}

async function ingest(store: SessionStore, ...stories: readonly Story[]): Promise<void> {
  const writer = store.ingest({ clock: systemClock });
  await writer.add(stories.flatMap((each) => each.events()));
  await writer.flush();
}

async function summaryOf(store: SessionStore, id: string): Promise<SessionSummary | undefined> {
  return (await store.summaries()).get(id);
}

const titled = (title: string, rank: number, at: string) => ({
  options: { source: { record: { title } } },
  pond: { title: { at: "/source/record/title", rank } },
  at,
});

describe("a summary", () => {
  test("counts messages by role, texts, bytes and children, and spans the conversation", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(
      store,
      story("s", { project: "/p", at: "2026-01-01T00:00:00Z" })
        .user("hello there")
        .call("Bash", { command: "ls" })
        .result("Bash", "x")
        .assistant("done")
        .carrier({ at: "2027-01-01T00:00:00Z" }),
      story("child", { parent: "s", relation: "spawn", agent: "claude-code/explore" }).user("look"),
    );
    const summary = await summaryOf(store, "s");
    expect(summary).toMatchObject({
      id: "s",
      title: "hello there",
      source_agent: "claude-code",
      project: "/p",
      messages: { user: 1, assistant: 2, tool: 1, system: 1 },
      texts: 2,
      children: 1,
    });
    expect([summary!.first_at, summary!.last_at]).toEqual([
      Date.UTC(2026, 0, 1) * 1000,
      Date.UTC(2026, 0, 1, 0, 3) * 1000,
    ]);
    expect(summary!.bytes).toBeGreaterThan(50);
    expect(await summaryOf(store, "child")).toMatchObject({
      parent_session_id: "s",
      relation: "spawn",
      children: 0,
    });
  });

  test.each<[string, Story, string | undefined]>([
    [
      "what the source recorded wins over what was typed",
      story("s")
        .user("typed")
        .carrier(titled("recorded", 10, "2026-01-02T04:00:00Z")),
      "recorded",
    ],
    [
      "the highest rank wins",
      story("s")
        .carrier(titled("a person's", 30, "2026-01-02T04:00:00Z"))
        .carrier(titled("a model's", 20, "2026-01-02T05:00:00Z")),
      "a person's",
    ],
    [
      "of equal rank the newest",
      story("s")
        .carrier(titled("newer", 20, "2026-01-02T05:00:00Z"))
        .carrier(titled("older", 20, "2026-01-02T04:00:00Z")),
      "newer",
    ],
    [
      "an empty one does not count",
      story("s")
        .user("typed")
        .carrier(titled("  ", 30, "2026-01-02T04:00:00Z")),
      "typed",
    ],
    [
      "the first text that a person typed, in the order of the log",
      story("s")
        .message("user", [textPart("<environment/>", "injected")])
        .user("first", { at: "2026-06-01T00:00:00Z" })
        .user("second", { at: "2026-05-01T00:00:00Z" }),
      "first",
    ],
    ["on one line", story("s").user("  two\n\n lines\tand a tab "), "two lines and a tab"],
    ["none where nobody typed", story("s").assistant("hello"), undefined],
  ])("title: %s", async (_, session, expected) => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, session);
    expect((await summaryOf(store, "s"))!.title).toBe(expected);
  });

  test("title: a long one is cut, not inside a character", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, story("s").user("\u{1f600}".repeat(500)));
    const { title } = (await summaryOf(store, "s"))!;
    expect(title!.length).toBeLessThanOrEqual(200);
    expect([title!.isWellFormed(), title!.endsWith("...")]).toEqual([true, true]);
  });

  test("counts a rewritten record once, and not what its client removed", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(
      store,
      story("s")
        .user("one", { id: "a", pond: { value: "1", at: 1 } })
        .user("two", { id: "a@2", pond: { value: "2", at: 2, revises: "a" } })
        .user("gone", { id: "b", pond: { value: "1", at: 1 } })
        .message("user", [], { id: "b@2", pond: { value: "2", at: 2, revises: "b", removed: true } })
        .user("plain"),
    );
    expect(await summaryOf(store, "s")).toMatchObject({
      messages: { user: 2 },
      texts: 2,
      ends: 1,
      replaced: 3,
    });
  });

  test("of a rewritten record takes the title and the first text that are current", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, story("s").user("one", { id: "a" }).user("plain"));
    await ingest(store, story("s").user("two", { id: "a" }).user("plain"));
    const summary = await summaryOf(store, "s");
    expect(summary).toMatchObject({ messages: { user: 2 }, replaced: 1 });
    const rowStates = (await store.rowStates(["s"])).get("s")!;
    expect(summary!.title).toBe(rowStates.of.get("a") === "current" ? "one" : "two");
  });
});

describe("how far summaries reach", () => {
  test("is text that sorts by age and is read back, also as an older pond wrote it", () => {
    const ages = [
      { messages: 9, sessions: 3 },
      { messages: 9, sessions: 3, sources: 1 },
      { messages: 9, sessions: 3, sources: 12 },
      { messages: 10, sessions: 3, sources: 12 },
    ];
    const texts = ages.map(asOf);
    expect(texts.toSorted()).toEqual(texts);
    expect(texts.map(coverageOf)).toEqual(ages);
  });

  test("of summaries that an older pond made says nothing of ends", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, story("s").user("hello"));
    await store.refreshSummaries();
    const { messages = 0, sessions = 0 } = await store.versions();
    const [summary] = (await store.summaries()).newestFirst;
    const { ends: _, replaced: __, ...older } = summary!;
    await raw.drop(SUMMARIES);
    const age = asOf({ messages, sessions });
    await (await raw.table(SUMMARIES)).insertRows([summaryRow(older, age), markerRow(age)]);
    await using reader = await open(folder.path, false);
    const known = (await summaryOf(reader, "s"))!;
    expect([known.title, isPlain(known)]).toEqual(["hello", false]);
  });
});

describe("the table of summaries", () => {
  test("behind the messages is completed when it is read, and gives the same as computing everything", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    const many = Array.from({ length: 8 }, (_, i) =>
      story(`s${i}`, { at: `2026-01-0${i + 1}T00:00:00Z` }).user(`t${i}`),
    );
    await ingest(store, ...many);
    await store.refreshSummaries();
    await ingest(
      store,
      story("s3", { at: "2026-01-04T00:00:00Z" }).user("t3").assistant("later"),
      story("new").user("n"),
    );
    await ingest(store, story("s5/child", { parent: "s5" }).user("c"));
    const expected = new Map((await summarise(store.tables, undefined)).map((each) => [each.id, each]));
    const check = async (reader: SessionStore): Promise<void> => {
      const list = await reader.summaries();
      expect(list.size).toBe(expected.size);
      for (const [id, summary] of expected) expect(list.get(id)).toEqual(summary);
    };
    await check(store);
    await store.refreshSummaries();
    await check(store);
    await using other = await open(folder.path, false);
    await check(other);
  });

  test("of sessions with several states and several sources is the same by one pass as by asking for each", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    const tell = async (source: string, texts: readonly string[]): Promise<void> => {
      const writer = store.ingest({
        clock: systemClock,
        onCommit: ({ unfinished }: Durable<never, string>) => expect(unfinished).toEqual([]),
      });
      writer.startSource();
      const id = source.slice(0, 1);
      for (const event of texts
        .reduce((told, text, at) => told.user(text, { id: `${text}-${at}` }), story(id))
        .events()) {
        if (event.kind !== "message") await writer.add([event]);
        else {
          const record = { id: event.message.id, hash: "0".repeat(32), piece: 0 };
          await writer.add([{ ...event, record }]);
        }
      }
      const origin = { adapter: "claude-code", reader: "r", path: source, key: source, form: "log" };
      const note = { ...origin, records: texts.length, digest: texts.join(), side: "", kept: 0, present: [] };
      await writer.endState({ ...note, session_id: id, source, isWhole: true }, source);
      await writer.flush();
    };
    await tell("a1", ["one", "two"]);
    await tell("b1", ["one"]);
    await tell("b1", ["one", "two"]);
    await tell("b1", ["one", "other", "three"]);
    await tell("c1", ["one", "two", "here"]);
    await tell("c2", ["one", "two", "there", "and on"]);
    await ingest(store, story("d").user("no state"));
    await tell("e1", ["one", "two", "three"]);
    await tell("e1", ["one"]);
    const byPass = await summarise(store.tables, undefined);
    const byId = (await Promise.all(byPass.map(({ id }) => summarise(store.tables, [id])))).flat();
    expect(byPass).toEqual(byId);
    expect(
      byPass
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ id, messages, ends, replaced }) => [id, messages.user, ends, replaced]),
    ).toEqual([
      ["a", 2, 1, 0],
      ["b", 3, 1, 1],
      ["c", 4, 2, 0],
      ["d", 1, 1, 0],
      ["e", 1, 1, 2],
    ]);
  });

  test("newest first, ties by id", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    const at = "2026-03-01T00:00:00Z";
    await ingest(
      store,
      story("b", { at }).user("x"),
      story("a", { at }).user("x"),
      story("c", { at: "2026-03-02T00:00:00Z" }).user("x"),
    );
    expect((await store.summaries()).newestFirst.map(({ id }) => id)).toEqual(["c", "a", "b"]);
  });

  test("is of the end of what ran meanwhile: maintenance, and messages that came during it", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, story("a").user("x"), story("b").user("x"));
    const meanwhile = (async () => {
      await store.maintain({ force: true });
      await ingest(store, story("b").user("x").assistant("later"), story("c").user("x"));
    })();
    await store.refreshSummaries(meanwhile);
    const raw = await openStore(folder.path);
    const rows = await (
      await raw.table(SUMMARIES)
    ).scan({ select: ["session_id", "as_of", "assistant_messages"] });
    const names = Array.from({ length: rows.length }, (_, row) => rows.string("session_id", row));
    expect(new Set(names)).toEqual(new Set(["", "a", "b", "c"]));
    expect(rows.int("assistant_messages", names.indexOf("b"))).toBe(1);
    const { messages, sessions, sources } = await store.versions();
    expect(coverageOf(rows.string("as_of", 0))).toEqual({ messages, sessions, sources });
  });

  test("that is gone costs time only; a reader makes none", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, story("s").user("hello"));
    await store.refreshSummaries();
    await raw.table(SUMMARIES);
    await raw.drop(SUMMARIES);
    await using reader = await open(folder.path, false);
    expect((await reader.summaries()).get("s")).toMatchObject({ title: "hello" });
    expect(await raw.tables()).not.toContain("summaries");
  });

  test("that is damaged does not keep anybody from reading", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, story("s").user("hello"));
    await store.refreshSummaries();
    const data = join(folder.path, "default/summaries.lance/data");
    for (const file of await readdir(data)) await truncate(join(data, file), 10);
    await using reader = await open(folder.path, false);
    expect((await reader.summaries()).get("s")).toMatchObject({ title: "hello" });
  });

  test("is made anew when most of it is superseded, while another process reads it", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, story("s").user("hello"), story("t").user("there"));
    await store.refreshSummaries();
    await using other = await open(folder.path, false);
    expect((await other.summaries()).size).toBe(2);
    const table = await raw.table(SUMMARIES);
    const superseded = Array.from({ length: 3000 }, (_, i) => ({
      session_id: "s",
      as_of: `0.${String(i).padStart(6, "0")}`,
      title: "old",
      source_agent: "x",
      project: "x",
      created_at: 0,
      first_at: 0,
      last_at: 0,
      ingested_at: 0,
      user_messages: 0,
      assistant_messages: 0,
      tool_messages: 0,
      system_messages: 0,
      texts: 0,
      bytes: 0,
      children: 0,
    }));
    await table.insertRows(superseded);
    expect((await other.summaries()).get("s")!.title).toBe("hello");
    await ingest(store, story("s").user("hello").assistant("more"));
    await store.refreshSummaries();
    expect(await (await raw.table(SUMMARIES)).count()).toBe(3);
    for (const reader of [store, other])
      expect(await summaryOf(reader, "s")).toMatchObject({
        title: "hello",
        messages: { user: 1, assistant: 1 },
      });
  });

  test.each([
    ["", 9999, 0],
    [", also when it catches up while they are made anew", 1, 2],
  ])("of a store that was put back to an earlier state is not believed%s", async (_, ahead, commits) => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, story("s").user("hello"));
    const table = await raw.table(SUMMARIES);
    const { messages = 0, sessions = 0 } = await store.versions();
    const marker = {
      session_id: "",
      as_of: asOf({ messages: messages + ahead, sessions: sessions + ahead }),
      source_agent: "",
      project: "",
    };
    const ghost = { ...marker, session_id: "ghost", title: "not here" };
    const zero = {
      created_at: 0,
      first_at: 0,
      last_at: 0,
      ingested_at: 0,
      user_messages: 0,
      assistant_messages: 0,
      tool_messages: 0,
      system_messages: 0,
      texts: 0,
      bytes: 0,
      children: 0,
    };
    await table.insertRows([
      { ...ghost, ...zero },
      { ...marker, ...zero },
    ]);
    const ids = async (): Promise<string[]> => (await store.summaries()).newestFirst.map(({ id }) => id);
    expect(await ids()).toEqual(["s"]);
    const later = Array.from({ length: commits }, (__, index) => `later ${index}`);
    // Begins when it is waited for.
    const meanwhile = {
      // oxlint-disable-next-line unicorn/no-thenable -- a promise would begin too early
      then: async (done: () => void) => {
        for (const id of later) await ingest(store, story(id).user("x"));
        done();
      },
    };
    await store.refreshSummaries(meanwhile as unknown as Promise<void>);
    expect(new Set(await ids())).toEqual(new Set(["s", ...later]));
  });
});
