/**
 * A response of Claude Code's model is written a block a record. Where a record of progress stands between two of its calls, what
 * follows the first result passes the second call by: both were made, and `get` shows both (spec.md#model-branches).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sync } from "../../src/handlers/index.ts";
import { getSession } from "../support/get-answers.ts";
import { tempContext } from "../support/temp-context.ts";

const ID = "aaaaaaaa-1111-4111-8111-111111111111";

const call = (id: string): object => ({
  type: "tool_use",
  id,
  name: "Bash",
  input: { command: `cat ${id}` },
});

/** The records of captured logs (2.1.x), their content aside: type, id, parent, content, response. */
const RECORDS: readonly (readonly [string, string, string | null, unknown, string?])[] = [
  ["user", "ask", null, "Look at both."],
  ["assistant", "said", "ask", [{ type: "text", text: "I do." }], "msg_1"],
  ["assistant", "call-a", "said", [call("toolu_a")], "msg_1"],
  ["progress", "progress-a", "call-a", undefined],
  ["assistant", "call-b", "progress-a", [call("toolu_b")], "msg_1"],
  ["progress", "progress-b", "call-b", undefined],
  ["user", "result-b", "call-b", [{ type: "tool_result", tool_use_id: "toolu_b", content: "second" }]],
  ["user", "result-a", "call-a", [{ type: "tool_result", tool_use_id: "toolu_a", content: "first" }]],
  ["assistant", "answer", "result-a", [{ type: "text", text: "Both are fine." }], "msg_2"],
];

test("get shows the calls and results of a response that progress records parted", async () => {
  await using temp = await tempContext();
  const path = join(temp.home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const lines = RECORDS.map(([type, uuid, parentUuid, content, id], at) => {
    const common = { type, uuid, parentUuid, sessionId: ID, cwd: "/srv/app", version: "2.1.50" };
    const timestamp = new Date(Date.UTC(2026, 4, 1, 10, 0, at)).toISOString();
    const response = id === undefined ? {} : { id, type: "message", model: "opus" };
    const said =
      type === "progress"
        ? { data: { type: "bash_progress", elapsedTimeSeconds: 3 }, toolUseID: "bash-progress-0" }
        : { message: { role: type, ...response, content } };
    return `${JSON.stringify({ ...common, isSidechain: false, ...said, timestamp })}\n`;
  });
  writeFileSync(path, lines.join(""));
  await sync(temp.context, {});
  const { messages, hidden } = await getSession(temp.context, { session_id: ID, response_mode: "complete" });
  const turns = RECORDS.filter(([type]) => type !== "progress").map(([, uuid]) => uuid);
  expect(messages.map(({ id }) => id).filter((id) => !id.startsWith("progress"))).toEqual(turns);
  expect(hidden).toBe(2);
});
