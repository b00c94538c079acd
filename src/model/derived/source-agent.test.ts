import { expect, test } from "vitest";
import { brandOf, isOfAgent, isSubagent, subagentLabel, subagentOf } from "./index.ts";

test.each([
  ["claude-code", "claude-code", undefined],
  ["claude-code/explorer", "claude-code", "explorer"],
  ["codex-cli/review/deep", "codex-cli", "review/deep"],
])("%s is of brand %s and agent %s", (label, brand, agent) => {
  expect([brandOf(label), subagentOf(label), isSubagent(label)]).toEqual([brand, agent, agent !== undefined]);
  if (agent !== undefined) expect(subagentLabel(brand, agent)).toBe(label);
});

test("a filter by a client lets its agents in, and no client whose name only begins alike", () => {
  expect(["pi", "pi/a", "pi/a/b", "pine", "pine/a"].filter((label) => isOfAgent(label, "pi"))).toEqual([
    "pi",
    "pi/a",
    "pi/a/b",
  ]);
  expect(["pi", "pi/a", "pi/ab"].filter((label) => isOfAgent(label, "pi/a"))).toEqual(["pi/a"]);
});
