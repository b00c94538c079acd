import { describe, expect, test, vi } from "vitest";
import { story, textPart } from "../../../test/support/story.ts";
import { tempContext, type TempContext } from "../../../test/support/temp-context.ts";
import { searchResponseSchema } from "../../wire/schema.ts";
import type { Hit, SearchRequest, SearchResponse } from "../../wire/index.ts";
import { explainSearch, search } from "../index.ts";

async function find(temp: TempContext, request: SearchRequest): Promise<SearchResponse> {
  const response = await search(temp.context, request);
  expect(searchResponseSchema.safeParse(response).error).toBeUndefined();
  return response;
}

const hits = ({ sessions }: SearchResponse): Hit[] => sessions.flatMap(({ matches }) => matches);
const ids = (response: SearchResponse): string[] => hits(response).map(({ message_id }) => message_id);
const sessionIds = ({ sessions }: SearchResponse): string[] => sessions.map(({ session_id }) => session_id);

/** Builds every index and signature, so that a test sees both ways of finding a row. */
async function index(temp: TempContext): Promise<void> {
  const store = await temp.context.store();
  await store.updateIndexes({ force: true });
}

describe("the messages in scope", () => {
  test("are counted once for the same filters, until something is stored", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("s").user("one apple").assistant("two apples").events());
    const { tables } = await temp.context.store();
    const count = vi.spyOn(tables.messages, "count");
    const inScope = async (query: string, role: "user" | "assistant"): Promise<unknown> =>
      (await find(temp, { query, filters: { role } })).searchable_in_scope;
    expect([await inScope("apple", "user"), await inScope("two", "user")]).toEqual([1, 1]);
    expect(count).toHaveBeenCalledTimes(1);
    expect(await inScope("two", "assistant")).toBe(1);
    expect(count).toHaveBeenCalledTimes(2);
    await temp.ingest(story("t").user("three apples").events());
    expect(await inScope("apple", "user")).toBe(2);
  });
});

