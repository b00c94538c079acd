/** Names of Qwen Code's files. */
import { expect, test } from "vitest";
import { isFileName, subagentAt } from "./layout.ts";

test.each([
  ["-srv-app/subagents/s1/agent-a.jsonl", "agent-a"],
  ["-srv-app/subagents/s1/deep/agent-z.jsonl", "deep/agent-z"],
  ["subagents/s1/agent-a.jsonl", "agent-a"],
  ["-srv-app/subagents/agent-top.jsonl", "agent-top"],
  ["-srv-app/chats/s1.jsonl", undefined],
])("%s is the log of a subagent by the name %s", (key, name) => {
  expect(subagentAt(key)?.name).toBe(name);
});

test("an id that would leave its folder or is too long names no file", () => {
  expect(["0193a000-0000", "a.b"].filter(isFileName)).toEqual(["0193a000-0000", "a.b"]);
  expect(["a/b", "/abs", "..", "", "x".repeat(300)].filter(isFileName)).toEqual([]);
});
