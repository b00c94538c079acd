import { describe, expect, test } from "vitest";
import { story } from "../../test/support/story.ts";
import { tempContext, type TempContext } from "../../test/support/temp-context.ts";
import { sessionsResponseSchema } from "../wire/schema.ts";
import type { SessionsRequest, SessionsResponse } from "../wire/index.ts";
import { listSessions, resolveTarget } from "./index.ts";

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
});