describe("words", () => {
  const texts: readonly [string, string, string][] = [
    ["a word in any case", "The Quick fox", "quick"],
    ["a piece of a camelCase name", "call parseHttpRequest first", "http"],
    ["a camelCase name whole", "call parseHttpRequest first", "parseHttpRequest"],
    ["a name in capitals by its piece", "start the HTTPServer", "server"],
    ["a snake_case name by its piece", "call parse_http_request", "http"],
    ["a snake_case name by its camelCase spelling", "call parse_http_request", "parseHttpRequest"],
    ["a file in a path", "edit src/lib/tokenizer.rs please", "tokenizer.rs"],
    ["an error code", "error E0308 mismatched types", "E0308"],
    [
      "a hash",
      "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
    ["Chinese", "\u8bf7\u4fee\u590d\u767b\u5f55\u9875\u9762\u7684\u9519\u8bef", "\u767b\u5f55"],
    [
      "Japanese",
      "\u30c6\u30b9\u30c8\u3092\u5b9f\u884c\u3057\u3066\u304f\u3060\u3055\u3044",
      "\u30c6\u30b9\u30c8",
    ],
    [
      "Cyrillic",
      "\u0418\u0441\u043f\u0440\u0430\u0432\u044c \u043e\u0448\u0438\u0431\u043a\u0443",
      "\u043e\u0448\u0438\u0431\u043a\u0443",
    ],
    ["an accent that was not typed", "le caf\u00e9 noir", "cafe"],
  ];

  test("are found in every script and spelling, before and after they are indexed", async () => {
    await using temp = await tempContext();
    const all = story("s");
    for (const [at, [, text]] of texts.entries()) all.user(text, { id: `m${at}` });
    await temp.ingest(all.events());
    for (const state of ["unindexed", "indexed"]) {
      for (const [at, [what, , query]] of texts.entries())
        expect([state, what, ids(await find(temp, { query, filters: { session_id: "s" } }))]).toEqual([
          state,
          what,
          expect.arrayContaining([`m${at}`]),
        ]);
      await index(temp);
    }
  });

  test("rank: a session whose messages have the words together is before a message that has some of them", async () => {
    await using temp = await tempContext();
    const together = story("together").user("the export has a timeout");
    await temp.ingest(together.assistant("there is a pool of two").user("then the driver waits").events());
    await temp.ingest(story("some").user("export the pool").assistant("done").user("thanks").events());
    const response = await find(temp, { query: "export timeout pool driver" });
    expect(sessionIds(response)).toEqual(["together", "some"]);
  });

  test("rank: what was replaced is no neighbour of what is there", async () => {
    await using temp = await tempContext();
    const replaced = story("replaced").user("the export is slow", { id: "a" });
    replaced.user("pool driver", { id: "b", pond: { at: 1 } });
    await temp.ingest(replaced.user("roses", { id: "b@x", pond: { revises: "b", at: 2 } }).events());
    await temp.ingest(story("some").user("export the pool").assistant("done").user("thanks").events());
    expect(sessionIds(await find(temp, { query: "export pool driver" }))[0]).toBe("some");
  });

  test("rank: all words before some of them, the words themselves before a name that contains them", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("name").user("look at parseHttpRequest in the handler code").events());
    await temp.ingest(story("word").user("look at the http request in the handler").events());
    await temp.ingest(story("other").user("look at the request of the customer").events());
    const response = await find(temp, { query: "http request" });
    expect(sessionIds(response)[0]).toBe("word");
    expect(sessionIds(response).toSorted()).toEqual(["name", "other", "word"]);
    const scores = hits(response).map(({ score }) => score);
    expect(scores[0]).toBe(1);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(sessionIds(await find(temp, { query: "http request", filters: { min_score: 0.99 } }))).toEqual([
      "word",
    ]);
  });

  test("are not found in what nobody said: injected text, reasoning, tools", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("s")
        .message("user", [textPart("zebra", "injected"), textPart("please")])
        .call("Bash", { command: "zebra" })
        .result("Bash", "zebra")
        .message("assistant", [{ type: "reasoning", text: "zebra" }])
        .events(),
    );
    expect(await find(temp, { query: "zebra" })).toMatchObject({
      sessions: [],
      matched_total: 0,
      matched_total_exact: true,
      searchable_in_scope: 1,
      has_more: false,
    });
  });

  test("come grouped: at most three hits a session, more when one session is asked for", async () => {
    await using temp = await tempContext();
    const busy = story("busy");
    for (let i = 0; i < 7; i++) busy.user(`deploy number ${i}`);
    await temp.ingest(busy.events());
    await temp.ingest(story("calm").user("deploy once").assistant("ok").events());
    const response = await find(temp, { query: "deploy" });
    expect(response.matched_total).toBe(8);
    expect(response.sessions.find(({ session_id }) => session_id === "busy")).toMatchObject({
      title: "deploy number 0",
      session_messages_count: 7,
      matched_message_count: 7,
      matches: { length: 3 },
    });
    expect(ids(await find(temp, { query: "deploy", filters: { session_id: "busy" } }))).toHaveLength(7);
  });

  test("page by page: every session once, in one order", async () => {
    await using temp = await tempContext();
    for (let i = 0; i < 23; i++)
      await temp.ingest(
        story(`s${String(i).padStart(2, "0")}`)
          .user(`needle ${"hay ".repeat(i)}`)
          .events(),
      );
    const whole = await find(temp, { query: "needle", limit: 50 });
    expect([whole.sessions.length, whole.has_more]).toEqual([23, false]);
    const paged: string[] = [];
    let cursor: { cursor?: string } = {};
    for (let more = true; more;) {
      const page = await find(temp, { query: "needle", limit: 7, ...cursor });
      paged.push(...sessionIds(page));
      more = page.has_more;
      if (more) cursor = { cursor: page.next_cursor! };
    }
    expect(paged).toEqual(sessionIds(whole));
    await expect(find(temp, { query: "other", ...cursor })).rejects.toMatchObject({
      code: "validation_failed",
      reason: "stale_cursor",
    });
  });
});

