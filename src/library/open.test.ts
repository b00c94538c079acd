/** A pond as a program has it open: what it opens, what it refuses, and when it is closed. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { demoFiles } from "../handlers/setup/demo-corpus.ts";
import { createMessage, createSession, eventsOf, textPart } from "../model/events/index.ts";
import { loadTree } from "../model/tree/index.ts";
import { sessionId } from "../model/index.ts";
import { openPond } from "./open.ts";

const events = (id: string, text = "the roof leaks") => {
  const session = createSession({ id, source_agent: "mine", project: "/p", created_at: new Date(0) });
  const user = createMessage(session, { id: "m", role: "user", timestamp: new Date(1) }, [textPart(text)]);
  return [...eventsOf({ session, messages: [user] })];
};

/** A home with the sessions of the demo in it. */
async function demoHome() {
  const home = await tempDir();
  for (const { path, content } of demoFiles()) {
    mkdirSync(dirname(join(home.path, path)), { recursive: true });
    writeFileSync(join(home.path, path), content);
  }
  return home;
}

describe("openPond", () => {
  test("makes a store, and opens it again with what was stored", async () => {
    await using home = await tempDir();
    const options = { store: join(home.path, "store"), home: home.path, env: {} };
    {
      await using pond = await openPond(options);
      expect((await pond.search({ query: "roof" })).sessions).toEqual([]);
      expect(await pond.ingest({ events: events("s") })).toMatchObject({ inserted: 3, errors: 0 });
    }
    await using pond = await openPond(options);
    const { sessions } = await pond.search({ query: "roof" });
    expect(sessions.map(({ session_id }) => session_id)).toEqual(["s"]);
    const page = await pond.get({ session_id: "s", response_mode: "verbatim" });
    expect(page.scope === "session" && page.messages.map(({ text }) => text)).toEqual(["the roof leaks"]);
    expect((await pond.sessions()).total).toBe(1);
    const { value, issues } = await loadTree(await pond.tree(), sessionId("s"));
    expect([value.messages.length, issues]).toEqual([1, []]);
  });

  test("without options it is where the settings of home and environment say", async () => {
    await using home = await tempDir();
    const store = join(home.path, "elsewhere");
    await using pond = await openPond({ home: home.path, env: { POND_STORE: store } });
    await pond.ingest({ events: events("s") });
    expect(existsSync(join(store, "default"))).toBe(true);
    await using other = await openPond({ home: home.path, env: { POND_STORE: store }, namespace: "mine" });
    expect((await other.sessions()).total).toBe(0);
    await using plain = await openPond({ home: home.path, env: {} });
    expect((await plain.sessions()).total).toBe(0);
    expect(existsSync(join(home.path, ".local/share/pond/store"))).toBe(true);
  });

  test("syncs the clients of a home, and restores and proves what it stored", async () => {
    await using home = await demoHome();
    const state = join(home.path, "state");
    await using pond = await openPond({ store: "memory://", home: home.path, env: {}, state });
    const dry = await pond.sync({ dry_run: true });
    expect([dry.dry_run, (await pond.sessions()).total]).toEqual([true, 0]);
    const seen: string[] = [];
    const report = await pond.sync({}, { onProgress: ({ client }) => seen.push(client) });
    expect(report.clients.some(({ stored }) => stored.messages.inserted > 0)).toBe(true);
    expect(seen.length).toBeGreaterThan(0);
    expect(existsSync(state)).toBe(true);
    const { clients } = await pond.verify();
    expect(clients.length > 0 && clients.every(({ proven }) => proven)).toBe(true);
    const [session] = (await pond.sessions({ source_agent: "claude-code" })).sessions;
    const out = join(home.path, "out");
    const restored = await pond.restore({ session_id: session?.id ?? "", to: "codex-cli", out });
    expect(restored).toMatchObject({ fidelity: "foreign", to: "codex-cli" });
    expect(restored.files.every(({ path }) => existsSync(path) || existsSync(join(out, path)))).toBe(true);
    const claude = (await pond.adapters()).find(({ adapter }) => adapter === "claude-code");
    expect(claude?.files).toBeGreaterThan(0);
  });

  test.each<[string, unknown, string]>([
    ["a store that is a number", { store: 5 }, "store"],
    ["an empty store", { store: "" }, "store"],
    ["an option that there is not", { path: "/x" }, "path"],
    ["no object", "/x", "options"],
    ["a clock without functions", { clock: {} }, "clock"],
    ["a signal that is none", { signal: {} }, "signal"],
    ["an environment of numbers", { env: { POND_STORE: 5 } }, "env"],
  ])("%s is refused", async (_, options, field) => {
    await expect(openPond(options as never)).rejects.toMatchObject({
      code: "validation_failed",
      data: { field },
    });
  });

  test("a namespace that cannot be a folder is refused by its option's name", async () => {
    await using home = await tempDir();
    const opening = openPond({ store: "memory://", home: home.path, env: {}, namespace: "../x" });
    await expect(opening).rejects.toThrow(/^namespace: /);
  });
});

