import { describe, expect, test } from "vitest";
import type { GetResponse, SearchResponse } from "../wire/index.ts";
import { getResponseSchema, searchResponseSchema } from "../wire/schema.ts";
import type { Phrasing } from "./index.ts";
import { getTranscript, searchTranscript } from "./index.ts";

describe("a transcript", () => {
  const plain: Phrasing = {
    clean: (text) => text.replaceAll("\x1b", "?"),
    line: (text) => text.replaceAll("\x1b", "?").replaceAll("\n", "~"),
    strong: (text) => text,
    faint: (text) => text,
    after: (id) => `after_id=${id}`,
    before: (id) => `before_id=${id}`,
    cursor: (token) => `cursor=${token}`,
    message: "get(message_id)",
    session: "get(session_id)",
    allBranches: "branch=all",
    end: (number) => `end=${number}`,
    state: (session, state, source) => `restore ${session} ${source ?? ""}#${state}`,
    history: "history=true",
    subagents: "include_subagents=true",
    exact: "mode=exact",
  };
  const session = {
    id: "s1",
    source_agent: "claude-code",
    project: "/p",
    created_at: "1970-01-01T00:00:00.000Z",
  };
  const part = { session_id: "s1", message_id: "m1", provenance: "conversational" as const, options: {} };
  const time = "1970-01-01T00:00:00.000Z";

  test("of a message marks it and shows its tools", () => {
    const response: GetResponse = getResponseSchema.parse({
      scope: "message",
      session,
      target: {
        id: "m1",
        seq: 1,
        role: "assistant",
        timestamp: time,
        text: "Let me look.",
        parts_summary: [],
      },
      target_parts: [
        { ...part, id: "0", ordinal: 0, type: "text", text: "Let me look." },
        {
          ...part,
          id: "1",
          ordinal: 1,
          type: "tool_call",
          name: "Bash",
          call_id: "c",
          params: { command: "ls" },
        },
        {
          ...part,
          id: "2",
          ordinal: 2,
          type: "tool_result",
          name: "Bash",
          call_id: "c",
          is_failure: true,
          result: "no\nway",
        },
      ],
      target_parts_remaining: 2,
      siblings: [{ id: "m0", seq: 0, role: "user", timestamp: time, text: "hi\x1b[2J", parts_summary: [] }],
      siblings_before: 1,
      context_depth: 1,
    }) as unknown as GetResponse;
    expect(getTranscript(response, plain)).toBe(
      [
        "session s1 | claude-code | /p",
        "",
        "--- [1] user | 1970-01-01 00:00:00Z | m0 -------------------------------",
        "hi?[2J",
        "",
        "--- [2] > assistant | 1970-01-01 00:00:00Z | m1 ------------------------",
        "Let me look.",
        "  -> Bash [c]",
        '     {"command":"ls"}',
        "  <- Bash [c] (failed)",
        "     no",
        "     way",
        "",
        "... 2 more parts; continue with after_id=2",
      ].join("\n"),
    );
  });

  test("says of a session's ends where they are, and what of it is no longer in it", () => {
    const page = {
      scope: "session",
      session,
      response_mode: "conversational",
      session_from: "start",
      messages: [
        { id: "m1", state: "superseded", role: "user", timestamp: time, text: "was", parts_summary: [] },
        { id: "m1@2", role: "user", timestamp: time, text: "is", parts_summary: [] },
        { id: "m2", state: "other_end", role: "user", timestamp: time, text: "beside", parts_summary: [] },
      ],
      messages_before: 0,
      messages_remaining: 0,
      hidden: 0,
      children: [],
      children_remaining: 0,
      end: 1,
      ends: [
        {
          end: 1,
          source: { id: "s-a", path: "/a.jsonl", reader: "r", form: "log" },
          records: 2,
          last_at: time,
        },
        {
          end: 2,
          source: { id: "s-b", path: "/b.jsonl", reader: "r", form: "log" },
          records: 1,
          parted_after: "m0",
        },
      ],
      replaced: 1,
    };
    const text = getTranscript(getResponseSchema.parse(page) as unknown as GetResponse, plain);
    expect(text.split("\n")).toEqual([
      "session s1 | claude-code | /p",
      "",
      "--- [1] user | 1970-01-01 00:00:00Z | m1 | superseded ------------------",
      "was",
      "",
      "--- [2] user | 1970-01-01 00:00:00Z | m1@2 -----------------------------",
      "is",
      "",
      "--- [3] user | 1970-01-01 00:00:00Z | m2 | in another end --------------",
      "beside",
      "",
      "2 ends, newest first: its sources diverged",
      "  1 | 2 records | last 1970-01-01 00:00:00Z | log /a.jsonl | read by r | shown here",
      "  2 | 1 record | diverged after m0 | log /b.jsonl | read by r | end=2",
      "1 stored message was replaced or removed; history=true shows it",
    ]);
  });

  test("of a session numbers its messages, says how to go on, and lists children and branches", () => {
    const page = {
      scope: "session",
      session: { ...session, title: "A title" },
      response_mode: "conversational",
      session_from: "start",
      messages: [
        {
          id: "m7",
          role: "user",
          timestamp: time,
          text: "see the plan",
          parts_summary: [{ kind: "file", label: "plan.png" }],
        },
      ],
      messages_before: 6,
      messages_remaining: 3,
      hidden: 2,
      children: [
        { id: "s1/c", source_agent: "claude-code/explore", created_at: time, messages: 4, title: "Look" },
      ],
      children_remaining: 0,
    };
    const text = getTranscript(getResponseSchema.parse(page) as unknown as GetResponse, plain);
    expect(text.split("\n")).toEqual([
      "A title",
      "session s1 | claude-code | /p",
      "",
      "--- [7] user | 1970-01-01 00:00:00Z | m7 -------------------------------",
      "see the plan",
      "  [file plan.png]",
      "",
      "... 3 more messages; continue with after_id=m7",
      "2 messages are on abandoned branches; branch=all shows them",
      "children (1), each a session of its own:",
      "  s1/c | claude-code/explore | Look",
    ]);
    const tail = { ...page, session_from: "end", messages_remaining: 6 };
    const forked = { ...page, session: { ...page.session, relation: "fork", parent_session_id: "p" } };
    expect(getTranscript(forked as unknown as GetResponse, plain)).toMatch(/^session .* \| fork of p$/m);
    expect(getTranscript(tail as unknown as GetResponse, plain)).toContain(
      "... 6 earlier messages; go back with before_id=m7",
    );
  });

  test("of a search groups hits by session; an empty one says what was in scope and what to try", () => {
    const response = {
      mode: "words",
      sessions: [
        {
          session_id: "s1",
          title: "A title",
          project: "/p",
          source_agent: "claude-code",
          last_at: time,
          session_messages_count: 9,
          matched_message_count: 2,
          matches: [
            {
              message_id: "m1",
              role: "user",
              timestamp: time,
              score: 1,
              text: "hello\nworld",
              text_length: 11,
              also_in: [{ session_id: "s2", message_id: "m1" }],
            },
          ],
        },
      ],
      matched_total: 2,
      matched_total_exact: false,
      searchable_in_scope: 40,
      has_more: true,
      next_cursor: "abc",
    };
    const parsed = searchResponseSchema.parse(response) as SearchResponse;
    expect(searchTranscript(parsed, "hello", plain).split("\n")).toEqual([
      '"hello": at least 2 messages match, 1 of them shown, by session; 40 messages with text were in scope.',
      "",
      "=== A title",
      "session s1 | claude-code | /p | 2 of 9 messages | last 1970-01-01 00:00:00Z",
      "--- [1] 1.00 | user | 1970-01-01 00:00:00Z | m1 ------------------------",
      "hello",
      "world",
      "  also in s2",
      "",
      "read one: get(message_id); its session: get(session_id)",
      "more: cursor=abc",
    ]);
    const marking: Phrasing = {
      ...plain,
      match: (text) => `<${text}>`,
      open: (...ids) => `get ${ids.join(" ")}`,
    };
    const [first] = parsed.sessions;
    const [hit] = first!.matches;
    const marked = {
      ...hit!,
      highlights: [
        { start: 0, end: 2 },
        { start: 4, end: 7 },
      ],
      text: "\x1b[1m\nwo\x1b",
    };
    const continued = { ...marked, newer: { last_at: "1970-01-03T01:00:00.000Z" } };
    const shown = { ...parsed, sessions: [{ ...first!, matches: [continued] }] };
    expect(searchTranscript(shown, "hello", marking).split("\n").slice(4)).toEqual([
      "--- [1] 1.00 | user | 1970-01-01 00:00:00Z | session continued for 2 days ---",
      "<?[>1m<",
      "wo>?",
      "  also in s2",
      "get s1 m1",
      "",
      "a session: get(session_id)",
      "more: cursor=abc",
    ]);
    const empty = { ...parsed, sessions: [], matched_total: 0, has_more: false };
    expect(searchTranscript(empty, "hello", plain)).toMatch(
      /^nothing matches "hello".*40 messages.*mode=exact/,
    );
  });
});