describe("filters", () => {
  const filled = async (): Promise<TempContext> => {
    const temp = await tempContext();
    const at = (day: string) => `2026-03-${day}T12:00:00Z`;
    await temp.ingest(
      story("web", { project: "/srv/Web/shop", at: at("01") })
        .user("fix the bug")
        .events(),
    );
    await temp.ingest(
      story("api", { project: "/srv/api", at: at("05") })
        .user("fix it")
        .assistant("fix done")
        .events(),
    );
    const codex = { project: "/srv/api", agent: "codex-cli", at: at("09") };
    await temp.ingest(story("codex", codex).user("fix again").events());
    const child = { project: "/srv/api", agent: "claude-code/explore", parent: "api", at: at("05") };
    await temp.ingest(story("child", child).user("fix as a subagent").events());
    return temp;
  };

  test.each<[string, SearchRequest["filters"], string[]]>([
    ["none: subagents are left out", {}, ["api", "codex", "web"]],
    ["subagents", { include_subagents: true }, ["api", "child", "codex", "web"]],
    ["a part of the project, in any case", { project: "web" }, ["web"]],
    ["the beginning of the project", { project: { prefix: "/srv/a" } }, ["api", "codex"]],
    ["the exact project", { project: { exact: "/srv/Web" } }, []],
    ["a client", { source_agent: "claude-code" }, ["api", "web"]],
    [
      "a client and its agents",
      { source_agent: "claude-code", include_subagents: true },
      ["api", "child", "web"],
    ],
    ["one agent", { source_agent: "claude-code/explore" }, ["child"]],
    ["one session, whatever it is", { session_id: "child" }, ["child"]],
    ["a session that is not there", { session_id: "nope" }, []],
    ["a role", { role: "assistant" }, ["api"]],
    ["from a day on", { from_date: "2026-03-05" }, ["api", "codex"]],
    ["up to a day, which counts whole", { to_date: "2026-03-05" }, ["api", "web"]],
    ["between instants", { from_date: "2026-03-05T12:00:30Z", to_date: "2026-03-05T12:01:00Z" }, ["api"]],
    ["two at once", { project: "api", source_agent: "codex-cli" }, ["codex"]],
  ])("%s", async (_, filters, expected) => {
    await using temp = await filled();
    for (const mode of ["words", "exact"] as const)
      expect([
        mode,
        sessionIds(await find(temp, { query: "fix", mode, filters: filters! })).toSorted(),
      ]).toEqual([mode, expected]);
  });

  test("part of a client's name is not the client, and the whole one is named", async () => {
    await using temp = await filled();
    await expect(find(temp, { query: "fix", filters: { source_agent: "claude" } })).rejects.toMatchObject({
      code: "validation_failed",
      hint: "did you mean claude-code?",
    });
  });

  test("say how much they left to search", async () => {
    await using temp = await filled();
    const scope = async (filters: SearchRequest["filters"]) =>
      (await find(temp, { query: "absent", filters: filters! })).searchable_in_scope;
    expect(await scope({})).toBe(4);
    expect(await scope({ project: "api" })).toBe(3);
    expect(await scope({ role: "assistant" })).toBe(1);
    expect(await scope({ from_date: "2026-03-06" })).toBe(1);
    expect(await scope({ project: "nowhere" })).toBe(0);
  });

  test("are answered by the indexes before anything is ranked", async () => {
    await using temp = await filled();
    await index(temp);
    const { plan } = await explainSearch(temp.context, {
      query: "fix",
      filters: { project: "api", source_agent: "codex-cli", role: "user", from_date: "2026-03-01" },
    });
    for (const name of ["project_bitmap", "source_agent_bitmap", "role_bitmap", "timestamp_btree"])
      expect(plan).toContain(name);
    expect(plan.match(/ScalarIndexQuery/g)!.length).toBeGreaterThanOrEqual(2);
  });
});

