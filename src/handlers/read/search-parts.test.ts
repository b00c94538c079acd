/** Filters on what messages have in their parts: tools, and what failed (spec.md#search-prefilter-pushdown). */
import { describe, expect, test } from "vitest";
import { story, textPart } from "../../../test/support/story.ts";
import { tempContext, type TempContext } from "../../../test/support/temp-context.ts";
import type { SearchRequest, SearchResponse } from "../../wire/index.ts";
import { searchResponseSchema } from "../../wire/schema.ts";
import { explainSearch, search } from "../index.ts";

async function find(temp: TempContext, request: SearchRequest): Promise<SearchResponse> {
  const response = await search(temp.context, request);
  expect(searchResponseSchema.safeParse(response).error).toBeUndefined();
  return response;
}

const ids = ({ sessions }: SearchResponse): string[] =>
  sessions.flatMap(({ matches }) => matches.map(({ message_id }) => message_id)).toSorted();

const call = (name: string, call_id: string): { type: "tool_call"; name: string; call_id: string } => ({
  type: "tool_call",
  name,
  call_id,
});

/** A message that says something and makes a call, and the result of it. */
function calling(temp: TempContext, session: string, tool: string, failed: boolean): Promise<void> {
  return temp.ingest(
    story(session)
      .user("please deploy", { id: `${session}-ask` })
      .message("assistant", [textPart("I deploy now"), call(tool, "c1")], { id: `${session}-call` })
      .result(tool, "deploy done", { id: `${session}-result`, call: "c1", failed })
      .events(),
  );
}

async function filled(): Promise<TempContext> {
  const temp = await tempContext();
  await calling(temp, "ran", "Bash", false);
  await calling(temp, "failed", "Bash", true);
  await calling(temp, "read", "Read", true);
  // A client whose results do not name their tool.
  const nameless = { type: "tool_result", provenance: "injected", call_id: "c1", is_failure: true } as const;
  const other = { ...nameless, call_id: "c2" };
  await temp.ingest(
    story("nameless", { agent: "codex-cli" })
      .message("assistant", [textPart("I deploy, too"), call("Bash", "c1")], { id: "nameless-call" })
      .message("tool", [{ ...nameless, result: "deploy broke" }], { id: "nameless-result" })
      .message("tool", [{ ...other, result: "deploy of another" }], { id: "nameless-other" })
      .events(),
  );
  return temp;
}

const cases: readonly [string, SearchRequest["filters"], { words: string[]; exact: string[] }][] = [
  [
    "a tool",
    { tool_name: "Bash" },
    {
      words: ["failed-call", "nameless-call", "ran-call"],
      exact: ["failed-result", "nameless-result", "ran-result"],
    },
  ],
  [
    "what failed",
    { failed_only: true },
    {
      words: ["failed-call", "nameless-call", "read-call"],
      exact: ["failed-result", "nameless-other", "nameless-result", "read-result"],
    },
  ],
  [
    "a tool that failed",
    { tool_name: "Bash", failed_only: true },
    { words: ["failed-call", "nameless-call"], exact: ["failed-result", "nameless-result"] },
  ],
  [
    "a tool of one client",
    { tool_name: "Bash", source_agent: "codex-cli" },
    { words: ["nameless-call"], exact: ["nameless-result"] },
  ],
  ["a role that has none", { tool_name: "Bash", role: "user" }, { words: [], exact: [] }],
  ["a tool that nobody called", { tool_name: "bash" }, { words: [], exact: [] }],
];

test.each(cases)("%s", async (_, filters, expected) => {
  await using temp = await filled();
  const store = await temp.context.store();
  for (const state of ["unindexed", "indexed"]) {
    for (const mode of ["words", "exact"] as const) {
      const response = await find(temp, { query: "deploy", mode, filters: filters! });
      expect([state, mode, ids(response)]).toEqual([state, mode, expected[mode]]);
      expect(response.matched_total).toBe(expected[mode].length);
    }
    await store.maintain({ force: true });
  }
});

test("an empty answer says how many messages had such a part", async () => {
  await using temp = await filled();
  const scope = async (filters: SearchRequest["filters"], mode: "words" | "exact" = "words") =>
    (await find(temp, { query: "absent", mode, filters: filters! })).searchable_in_scope;
  expect(await scope({ tool_name: "Bash" })).toBe(3);
  expect(await scope({ tool_name: "Read" })).toBe(1);
  expect(await scope({ tool_name: "Write" })).toBe(0);
  expect(await scope({ tool_name: "Read" }, "exact")).toBe(2);
});

test("the plan shows the index of tools, and the messages that it left as a filter below the arms", async () => {
  await using temp = await filled();
  await (await temp.context.store()).maintain({ force: true });
  const { plan } = await explainSearch(temp.context, { query: "deploy", filters: { tool_name: "Bash" } });
  expect(plan).toMatch(/ScalarIndexQuery.*tool_name/);
  expect(plan).toMatch(/MatchQuery[^]*_rowid = /);
});

describe("no filter shrinks an answer: behind a thousand better hits", () => {
  /** `better` say nothing but the word; `wanted` say it among many others. */
  async function haystack(better: number, wanted: number): Promise<TempContext> {
    const temp = await tempContext();
    for (let at = 0; at < better; at += 250) {
      const hay = story(`hay-${at}`, { project: "/srv/hay" });
      for (let i = 0; i < 250; i++) hay.assistant("needle needle");
      await temp.ingest(hay.events());
    }
    for (let at = 0; at < wanted; at++) {
      const body = [textPart(`a needle ${"in very much other text ".repeat(5)}`), call("Sew", "c")];
      const sewing = story(`sew-${String(at).padStart(4, "0")}`, { project: "/srv/sew", agent: "codex-cli" });
      await temp.ingest(sewing.message("assistant", body, { at: "2026-05-05T12:00:00Z" }).events());
    }
    return temp;
  }

  test.each<[string, SearchRequest["filters"]]>([
    ["a tool", { tool_name: "Sew" }],
    ["a project", { project: "sew" }],
    ["a client", { source_agent: "codex-cli" }],
    ["dates", { from_date: "2026-05-05", to_date: "2026-05-05" }],
  ])("%s", async (_, filters) => {
    await using temp = await haystack(1250, 12);
    const response = await find(temp, { query: "needle", filters: filters!, limit: 12 });
    expect(response.sessions.map(({ session_id }) => session_id.slice(0, 3))).toEqual(
      Array.from({ length: 12 }, () => "sew"),
    );
    expect([response.matched_total, response.matched_total_exact, response.has_more]).toEqual([
      12,
      true,
      false,
    ]);
  });

  test("a tool that more messages have than a filter lists", async () => {
    await using temp = await tempContext();
    for (let at = 0; at < 1250; at += 250) {
      const hay = story(`hay-${at}`);
      for (let i = 0; i < 250; i++) hay.assistant("needle needle");
      await temp.ingest(hay.events());
    }
    const sewing = story("sew");
    for (let i = 0; i < 1100; i++)
      sewing.message("assistant", [
        textPart(`${i < 3 ? "a needle " : ""}${"in other text ".repeat(9)}`),
        call("Sew", "c"),
      ]);
    await temp.ingest(sewing.events());
    const filters = { tool_name: "Sew" };
    const response = await find(temp, { query: "needle", filters });
    expect([ids(response).length, response.matched_total, response.matched_total_exact]).toEqual([
      3,
      3,
      true,
    ]);
    expect(response.searchable_in_scope).toBe(1100);
  });
});
