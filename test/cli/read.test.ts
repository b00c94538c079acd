/** sessions, search and get over the demo corpus, as a user runs them. */
import { beforeAll, describe, expect, test } from "vitest";
import { searchResponseSchema, sessionsResponseSchema, getResponseSchema } from "../../src/wire/schema.ts";
import { TempHome } from "./pond.ts";

const RETRY = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";
const home = new TempHome();

beforeAll(async () => {
  home.addDemoSessions();
  await home.pond(["sync", "--quiet"]);
  return () => home[Symbol.dispose]();
});

describe("sessions", () => {
  test("lists titles and counts, newest first, and pages by cursor", async () => {
    const first = sessionsResponseSchema.parse(await json(["sessions", "--limit", "2"]));
    expect([first.total, first.has_more, first.sessions.map(({ source_agent }) => source_agent)]).toEqual([
      4,
      true,
      ["pi", "codex-cli"],
    ]);
    const rest = sessionsResponseSchema.parse(await json(["sessions", "--cursor", first.next_cursor ?? ""]));
    expect(rest.sessions.map(({ title }) => title)).toEqual([
      "\u5730\u56fe\u6e32\u67d3\u6162\u7684\u539f\u56e0",
      "Retry with backoff for the payment client",
    ]);
    expect(await json(["sessions", "--project", "checkout", "--agent", "claude-code"])).toMatchObject({
      total: 1,
    });
    expect(await json(["sessions", "--from", "2026-10-15"])).toMatchObject({ total: 1 });
  });
});

describe("search", () => {
  test.each([
    ["exponential backoff", RETRY],
    ["invoice", RETRY],
    ["\u6e32\u67d3", "2f6d8c11-7a90-4c1e-8b52-0f4e3a7d5b02"],
    ["\u043f\u0440\u043e\u0433\u043d\u043e\u0437\u0443", "0199c2d4-5e6f-7a80-9b1c-2d3e4f5a6b03"],
  ])("%s finds its session", async (query, session) => {
    const { sessions, searchable_in_scope } = searchResponseSchema.parse(await json(["search", query]));
    expect(sessions.map(({ session_id }) => session_id)).toContain(session);
    expect(searchable_in_scope).toBeGreaterThan(5);
  });

  test("exact text and patterns; filters; an empty answer says how much was in scope", async () => {
    expect(await json(["search", "--mode", "exact", "502, 503 and 504"])).toMatchObject({ matched_total: 2 });
    const pattern = searchResponseSchema.parse(await json(["search", "--mode", "regex", "50[23]"]));
    const kinds = new Set(pattern.sessions.flatMap(({ matches }) => matches.map(({ kind }) => kind)));
    expect([pattern.matched_total > 3, kinds.has("tool_result") || kinds.has("tool_call")]).toEqual([
      true,
      true,
    ]);
    expect(await json(["search", "retries", "--project", "atlas"])).toMatchObject({
      matched_total: 0,
      sessions: [],
    });
    const { code, stdout } = await home.pond(["search", "xylophone"]);
    expect([code, /nothing matches "xylophone"; \d+ messages with text were in scope/.test(stdout)]).toEqual([
      0,
      true,
    ]);
    expect(stdout).toContain("Subagents are left out unless --subagents is given.");
    for (const flags of [["--subagents"], ["--session", "7b0c5a52"], ["--agent", "claude-code/x"]])
      expect((await home.pond(["search", "xylophone", ...flags])).stdout).toMatch(
        /^nothing matches (?!.*Subagents)/,
      );
    expect((await home.pond(["search", "--mode", "exact", "xylophone"])).stdout).toMatch(
      /messages with text, and all tool calls and results, were in scope/,
    );
    expect((await home.pond(["search", "--mode", "regex", "("])).stderr).toContain("cannot be read");
    expect((await home.pond(["search", "jitter", "--explain"])).stdout).toContain("MatchQuery");
  });
});

test("status tells what is stored, what is pending, and the health of the tables", async () => {
  expect(await json(["status"])).toMatchObject({
    exists: true,
    sessions: 4,
    clients: [{ name: "claude-code", sessions: 2 }, { name: "codex-cli" }, { name: "pi" }],
    pending: [
      { adapter: "claude-code", sources: 0, seen: 2 },
      { adapter: "codex-cli", sources: 0 },
      { adapter: "pi", sources: 0 },
    ],
    last_sync: { messages: 30, issues: 0 },
    tables: [{ table: "sessions", rows: 4 }, { table: "messages" }, { table: "parts" }, { table: "sources" }],
  });
  const { stdout } = await home.pond(["status"]);
  expect(stdout).toContain("4 sessions, 30 messages");
  expect(stdout).toMatch(/TABLE\tROWS/);
  using empty = new TempHome();
  expect((await empty.pond(["status"])).stdout).toContain("none yet; pond sync creates it");
});

describe("get", () => {
  test("reads a session page by page, and a message with its parts", async () => {
    const page = getResponseSchema.parse(await json(["get", RETRY, "--limit", "2"]));
    if (page.scope !== "session") throw new Error("a session was asked for");
    expect(page.messages).toHaveLength(2);
    expect(page.messages_remaining).toBeGreaterThan(0);
    const { stdout } = await home.pond(["get", RETRY]);
    expect(stdout).toContain("--- [1] user | 2026-10-03 09:00:00Z |");
    expect(stdout).toContain("-> Read");
    const message = page.messages[0]?.id ?? "";
    expect(await json(["get", "--message", message])).toMatchObject({
      scope: "message",
      target: { id: message },
    });
    expect(await home.pond(["get", "nope"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("pond sessions"),
    });
  });
});

async function json(args: readonly string[]): Promise<unknown> {
  const { stdout, stderr, code } = await home.pond([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test.each([
  [["sessions", "--agent", "claude"], /no client named claude\n.*did you mean claude-code\?/],
  [["search", "retry", "--agent", "codex/x"], /no client named codex\n.*did you mean codex-cli\?/],
  [
    ["sessions", "--from", "2026-02-01", "--to", "2026-01-31"],
    /2026-02-01 is after 2026-01-31.*\n.*swap them/,
  ],
  [["sessions", "--from", "yesterday"], /"yesterday" is not a date\n.*YYYY-MM-DD/],
  [["sessions", "--limit", "0"], /limit 0 is out of bounds\n.*give 1 to 1000/],
  [["get"], /get needs <id>\n.*pond sessions and pond search print ids/],
  [["get", "7b0"], /no session or message 7b0 is stored\n.*at least 4 characters/],
  [["get", "7b0c5a52-9"], /no session or message 7b0c5a52-9 is stored\n.*pond search prints/],
  [
    ["get", "7b0c5a52", "--after", "x"],
    /message x is not among .*\n.*the same mode, branch, end and history/,
  ],
  [["get", "7b0c5a52", "--context", "2"], /--context does not apply to a session\n.*--message/],
  [
    ["get", "7b0c5a52-1f0e-4a57-9d3b-000000000000", "--mode", "verbatim"],
    /--mode does not apply to a message\n/,
  ],
  [
    ["restore", "7b0c5a52-1f0e-4a57-9d3b-000000000000"],
    /is a message of session .*\n.*ask for session 7b0c5a52/,
  ],
])("%j is refused in words of the command line, with a fix", async (args, message) => {
  const { code, stdout, stderr } = await home.pond(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test("a known client of which nothing is stored, and an agent that nobody ran, are empty answers", async () => {
  for (const agent of ["opencode", "claude-code/nobody"])
    expect(await json(["sessions", "--agent", agent])).toMatchObject({ sessions: [], total: 0 });
});