describe("repeated history", () => {
  test("is one hit, the original, and says where else it stands", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("a-fork")
        .user("the marmot", { id: "m", pond: { replays: true } })
        .user("own words")
        .events(),
    );
    const origin = { session_id: "original", message_id: "m" };
    await temp.ingest(
      story("b-fork")
        .user("the marmot", { id: "x", pond: { replays: origin } })
        .events(),
    );
    await temp.ingest(story("original").user("the marmot", { id: "m" }).events());
    for (const mode of ["words", "exact"] as const) {
      const response = await find(temp, { query: "marmot", mode });
      expect([mode, sessionIds(response), response.matched_total]).toEqual([mode, ["original"], 1]);
      expect(
        hits(response)[0]!
          .also_in!.map(({ session_id }) => session_id)
          .toSorted(),
      ).toEqual(["a-fork", "b-fork"]);
    }
    // Outside the original's scope the copy is what there is.
    const copy = await find(temp, { query: "marmot", filters: { session_id: "a-fork" } });
    expect(ids(copy)).toEqual(["m"]);
  });

  test("is seen in rows that an older pond stored, too", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("fork").events());
    await temp.ingest(story("original").user("the marmot", { id: "m" }).events());
    const { messages } = (await temp.context.store()).tables;
    const facts = { source_agent: "claude-code", project: "/srv/pond", ingested_at: 1 };
    const options = '{"pond":{"replays":true}}';
    const text = { search_text: "the marmot", text_bytes: 10 };
    await messages.insertRows([
      { session_id: "fork", id: "m", timestamp: 1, role: "user", ...text, options, ...facts },
    ]);
    for (const mode of ["words", "exact"] as const)
      expect(sessionIds(await find(temp, { query: "marmot", mode }))).toEqual(["original"]);
  });

  test("is not seen where clients merely number their messages", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("a").user("the marmot", { id: "1" }).events());
    await temp.ingest(story("b").user("the marmot", { id: "1" }).events());
    expect(sessionIds(await find(temp, { query: "marmot" }))).toEqual(["a", "b"]);
  });

  test.each(["words", "exact"] as const)(
    "of a record in several versions the newest is the hit of %s",
    async (mode) => {
      await using temp = await tempContext();
      await temp.ingest(
        story("s")
          .user("marmot marmot marmot", { id: "m" })
          .user("marmot in a much longer second text", { id: "m@2", pond: { revises: "m" } })
          .events(),
      );
      const response = await find(temp, { query: "marmot", mode });
      expect([ids(response), response.matched_total]).toEqual([["m@2"], 1]);
      const all = await find(temp, { query: "marmot", mode, include_superseded: true });
      expect(new Set(hits(all).map(({ message_id, state }) => [message_id, state].join(" ")))).toEqual(
        new Set(["m@2 ", "m superseded"]),
      );
      expect(all.matched_total).toBe(2);
    },
  );

  test("what only a replaced version says is found when it is asked for", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("s")
        .user("a stoat", { id: "m" })
        .user("a weasel", { id: "m@2", pond: { revises: "m" } })
        .events(),
    );
    expect(await find(temp, { query: "stoat" })).toMatchObject({
      sessions: [],
      matched_total: 0,
      matched_total_exact: true,
      has_more: false,
    });
    expect(hits(await find(temp, { query: "stoat", include_superseded: true }))).toMatchObject([
      { message_id: "m", state: "superseded" },
    ]);
  });

  test("what an older pond marked as removed is found with its mark", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("s")
        .user("an ermine", { id: "m", pond: { value: "1", at: 1 } })
        .user("an ermine in winter", { id: "m@2", pond: { value: "2", at: 2, revises: "m" } })
        .message("user", [], { id: "m@3", pond: { value: "3", at: 3, revises: "m", removed: true } })
        .user("something else")
        .events(),
    );
    expect(hits(await find(temp, { query: "ermine" }))).toMatchObject([
      { message_id: "m@2", state: "removed" },
    ]);
  });

  test("of sessions that only grew nothing but their hits is read", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("s").user("a heron").events());
    const store = await temp.context.store();
    const rowStates = vi.spyOn(store, "rowStates");
    expect(hits(await find(temp, { query: "heron" }))).toHaveLength(1);
    expect(rowStates).not.toHaveBeenCalled();
  });

  test("of others their rows are looked at once, until something is stored", async () => {
    await using temp = await tempContext();
    const rewritten = story("s")
      .user("a heron", { id: "m" })
      .user("a heron flew", { id: "m@2", pond: { revises: "m" } });
    await temp.ingest(rewritten.events());
    const store = await temp.context.store();
    const rowStates = vi.spyOn(store, "rowStates");
    for (const query of ["heron", "flew"]) expect(ids(await find(temp, { query }))).toEqual(["m@2"]);
    expect(rowStates).toHaveBeenCalledTimes(1);
  });

  test("a total that would need many looks into the past says that it is the least", async () => {
    await using temp = await tempContext();
    const all = Array.from({ length: 130 }, (_, i) =>
      story(`s${i}`)
        .user("egret", { id: "m" })
        .user("egret", { id: "m@2", pond: { revises: "m" } })
        .events(),
    );
    await temp.ingest(all.flat());
    const first = await find(temp, { query: "egret", limit: 1 });
    expect([first.matched_total < 130, first.matched_total_exact, first.has_more]).toEqual([
      true,
      false,
      true,
    ]);
    const whole = await find(temp, { query: "egret", limit: 200 });
    expect([whole.matched_total, whole.matched_total_exact, sessionIds(whole).length]).toEqual([
      130,
      true,
      130,
    ]);
  });
});

