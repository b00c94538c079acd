import { describe, expect, test } from "vitest";
import { foreignSession } from "../../../../test/clients/foreign-session.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import { sessionId } from "../../../model/index.ts";
import type { Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { isUuid } from "../../../base/text.ts";
import { serialize } from "./restore.ts";

const OPTIONS: SerializeOptions = { fidelity: "foreign", layout: "client", mapPath: (path) => path, now: 0 };
const state = foreignSession("/srv/demo.app");

function recordsOf(restored: Restored, index = 0): JsonObject[] {
  const file = restored.files[index];
  return file?.kind === "jsonl" ? (file.records as JsonObject[]) : [];
}

const contentsOf = (records: readonly JsonObject[]): unknown[] =>
  records.map(({ message }) => (message as JsonObject | undefined)?.["content"]);

describe("foreign restore", () => {
  const restored = serialize({ state, children: [] }, OPTIONS);
  const turns = recordsOf(restored).filter(({ type }) => type !== "custom-title");

  test("names the session as the client does, in the folder of its directory", () => {
    expect(isUuid(restored.resume.id)).toBe(true);
    expect(restored.files.map(({ path }) => path)).toEqual([`-srv-demo-app/${restored.resume.id}.jsonl`]);
    expect(new Set(turns.map(({ sessionId: id }) => id))).toEqual(new Set([restored.resume.id]));
  });

  test("is the same however often it is made", () => {
    expect(serialize({ state, children: [] }, OPTIONS)).toEqual(restored);
  });

  test("is one chain of records with distinct ids and times that never go back", () => {
    const ids = turns.map(({ uuid }) => uuid);
    expect(turns.map(({ parentUuid }) => parentUuid)).toEqual([null, ...ids.slice(0, -1)]);
    expect(new Set(ids).size).toBe(turns.length);
    const times = turns.map(({ timestamp }) => timestamp as string);
    expect(times).toEqual(times.toSorted());
  });

  test("answers every call right after the response that made it", () => {
    expect(contentsOf(turns)).toEqual([
      [
        { type: "text", text: "Look at the dot and count the files" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: expect.any(String) } },
      ],
      [{ type: "text", text: "I look." }],
      [{ type: "tool_use", id: "call_1", name: "shell", input: { command: ["ls"] } }],
      [
        {
          type: "tool_use",
          id: expect.stringMatching(/^toolu_/),
          name: "apply_patch",
          input: { input: "*** Begin" },
        },
      ],
      [{ type: "tool_result", tool_use_id: "call_1", content: "a.txt b.txt" }],
      [
        {
          type: "tool_result",
          tool_use_id: expect.stringMatching(/^toolu_/),
          content: "no such file",
          is_error: true,
        },
      ],
      [{ type: "text", text: "Two files, and the patch failed." }],
      "Try again",
      [{ type: "tool_use", id: "call_3", name: "shell", input: { command: ["pwd"] } }],
      [{ type: "tool_result", tool_use_id: "call_3", content: "No result was recorded.", is_error: true }],
    ]);
  });

  test("keeps the title and says what it could not keep", () => {
    expect(recordsOf(restored).at(-1)).toMatchObject({
      type: "custom-title",
      customTitle: "A foreign title",
    });
    expect(restored.losses.map(({ what, count }) => [what, count])).toEqual([
      ["note from its client", 1],
      ["reasoning", 1],
      ["bookkeeping record", 1],
      ["unanswered tool call", 1],
    ]);
  });

  test("puts subagents of any depth into the session's folder, forks beside it", () => {
    const child = (id: string, relation: "spawn" | "fork", parent: string): SessionState => ({
      ...state,
      session: {
        ...state.session,
        id: sessionId(id),
        parent_session_id: sessionId(parent),
        relation,
        source_agent: "elsewhere/scout",
      },
    });
    const grandchild = { state: child("thread/3", "spawn", "thread/2"), children: [] };
    const lineage = {
      state,
      children: [
        { state: child("thread/2", "spawn", "thread/1"), children: [grandchild] },
        { state: child("thread/4", "fork", "thread/1"), children: [] },
      ],
    };
    const whole = serialize(lineage, OPTIONS);
    const { id } = whole.resume;
    expect(whole.files.map(({ path }) => path.replaceAll(/agent-a[0-9a-f]{16}/g, "agent-*"))).toEqual([
      `-srv-demo-app/${id}.jsonl`,
      `-srv-demo-app/${id}/subagents/agent-*.jsonl`,
      `-srv-demo-app/${id}/subagents/agent-*.meta.json`,
      `-srv-demo-app/${id}/subagents/agent-*.jsonl`,
      `-srv-demo-app/${id}/subagents/agent-*.meta.json`,
      expect.stringMatching(/^-srv-demo-app\/[0-9a-f-]{36}\.jsonl$/),
    ]);
    expect(whole.files[2]).toMatchObject({ value: { agentType: "scout" } });
    expect(recordsOf(whole, 1)[0]).toMatchObject({ isSidechain: true, sessionId: id });
    expect(new Set(whole.files.map(({ path }) => path)).size).toBe(6);
  });

  test("refuses a session without a turn", () => {
    const silent: SessionState = { ...state, messages: state.messages.slice(0, 1) };
    expect(() => serialize({ state: silent, children: [] }, OPTIONS)).toThrow(/no turn/);
  });
});
