/** What is left out of a comparison of requests is the client's own, and nothing that somebody said. */
import { expect, test } from "vitest";
import { compareRequests } from "./compare-requests.ts";
import { isOwn } from "./frames.ts";
import type { Sent } from "./requests.ts";

const text = (role: string, said: string) => ({ kind: "text", role, text: said }) as const;

test.each([
  ["user", "# Environment\nmust stay as it is", false],
  ["system", "# Environment\nYou have been invoked", true],
  ["user", "You are a coding agent: be brief", false],
  ["user", "Available agent types for the Agent tool:\nwhich do you want?", false],
  ["user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>", true],
  ["user", "<environment_context>\n</environment_context>\nand a question", false],
  ["user", "# AGENTS.md instructions for /w\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", true],
  ["user", "# AGENTS.md instructions are too long", false],
  ["developer", "<permissions instructions>\nx\n</permissions instructions>", true],
  ["user", "<permissions instructions>\nx\n</permissions instructions>", false],
  ["developer", "<app-context>\nx\n</app-context>", false],
  [
    "user",
    "<system-reminder>\nAs you answer the user's questions, you can use the following context:\nx\n</system-reminder>\n",
    true,
  ],
  [
    "user",
    "<system-reminder>\nAs you answer the user's questions, you can use the following context:\nx\n</system-reminder>\nA question",
    false,
  ],
])("of a %s, %j is the client's own: %s", (role, said, isIts) => {
  expect(isOwn(text(role, said))).toBe(isIts);
});

test("what a frame names is missed where it is missing", () => {
  const missing = (said: string, other: string): readonly Sent[] =>
    compareRequests([text("user", said)], [text("user", other)]).missing;
  expect(missing("Ran `rm roses`\n```\ngone\n```", "rm roses\ngone")).toEqual([]);
  expect(missing("Ran `rm roses`\n```\ngone\n```", "gone")).toHaveLength(1);
  const read = 'Called the Read tool with the following input: {"file_path":"/w/a.txt"}';
  expect([missing(read, "/w/a.txt"), missing(read, "else").length]).toEqual([[], 1]);
  expect(missing("aborted", "else")).toHaveLength(1);
});

test("a line of a result is no frame, and only a whole result is a stand-in", () => {
  const result = (said: string) => ({ kind: "result", id: "c", text: said, failed: false }) as const;
  const isFound = (one: string, other: string): boolean =>
    compareRequests([result(one)], [result(other)]).missing.length === 0;
  expect(isFound("aborted", "No result was recorded.")).toBe(true);
  expect(isFound("one\naborted", "one")).toBe(false);
  expect(isFound("```\none", "one")).toBe(false);
});