describe("exact text and patterns", () => {
  const filled = async (): Promise<TempContext> => {
    const temp = await tempContext();
    await temp.ingest(
      story("s")
        .user("why does it fail?")
        .call("Bash", { command: 'grep "TODO" src/*.ts' })
        .result("Bash", "Error: ECONNREFUSED 127.0.0.1:5432\n  at connect", { failed: true })
        .message("assistant", [{ type: "reasoning", text: "port 5432 is the database" }])
        .message("system", [], { content: "context compacted at 5432 tokens" })
        .message("user", [textPart("<reminder>5432</reminder>", "injected")])
        .assistant("The database is down.")
        .events(),
    );
    return temp;
  };

  test.each<[string, SearchRequest, [string, string | undefined][]]>([
    ["in what was said", { query: "database is down", mode: "exact" }, [["s-6", undefined]]],
    ["in a tool's result", { query: "ECONNREFUSED", mode: "exact" }, [["s-2", "tool_result"]]],
    ["with quotes, in a tool's call", { query: 'grep "TODO"', mode: "exact" }, [["s-1", "tool_call"]]],
    ["over a line end", { query: "5432\n  at", mode: "exact" }, [["s-2", "tool_result"]]],
    ["case matters", { query: "econnrefused", mode: "exact" }, []],
    ["a pattern", { query: "ECONN[A-Z]+ \\d+\\.", mode: "regex" }, [["s-2", "tool_result"]]],
    ["a pattern in any case", { query: "(?i)econnrefused", mode: "regex" }, [["s-2", "tool_result"]]],
    [
      "everywhere, newest first",
      { query: "5432", mode: "exact", filters: { session_id: "s" } },
      [
        ["s-5", "text"],
        ["s-4", undefined],
        ["s-3", "reasoning"],
        ["s-2", "tool_result"],
      ],
    ],
    [
      "of one role",
      { query: "5432", mode: "exact", filters: { session_id: "s", role: "assistant" } },
      [["s-3", "reasoning"]],
    ],
  ])("%s", async (_, request, expected) => {
    await using temp = await filled();
    const response = await find(temp, request);
    expect(hits(response).map(({ message_id, kind }) => [message_id, kind])).toEqual(expected);
    expect(response).toMatchObject({
      matched_total: expected.length,
      matched_total_exact: true,
      mode: request.mode,
    });
  });

  const literals: readonly [string, string, readonly string[]][] = [
    ["a whole word", "ends with refused.", ["refused", "refused."]],
    ["inside a word", "ends with refused.", ["efuse"]],
    ["over the end of a word", "ends with refused.", ["th refu", "h r"]],
    ["punctuation alone", "const f = () => { return; };", ["=> {", ";", "= ()"]],
    ["a path", "edit src/lib/tokenizer_v2.rs", ["lib/tok", "izer_v", "_v2.r"]],
    ["Chinese inside a word", "\u8bf7\u4fee\u590d\u767b\u5f55\u9875\u9762", ["\u590d\u767b", "\u9875"]],
    ["an emoji, and words beside it", "ship it \u{1F680} now", ["\u{1F680}", "it \u{1F680} n"]],
    ["a percent sign and an underscore are themselves", "100% of a_b", ["% o", "a_b"]],
    ["a quote and a backslash", "say 'it\\n' \"twice\"", ["'it\\n'", '"tw', "\\"]],
    ["spaces and line ends", "one  two\n\tthree", ["  ", "two\n\tth"]],
    ["an accent counts", "le caf\u00e9 noir", ["af\u00e9 n"]],
  ];

  test("any part of a text is found, in what was said and in tools, before and after it is indexed", async () => {
    await using temp = await tempContext();
    const stories = literals.map(([, text], at) =>
      story(`s${at}`)
        .user(text, { id: "said" })
        .result("Bash", text, { id: "done" })
        .user("a_b without it: 100 of axb, le cafe noir", { id: "other" })
        .events(),
    );
    await temp.ingest(stories.flat());
    for (const state of ["unindexed", "indexed"]) {
      for (const [at, [what, , queries]] of literals.entries())
        for (const query of queries) {
          const found = await find(temp, { query, mode: "exact", filters: { session_id: `s${at}` } });
          const expected = query === "a_b" ? ["other", "done", "said"] : ["done", "said"];
          expect([state, what, query, ids(found)]).toEqual([state, what, query, expected]);
        }
      await index(temp);
    }
  });

  test("what looks like it is not it", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("s").user("le cafe noir, 100x of axb, Refused").events());
    for (const query of ["caf\u00e9", "100%", "a_b", "refused", "noir,100", "\u{1F680}"])
      expect(ids(await find(temp, { query, mode: "exact" }))).toEqual([]);
  });

  test("a hit in a tool carries the text around it", async () => {
    await using temp = await filled();
    const [hit] = hits(await find(temp, { query: "ECONNREFUSED", mode: "exact" }));
    expect(hit).toMatchObject({ tool_name: "Bash", role: "tool", score: 1, part_id: "0" });
    expect(hit!.text).toBe("Error: ECONNREFUSED 127.0.0.1:5432\n  at connect");
  });

  test.each(["(unclosed", "nowhere(?=x)", "(nowhere)\\1", "nowhere[z-a]", "(?:nowhere{900}){900}"])(
    "the pattern %s cannot be read, also where nothing is looked through",
    async (query) => {
      await using temp = await filled();
      for (let isIndexed = false; ; isIndexed = true) {
        await expect(find(temp, { query, mode: "regex" })).rejects.toMatchObject({
          code: "validation_failed",
          hint: expect.stringContaining("exact"),
        });
        if (isIndexed) break;
        await index(temp);
      }
    },
  );

  test.each<[string, SearchRequest]>([
    ["an absent text", { query: "nowhere at all", mode: "exact" }],
    ["an absent pattern", { query: "nowhere [a-z]+ all", mode: "regex" }],
    ["one with a NUL", { query: "nowhere\0at all", mode: "exact" }],
    ["one that would take another engine for ever", { query: "^(nowhere+)+$", mode: "regex" }],
  ])("of %s nothing is looked through, and nothing is left to be", async (_, request) => {
    await using temp = await filled();
    await index(temp);
    const { tables } = await temp.context.store();
    const scans = [vi.spyOn(tables.parts, "scan"), vi.spyOn(tables.messages, "scan")];
    const response = await find(temp, request);
    expect(response).toMatchObject({ sessions: [], matched_total: 0, matched_total_exact: true });
    expect(response.sessions_unsearched).toBeUndefined();
    for (const scan of scans) expect(scan).not.toHaveBeenCalled();
  });

  test.each<[NonNullable<SearchRequest["in"]>, string, readonly unknown[]]>([
    ["text", "5432", []],
    ["text", "database", ["s-6"]],
    ["tools", "5432", ["s-2"]],
    ["tools", "database", []],
    ["all", "5432", ["s-5", "s-4", "s-3", "s-2"]],
    ["all", "database", ["s-6", "s-3"]],
  ])("in %s: %s", async (where, query, expected) => {
    await using temp = await filled();
    for (const mode of ["exact", "regex"] as const) {
      const request = { query, mode, in: where, filters: { session_id: "s" } };
      expect(ids(await find(temp, request))).toEqual(expected);
      await index(temp);
      expect(ids(await find(temp, request))).toEqual(expected);
    }
  });

  test("pages go on where the scan stopped, newest first", async () => {
    await using temp = await tempContext();
    const events = Array.from({ length: 120 }, (_, i) => {
      const day = new Date(Date.UTC(2026, 0, 1 + i)).toISOString();
      return story(`s${String(i).padStart(3, "0")}`, { at: day })
        .user(i % 2 === 0 ? "needle here" : "hay")
        .events();
    });
    await temp.ingest(events.flat());
    const paged: string[] = [];
    let cursor: { cursor?: string } = {};
    for (let more = true; more;) {
      const page = await find(temp, { query: "needle", mode: "exact", limit: 25, ...cursor });
      paged.push(...sessionIds(page));
      more = page.has_more;
      if (more) cursor = { cursor: page.next_cursor! };
    }
    const expected = Array.from({ length: 60 }, (_, i) => `s${String(118 - 2 * i).padStart(3, "0")}`);
    expect(paged).toEqual(expected);
  });
});

