import { describe, expect, test } from "vitest";
import { story } from "../../../test/support/story.ts";
import { tempContext, type TempContext } from "../../../test/support/temp-context.ts";
import { sessionsResponseSchema } from "../../wire/schema.ts";
import type { SessionsRequest, SessionsResponse } from "../../wire/index.ts";
import { listSessions, resolveParent, resolveSession, resolveTarget, shortIds } from "../index.ts";

async function list(temp: TempContext, request: SessionsRequest): Promise<SessionsResponse> {
  const response = await listSessions(temp.context, request);
  expect(sessionsResponseSchema.safeParse(response).error).toBeUndefined();
  return response;
}

async function filled(): Promise<TempContext> {
  const temp = await tempContext();
  const at = (day: string): string => `2026-03-${day}T12:00:00Z`;
  await temp.ingest(
    story("web-0001", { project: "/srv/Web", at: at("01") })
      .user("Fix the Login page")
      .events(),
  );
  await temp.ingest(
    story("api-0001", { project: "/srv/api", at: at("05") })
      .user("add a route")
      .assistant("done")
      .events(),
  );
  await temp.ingest(
    story("api-0002", { project: "/srv/api", agent: "codex-cli", at: at("09") })
      .user("login again")
      .events(),
  );
  const child = { project: "/srv/api", agent: "claude-code/explore", parent: "api-0001", at: at("05") };
  await temp.ingest(story("child-01", child).user("look around").events());
  return temp;
}

describe("the list of sessions", () => {
  test("is newest first, with titles, counts and spans", async () => {
    await using temp = await filled();
    const { sessions, total, has_more } = await list(temp, {});
    expect([total, has_more]).toEqual([3, false]);
    expect(sessions).toMatchObject([
      { id: "api-0002", source_agent: "codex-cli", title: "login again" },
      {
        id: "api-0001",
        messages: { total: 2, user: 1, assistant: 1, tool: 0, system: 0 },
        first_at: "2026-03-05T12:00:00.000Z",
        last_at: "2026-03-05T12:01:00.000Z",
        children: 1,
      },
      { id: "web-0001" },
    ]);
  });

  test.each<[string, SessionsRequest, string[]]>([
    ["project, a part in any case", { project: "WEB" }, ["web-0001"]],
    ["project, its beginning", { project: { prefix: "/srv/a" } }, ["api-0002", "api-0001"]],
    ["project, exactly", { project: { exact: "/srv" } }, []],
    ["client", { source_agent: "codex-cli" }, ["api-0002"]],
    [
      "client with its agents",
      { source_agent: "claude-code", include_subagents: true },
      ["api-0001", "child-01", "web-0001"],
    ],
    ["agent", { source_agent: "claude-code/explore" }, ["child-01"]],
    ["subagents", { include_subagents: true }, ["api-0002", "api-0001", "child-01", "web-0001"]],
    ["children of a session", { parent_session_id: "api-0001" }, ["child-01"]],
    ["active since a day", { from_date: "2026-03-05" }, ["api-0002", "api-0001"]],
    ["active up to a day", { to_date: "2026-03-05" }, ["api-0001", "web-0001"]],
    ["words of the title, in any order and case", { title: "PAGE login" }, ["web-0001"]],
  ])("by %s", async (_, request, expected) => {
    await using temp = await filled();
    expect((await list(temp, request)).sessions.map(({ id }) => id)).toEqual(expected);
  });

  test("pages do not shift when newer sessions arrive in between", async () => {
    await using temp = await filled();
    const first = await list(temp, { limit: 1 });
    expect(first.sessions.map(({ id }) => id)).toEqual(["api-0002"]);
    await temp.ingest(story("new-0001", { at: "2026-04-01T00:00:00Z" }).user("newer").events());
    const second = await list(temp, { limit: 1, cursor: first.next_cursor! });
    expect(second.sessions.map(({ id }) => id)).toEqual(["api-0001"]);
    await expect(list(temp, { project: "web", cursor: first.next_cursor! })).rejects.toMatchObject({
      reason: "stale_cursor",
    });
  });

  test.each<[string, SessionsRequest]>([
    ["a limit past the bound", { limit: 1001 }],
    ["a day that is none", { to_date: "2026-02-30" }],
    ["a cursor of nobody", { cursor: "!" }],
  ])("%s is refused", async (_, request) => {
    await using temp = await filled();
    await expect(listSessions(temp.context, request)).rejects.toMatchObject({ code: "validation_failed" });
  });
});

