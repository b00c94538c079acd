import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionEvents } from "../../../test/support/arbitrary-events.ts";
import { getMessage, getSession } from "../../../test/support/get-answers.ts";
import { story, textPart } from "../../../test/support/story.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import type { GetRequest, SessionResult } from "../../wire/index.ts";
import { get } from "../index.ts";

const ids = (result: SessionResult): string[] => result.messages.map(({ id }) => id);

const worked = () =>
  story("s")
    .user("list the files")
    .call("Bash", { command: "ls" })
    .result("Bash", "a.txt\nb.txt")
    .assistant("There are two.")
    .message("system", [], { content: "the context was compacted" })
    .message("user", [textPart("<reminder/>", "injected")]);

describe("a session", () => {
  test("in conversation is what was said, with the tools between left out", async () => {
    await using temp = await tempContext();
    await temp.ingest(worked().events());
    const result = await getSession(temp.context, { session_id: "s" });
    expect(result).toMatchObject({
      session: { id: "s", title: "list the files", source_agent: "claude-code", project: "/srv/pond" },
      response_mode: "conversational",
      messages_remaining: 0,
      hidden: 0,
      children: [],
    });
    expect(result.messages).toMatchObject([
      { id: "s-0", seq: 0, role: "user", timestamp: "2026-01-02T03:04:05.000Z", text: "list the files" },
      { id: "s-3", role: "assistant", text: "There are two." },
    ]);
    expect(result.messages[0]).not.toHaveProperty("parts");
  });

  test("complete is every message, tools and injected text as summaries", async () => {
    await using temp = await tempContext();
    await temp.ingest(worked().events());
    const { messages } = await getSession(temp.context, { session_id: "s", response_mode: "complete" });
    expect(
      messages.map(({ role, text, content, parts_summary }) => [role, text, content, parts_summary]),
    ).toEqual([
      ["user", "list the files", undefined, []],
      ["assistant", undefined, undefined, [{ kind: "tool_call", label: "Bash", call_id: "call-1" }]],
      [
        "tool",
        undefined,
        undefined,
        [{ kind: "tool_result", label: "Bash", call_id: "call-1", is_failure: false }],
      ],
      ["assistant", "There are two.", undefined, []],
      ["system", undefined, "the context was compacted", []],
      ["user", undefined, undefined, [{ kind: "text", label: "injected" }]],
    ]);
  });

  test("verbatim has whole parts; the payload of a file only when asked for", async () => {
    await using temp = await tempContext();
    const png = new Uint8Array([1, 2, 3]);
    const image = { type: "file" as const, media_type: "image/png", data: { kind: "bytes", value: png } };
    await temp.ingest(worked().message("user", [image]).events());
    const verbatim = { session_id: "s", response_mode: "verbatim" } as const;
    const { messages } = await getSession(temp.context, verbatim);
    expect(messages[1]!.parts).toMatchObject([
      { type: "tool_call", name: "Bash", params: { command: "ls" }, provenance: "conversational" },
    ]);
    expect(messages.at(-1)).toMatchObject({
      parts_summary: [{ kind: "file", label: "image/png" }],
      parts: [{ type: "file", data: { kind: "bytes", omitted_bytes: 3 } }],
    });
    const whole = await getSession(temp.context, { ...verbatim, include_payloads: true });
    expect(whole.messages.at(-1)!.parts).toMatchObject([{ data: { kind: "bytes", value: "AQID" } }]);
  });

  test("pages forward and backward cover every message once", async () => {
    await using temp = await tempContext();
    const long = story("s");
    for (let i = 0; i < 23; i++) long.user(`message ${i}`);
    await temp.ingest(long.events());
    const all = Array.from({ length: 23 }, (_, i) => `s-${i}`);
    const forward: string[] = [];
    let after: { after_id?: string } = {};
    for (;;) {
      const page = await getSession(temp.context, { session_id: "s", limit: 10, ...after });
      expect(page.messages_before).toBe(forward.length);
      forward.push(...ids(page));
      expect(page.messages_remaining).toBe(23 - forward.length);
      if (page.messages_remaining === 0) break;
      after = { after_id: forward.at(-1)! };
    }
    expect(forward).toEqual(all);
    const tail = await getSession(temp.context, { session_id: "s", limit: 10, session_from: "end" });
    expect([ids(tail), tail.messages_remaining]).toEqual([all.slice(13), 13]);
    const earlier = await getSession(temp.context, { session_id: "s", limit: 10, before_id: ids(tail)[0]! });
    expect([ids(earlier), earlier.messages_remaining]).toEqual([all.slice(3, 13), 3]);
  });

  test("the last page of a long session is the end of the whole, in every mode, with branches and responses", async () => {
    await using temp = await tempContext();
    const long = story("s");
    const parentOf = (i: number): string | null => (i === 0 ? null : `s-${i - 1}`);
    // Two pieces a response with its tools between; some of it went back and took another way.
    for (let i = 0; i < 400; i += 4) {
      const parent = i === 200 ? "s-100" : parentOf(i);
      const turn = { turn: `resp-${i}` };
      long
        .user(`question ${i}`, { pond: { parent } })
        .assistant(`answer ${i}`, { pond: { ...turn, parent: `s-${i}` } })
        .call("Bash", { i }, { call: `call-${i}`, pond: { ...turn, parent: `s-${i + 1}` } })
        .result("Bash", "done", { call: `call-${i}`, pond: { parent: `s-${i + 2}` } });
    }
    await temp.ingest(long.events());
    for (const response_mode of ["conversational", "complete", "verbatim"] as const)
      for (const branch of ["active", "all"] as const) {
        const request = { session_id: "s", response_mode, branch };
        const whole: SessionResult["messages"][number][] = [];
        for (let more = true; more;) {
          const after = whole.length === 0 ? {} : { after_id: whole.at(-1)!.id };
          const page = await getSession(temp.context, { ...request, limit: 100, ...after });
          whole.push(...page.messages);
          more = page.messages_remaining > 0;
        }
        const last = await getSession(temp.context, { ...request, limit: 7, session_from: "end" });
        expect(last.messages).toEqual(whole.slice(-7));
        expect([last.messages_before, last.messages_remaining]).toEqual([whole.length - 7, whole.length - 7]);
        expect(last.hidden).toBe(branch === "all" ? 0 : 99);
        const share = response_mode === "conversational" ? 2 : 1;
        expect(whole).toHaveLength(Math.ceil((400 - last.hidden) / share));
      }
  });

  test("a page ends before its budget does, and never inside a message", async () => {
    await using temp = await tempContext();
    const half = "x".repeat(90_000);
    await temp.ingest(story("s").user(half).user(half).user("y".repeat(400_000)).user("short").events());
    const sizes: number[][] = [];
    let after: { after_id?: string } = {};
    for (let more = true; more;) {
      const page = await getSession(temp.context, { session_id: "s", ...after });
      sizes.push(page.messages.map(({ text }) => text!.length));
      after = { after_id: page.messages.at(-1)!.id };
      more = page.messages_remaining > 0;
    }
    expect(sizes).toEqual([[90_000], [90_000], [400_000], [5]]);
    const tail = await getSession(temp.context, { session_id: "s", session_from: "end" });
    expect(ids(tail)).toEqual(["s-3"]);
  });

  test("one response of the model that was recorded in pieces is one message", async () => {
    await using temp = await tempContext();
    const turn = { pond: { turn: "resp-1" } };
    await temp.ingest(
      story("s")
        .user("go")
        .assistant("First I look.", turn)
        .call("Read", {}, { ...turn, call: "a" })
        .result("Read", "...", { call: "a" })
        .call("Grep", {}, { ...turn, call: "b" })
        .assistant("Then I think.", turn)
        .assistant("Another response.", { pond: { turn: "resp-2" } })
        .events(),
    );
    const { messages } = await getSession(temp.context, { session_id: "s" });
    expect(messages).toMatchObject([
      { id: "s-0" },
      {
        id: "s-1",
        text: "First I look.\nThen I think.",
        joined: ["s-2", "s-4", "s-5"],
        parts_summary: [
          { kind: "tool_call", label: "Read" },
          { kind: "tool_call", label: "Grep" },
        ],
      },
      { id: "s-6", text: "Another response." },
    ]);
    // A page may go on from any of the pieces.
    expect(ids(await getSession(temp.context, { session_id: "s", after_id: "s-4" }))).toEqual(["s-6"]);
  });

  test("of a rewritten record the newest revision is shown, once", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("s")
        .user("draft", { id: "m" })
        .user("second", { id: "m@2", pond: { revises: "m" } })
        .user("third", { id: "m@3", pond: { revises: "m" } })
        .events(),
    );
    const { messages } = await getSession(temp.context, { session_id: "s", branch: "all" });
    expect(messages.map(({ text }) => text)).toEqual(["third"]);
  });

  test("shows the active branch, and every one when asked", async () => {
    await using temp = await tempContext();
    await temp.ingest(
      story("s")
        .user("start", { id: "a", pond: { parent: null } })
        .assistant("answer", { id: "b", pond: { parent: "a" } })
        .user("abandoned", { id: "c", pond: { parent: "b" } })
        .user("instead", { id: "d", pond: { parent: "b" } })
        .events(),
    );
    const active = await getSession(temp.context, { session_id: "s" });
    expect([ids(active), active.hidden]).toEqual([["a", "b", "d"], 1]);
    const all = await getSession(temp.context, { session_id: "s", branch: "all" });
    expect([ids(all), all.hidden]).toEqual([["a", "b", "c", "d"], 0]);
    // What is hidden can still be asked for by its id.
    expect((await getMessage(temp.context, { message_id: "c" })).target.text).toBe("abandoned");
  });

  test("lists its children with their titles", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("s").user("parent").events());
    const child = { parent: "s", agent: "claude-code/explore", relation: "spawn" } as const;
    await temp.ingest(story("s/agent-1", child).user("explore the code").assistant("done").events());
    const { children } = await getSession(temp.context, { session_id: "s" });
    expect(children).toMatchObject([
      {
        id: "s/agent-1",
        source_agent: "claude-code/explore",
        relation: "spawn",
        title: "explore the code",
        messages: 2,
      },
    ]);
  });

  test("whose row is not there yet is not shown", async () => {
    await using temp = await tempContext();
    const events = story("s").user("hello").events();
    const store = await temp.context.store();
    const ingest = store.ingest({
      clock: { now: () => 0, sleep: async () => undefined },
      limits: { rows: 1, bytes: 1 },
    });
    await ingest.add(events);
    await ingest.stop();
    await expect(get(temp.context, { session_id: "s" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a message", () => {
  test("has whole parts and the conversation around it", async () => {
    await using temp = await tempContext();
    await temp.ingest(worked().events());
    const result = await getMessage(temp.context, { message_id: "s-2", context_depth: 1 });
    expect(result.target).toMatchObject({ id: "s-2", role: "tool" });
    expect(result.target_parts).toMatchObject([
      { type: "tool_result", result: "a.txt\nb.txt", name: "Bash" },
    ]);
    expect(result.siblings.map(({ id }) => id)).toEqual(["s-0", "s-3"]);
    expect((await getMessage(temp.context, { message_id: "s-2", context_depth: 0 })).siblings).toEqual([]);
  });

  test("with many parts comes page by page", async () => {
    await using temp = await tempContext();
    const parts = Array.from({ length: 5 }, (_, i) => textPart(`part ${i}`));
    await temp.ingest(story("s").message("user", parts).events());
    const first = await getMessage(temp.context, { message_id: "s-0", limit: 3 });
    expect([first.target_parts.length, first.target_parts_remaining]).toEqual([3, 2]);
    const second = await getMessage(temp.context, { message_id: "s-0", limit: 3, after_id: "2" });
    expect(second.target_parts.map(({ ordinal }) => ordinal)).toEqual([3, 4]);
    expect(second.target_parts_remaining).toBe(0);
  });

  test("whose id stands in several sessions is the original one, or the sessions are listed", async () => {
    await using temp = await tempContext();
    await temp.ingest(story("a").user("hello", { id: "m" }).events());
    await temp.ingest(
      story("b")
        .user("hello", { id: "m", pond: { replays: true } })
        .events(),
    );
    expect((await getMessage(temp.context, { message_id: "m" })).session.id).toBe("a");
    expect((await getMessage(temp.context, { message_id: "m", session_id: "b" })).session.id).toBe("b");
    await temp.ingest(story("c").user("other", { id: "m" }).events());
    await expect(get(temp.context, { message_id: "m" })).rejects.toMatchObject({
      code: "validation_failed",
      data: { sessions: expect.arrayContaining(["a", "c"]) },
    });
  });
});

describe("what cannot be answered says what to ask instead", () => {
  test.each<[string, GetRequest, object]>([
    ["neither id", {}, { code: "validation_failed" }],
    [
      "a limit out of bounds",
      { session_id: "s", limit: 1001 },
      { code: "validation_failed", reason: "limit" },
    ],
    ["an unknown session", { session_id: "nope" }, { code: "not_found", hint: /^sessions lists/ }],
    ["the beginning of an id", { session_id: "s-abc" }, { code: "not_found", hint: /did you mean s-abcdef/ }],
    ["a message taken for a session", { session_id: "s-abcdef-0" }, { hint: /for message s-abcdef-0/ }],
    ["a session taken for a message", { message_id: "s-abcdef" }, { hint: /for session s-abcdef/ }],
    ["an unknown message", { message_id: "nope" }, { code: "not_found", hint: /search/ }],
    [
      "a page after a message of another session",
      { session_id: "s-abcdef", after_id: "nope" },
      { code: "not_found" },
    ],
  ])("%s", async (_, request, expected) => {
    await using temp = await tempContext();
    await temp.ingest(story("s-abcdef").user("hello").events());
    const error: unknown = await get(temp.context, request).catch((fault: unknown) => fault);
    for (const [key, value] of Object.entries(expected))
      if (value instanceof RegExp) expect((error as Record<string, unknown>)[key]).toMatch(value);
      else expect(error).toMatchObject({ [key]: value });
  });

  test("no store yet", async () => {
    await using temp = await tempContext();
    await expect(get(temp.context, { session_id: "s" })).rejects.toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("sync creates it"),
    });
  });
});

test("any stored session can be read whole, in pages, in every mode", async () => {
  await using temp = await tempContext();
  await fc.assert(
    fc.asyncProperty(sessionEvents, fc.integer({ min: 1, max: 4 }), async (events, limit) => {
      await temp.ingest(events);
      const first = events[0]!;
      if (first.kind !== "session") throw new Error("a session comes first");
      const session_id = first.session.id;
      const stored = new Set(events.flatMap((event) => (event.kind === "message" ? [event.message.id] : [])));
      for (const response_mode of ["complete", "verbatim"] as const) {
        const seen: string[] = [];
        let after: { after_id?: string } = {};
        for (;;) {
          const page = await getSession(temp.context, {
            session_id,
            response_mode,
            limit,
            branch: "all",
            ...after,
          });
          seen.push(...ids(page));
          if (page.messages_remaining === 0) break;
          after = { after_id: seen.at(-1)! };
        }
        expect(new Set(seen)).toEqual(stored);
        expect(seen.length).toBe(stored.size);
      }
    }),
    { numRuns: 15 },
  );
});