describe("requests of programs without types", () => {
  test.each<[string, (pond: Awaited<ReturnType<typeof openPond>>) => Promise<unknown>, string]>([
    [
      "an unknown field",
      (pond) => pond.search({ query: "x", qwery: "y" } as never),
      "qwery is no field of it",
    ],
    ["a wrong type", (pond) => pond.get({ session_id: 5 } as never), "session_id must be a text, not 5"],
    ["a limit out of bounds", (pond) => pond.sessions({ limit: 0 }), "limit must be at least 1, not 0"],
    [
      "a stage that there is not",
      (pond) => pond.sync({ stages: ["all"] } as never),
      'stages.0 must be one of import, embed, update-indexes, not "all"',
    ],
    [
      "events that are not in an array yet",
      (pond) => pond.ingest({ events: events("s").values() } as never),
      "events must be an array: [...eventsOf(state)], not an object",
    ],
    ["no events", (pond) => pond.ingest({} as never), "events is required"],
    ["a session that is not named", (pond) => pond.restore({} as never), "session_id is required"],
    ["what is no request", (pond) => pond.verify("all" as never), 'the request must be an object, not "all"'],
    [
      "a namespace, which the pond has",
      (pond) => pond.search({ query: "x", namespace: "n" } as never),
      "namespace is no field of it",
    ],
    [
      "a day that is none",
      (pond) => pond.sessions({ from_date: "yesterday" }),
      'from_date must be a day such as 2026-01-02, or an RFC 3339 time such as 2026-01-02T03:04:05Z, not "yesterday"',
    ],
    [
      "a project filter that there is not",
      (pond) => pond.sessions({ project: { like: "x" } } as never),
      "project must be a text that is not empty, or one of { contains }, { prefix }, { exact } with one, not an object",
    ],
    [
      "a hook that there is not",
      (pond) => pond.sync({}, { onprogress: () => undefined } as never),
      "sync: onprogress is not a known hook; there is: onProgress",
    ],
    ["hooks that are none", (pond) => pond.sync({}, 5 as never), "sync: hooks must be an object"],
  ])("%s is refused with its field and what is expected", async (_, act, words) => {
    await using home = await tempDir();
    await using pond = await openPond({ store: "memory://", home: home.path, env: {} });
    const refusal = await act(pond).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "validation_failed" });
    expect((refusal as Error).message.slice(0, words.length)).toBe(words);
  });

  test("each unknown field is an issue with its own name, and the hint names those that there are", async () => {
    await using home = await tempDir();
    await using pond = await openPond({ store: "memory://", home: home.path, env: {} });
    const asking = pond.search({ query: "x", filters: { rolle: "user", agent: "y" } } as never);
    await expect(asking).rejects.toMatchObject({
      data: {
        field: "filters.rolle",
        issues: [{ field: "filters.rolle" }, { field: "filters.agent" }],
      },
      hint: expect.stringMatching(/^filters has these fields: project, source_agent, /),
    });
    await expect(pond.tree({ payload: true } as never)).rejects.toMatchObject({
      hint: "the request has these fields: payloads",
    });
  });

  test.each<[object, string]>([
    [{ to: "emacs" }, "to"],
    [{ map_paths: ["/old"] }, "map_paths"],
  ])("a restore that asks for %j is refused before the session is looked for", async (request, field) => {
    await using home = await tempDir();
    await using pond = await openPond({ store: "memory://", home: home.path, env: {} });
    await expect(pond.restore({ session_id: "none", ...request })).rejects.toMatchObject({
      code: "validation_failed",
      data: { field },
    });
  });

  test("what is undefined counts as left out", async () => {
    await using home = await tempDir();
    await using pond = await openPond({ store: "memory://", home: home.path, env: {} });
    expect(await pond.sessions({ limit: undefined } as never)).toMatchObject({ total: 0 });
    const filters = { role: undefined } as never;
    expect(await pond.search({ query: "x", filters })).toMatchObject({ sessions: [] });
  });
});

describe("closing", () => {
  test("waits for what is in flight, refuses what comes after, and may be done twice", async () => {
    await using home = await tempDir();
    const options = { store: join(home.path, "store"), home: home.path, env: {} };
    const pond = await openPond(options);
    const tree = await pond.tree();
    const storing = pond.ingest({ events: events("s") });
    const reading = tree.session(sessionId("absent"));
    await Promise.all([pond.close(), pond.close()]);
    expect(await storing).toMatchObject({ inserted: 3 });
    expect(await reading).toBeUndefined();
    await expect(loadTree(tree, sessionId("s"))).rejects.toMatchObject({ message: "this pond is closed" });
    await expect(pond.sessions()).rejects.toMatchObject({ message: "this pond is closed" });
    await using again = await openPond(options);
    expect((await again.sessions()).total).toBe(1);
  });

  test("nothing is printed", async () => {
    const written = [vi.spyOn(process.stdout, "write"), vi.spyOn(process.stderr, "write")];
    await using home = await tempDir();
    await using pond = await openPond({ store: "memory://", home: home.path, env: {} });
    await pond.sync();
    await pond.search({ query: "roof" });
    expect(written.map((spy) => spy.mock.calls)).toEqual([[], []]);
    for (const spy of written) spy.mockRestore();
  });
});