describe("an id as a person types it", () => {
  test("names a session, the only one that begins so, or a message", async () => {
    await using temp = await filled();
    expect(await resolveTarget(temp.context, "api-0001")).toEqual({ session_id: "api-0001" });
    expect(await resolveTarget(temp.context, "web-")).toEqual({ session_id: "web-0001" });
    expect(await resolveTarget(temp.context, "api-0001-1")).toEqual({ message_id: "api-0001-1" });
    await expect(resolveTarget(temp.context, "api-")).rejects.toMatchObject({
      code: "validation_failed",
      hint: expect.stringContaining("api-0002"),
    });
    await expect(resolveTarget(temp.context, "nope-1")).rejects.toMatchObject({ code: "not_found" });
  });

  test("names the eldest of a family whose ids begin alike", async () => {
    await using temp = await tempContext();
    const agent = "claude-code/explore";
    await temp.ingest(story("abcdef01-1").user("the parent").events());
    await temp.ingest(story("abcdef01-1/agent-1", { agent, parent: "abcdef01-1" }).user("a child").events());
    const grandchild = { agent, parent: "abcdef01-1/agent-1" };
    await temp.ingest(story("abcdef01-1/agent-1/agent-2", grandchild).user("its child").events());
    expect(await resolveSession(temp.context, "abcdef01")).toBe("abcdef01-1");
    expect(await resolveTarget(temp.context, "abcdef01")).toEqual({ session_id: "abcdef01-1" });
    expect(await resolveSession(temp.context, "abcdef01-1/")).toBe("abcdef01-1/agent-1");
    await temp.ingest(story("abcdef01-2").user("a stranger").events());
    await expect(resolveSession(temp.context, "abcdef01")).rejects.toMatchObject({
      hint: expect.stringMatching(/^type more of it: abcdef01-[12], abcdef01-[12]$/),
    });
    await expect(resolveSession(temp.context, "abcdef01-1-0")).rejects.toMatchObject({
      code: "not_found",
      message: "abcdef01-1-0 is a message of session abcdef01-1, not a session",
    });
  });

  test("of a parent that is not stored names its children", async () => {
    await using temp = await tempContext();
    const agent = "claude-code/explore";
    const child = (id: string, parent: string) => story(id, { agent, parent }).user("a child").events();
    await temp.ingest(child("abcdef01-1/agent-1", "abcdef01-1"));
    for (const id of ["abcdef01-1", "abcdef01"])
      expect(await resolveParent(temp.context, id)).toBe("abcdef01-1");
    await temp.ingest(story("abcdef01-1").user("the parent, after all").events());
    await temp.ingest(child("abcdef01-1/agent-1/agent-2", "abcdef01-1/agent-1"));
    for (const id of ["abcdef01-1", "abcdef01"])
      expect(await resolveParent(temp.context, id)).toBe("abcdef01-1");
    expect(await resolveParent(temp.context, "abcdef01-1/agent-1")).toBe("abcdef01-1/agent-1");
    await temp.ingest(story("bcdef012").user("no children, but a copy with some").events());
    await temp.ingest(child("bcdef012@1/agent-1", "bcdef012@1"));
    expect(await resolveParent(temp.context, "bcdef012")).toBe("bcdef012");
    await expect(resolveParent(temp.context, "nobody")).rejects.toMatchObject({ code: "not_found" });
  });

  test("is shown as short as it still names its session", async () => {
    await using temp = await tempContext();
    const sessions: readonly (readonly [id: string, parent?: string])[] = [
      ["0199c2d4-5e6f-7a80"],
      ["0199c2d4-5e70-7a80"],
      ["short"],
      ["aaaaaaaa-1"],
      ["aaaaaaaa-1/agent-1", "aaaaaaaa-1"],
      ["aaaaaaaa-1/agent-1x", "aaaaaaaa-1"],
      ["bbbbbbbbb"],
      ["bbbbbbbbb@f7f1"],
      ["bbbbbbbbb@f7f1/agent-2", "bbbbbbbbb@f7f1"],
    ];
    for (const [id, parent] of sessions)
      await temp.ingest(
        story(id, parent === undefined ? {} : { parent })
          .user(id)
          .events(),
      );
    const ids = sessions.map(([id]) => id);
    const short = await shortIds(temp.context, ids);
    expect([...short.values()]).toEqual([
      "0199c2d4-5e6",
      "0199c2d4-5e7",
      "short",
      "aaaaaaaa",
      "aaaaaaaa-1/agent-1",
      "aaaaaaaa-1/agent-1x",
      "bbbbbbbbb",
      "bbbbbbbbb@",
      "bbbbbbbbb@f7f1/",
    ]);
    for (const id of ids) expect(await resolveSession(temp.context, short.get(id) ?? "")).toBe(id);
    // Whatever else is on the page.
    for (const id of ids)
      for (const other of ids) {
        const page = [...new Set([id, other])];
        const alone = await shortIds(temp.context, page);
        expect([...alone]).toEqual(page.map((each) => [each, short.get(each)]));
      }
  });
});