describe("a long scan", () => {
  const day = (at: number): string => new Date(Date.UTC(2020, 0, 1 + at)).toISOString();
  const filled = async (sessions: number, needles: readonly number[]): Promise<TempContext> => {
    const temp = await tempContext();
    const events = Array.from({ length: sessions }, (_, i) =>
      story(`s${i}`, { at: day(i) })
        .user(needles.includes(i) ? "the needle" : "hay")
        .events(),
    );
    await temp.ingest(events.flat());
    return temp;
  };

  test("finds what is old as well as what is new, newest first, and each once", async () => {
    await using temp = await filled(900, [1, 300, 880, 899]);
    const response = await find(temp, { query: "the needle", mode: "exact" });
    expect(sessionIds(response)).toEqual(["s899", "s880", "s300", "s1"]);
    expect(response).toMatchObject({ matched_total: 4, matched_total_exact: true, has_more: false });
  });

  test("is given up when the time is over, and says where to go on", async () => {
    await using temp = await filled(120, [3, 60]);
    let now = 0;
    const clock = { now: () => (now += 6000), sleep: () => new Promise<void>(() => undefined) };
    const pages: string[][] = [];
    let cursor: { cursor?: string } = {};
    for (let more = true; more;) {
      const request = { query: "the needle", mode: "exact" as const, ...cursor };
      const page = await search({ ...temp.context, clock }, request);
      pages.push(sessionIds(page));
      more = page.has_more;
      expect(page.matched_total_exact).toBe(!more);
      if (more) cursor = { cursor: page.next_cursor! };
    }
    expect(pages).toEqual([[], ["s60"], ["s3"]]);
  });
});

describe("a hit", () => {
  test("of a long text is its beginning and the place that matches", async () => {
    await using temp = await tempContext();
    const text = `BEGIN ${"filler ".repeat(500)}the needle lies here ${"filler ".repeat(500)}END`;
    await temp.ingest(story("s").user(text).events());
    const [hit] = hits(await find(temp, { query: "needle" }));
    expect(hit!.text_length).toBe(text.length);
    expect(hit!.text.length).toBeLessThan(1000);
    for (const piece of ["BEGIN", "the needle lies here", "characters ...]"])
      expect(hit!.text).toContain(piece);
    expect(hit!.text).not.toContain("END");
  });

  test("of a user has a summary of its parts, others have none", async () => {
    await using temp = await tempContext();
    const image = {
      type: "file" as const,
      file_name: "plan.png",
      data: { kind: "url", value: "https://x.test/plan.png" },
    };
    await temp.ingest(
      story("s")
        .message("user", [textPart("see the plan"), image])
        .assistant("a fine plan")
        .events(),
    );
    const found = hits(await find(temp, { query: "plan" }));
    expect(found.find(({ role }) => role === "user")!.parts_summary).toEqual([
      { kind: "file", label: "plan.png" },
    ]);
    expect(found.find(({ role }) => role === "assistant")).not.toHaveProperty("parts_summary");
  });
});

describe("what cannot be answered says what to ask instead", () => {
  test.each<[string, SearchRequest, object]>([
    ["no query", {}, { data: { field: "query" } }],
    ["only spaces", { query: "  " }, { data: { field: "query" } }],
    ["no word in it", { query: "=> {" }, { hint: expect.stringContaining("exact") }],
    ["too long a query", { query: "x".repeat(5000) }, { reason: "limit" }],
    ["too many", { query: "x", limit: 201 }, { reason: "limit" }],
    ["an empty pattern", { query: "", mode: "regex" }, { data: { field: "query" } }],
    ["100,000 characters of exact text", { query: "x".repeat(100_000), mode: "exact" }, { reason: "limit" }],
    ["words in tools", { query: "x", in: "tools" }, { data: { field: "in", value: "tools" } }],
    ["likeness to a message that has no vector", { similar_to: "only" }, { reason: "unsupported" }],
    ["a day that is none", { query: "x", filters: { from_date: "soon" } }, { data: { field: "from_date" } }],
    [
      "a cursor of nobody",
      { query: "x", cursor: "nope" },
      { reason: "stale_cursor", message: "cursor: not a cursor that pond issued" },
    ],
  ])("%s", async (_, request, expected) => {
    await using temp = await tempContext();
    await temp.ingest(story("s").user("hello", { id: "only" }).events());
    await expect(search(temp.context, request)).rejects.toMatchObject({
      code: "validation_failed",
      ...expected,
    });
  });
});
