import { describe, expect, test } from "vitest";
import { partAuthor } from "./index.ts";
import type { Part } from "../index.ts";

const MAIN = "claude-code";
const CHILD = "claude-code/explorer";

function author(
  provenance: Part["provenance"],
  at: { role: "user" | "assistant" | "tool" | "system"; source_agent?: string },
  options: Part["options"] = {},
) {
  return partAuthor({ provenance, options }, { source_agent: MAIN, ...at });
}

describe("who wrote a part", () => {
  test("is a person for what stands in the user's slot of a session that a person leads", () => {
    expect(author("conversational", { role: "user" })).toBe("person");
  });

  test("is a model for the prompts of its subagents, and for what it answers anywhere", () => {
    expect(author("conversational", { role: "user", source_agent: CHILD })).toBe("model");
    expect(author("conversational", { role: "assistant" })).toBe("model");
    expect(author("conversational", { role: "assistant", source_agent: CHILD })).toBe("model");
  });

  test("is the harness for what is injected, whoever's slot it stands in", () => {
    for (const role of ["user", "assistant", "tool", "system"] as const)
      expect(author("injected", { role, source_agent: CHILD })).toBe("harness");
  });

  test("is what the part itself says, where it says it", () => {
    const says = (value: string) => ({ pond: { author: value } });
    expect(author("conversational", { role: "user" }, says("model"))).toBe("model");
    expect(author("conversational", { role: "user", source_agent: CHILD }, says("person"))).toBe("person");
    expect(author("injected", { role: "user" }, says("model"))).toBe("model");
    expect(author("injected", { role: "assistant" }, says("person"))).toBe("person");
    expect(author("conversational", { role: "assistant" }, says("harness"))).toBe("harness");
  });

  test("is not told where a program handed it in, and for what nobody writes", () => {
    expect(author("conversational", { role: "user" }, { pond: { author: "unknown" } })).toBeUndefined();
    expect(author("conversational", { role: "tool" })).toBeUndefined();
  });

  test("does not hang on values that pond never wrote", () => {
    for (const value of [null, 7, "robot", { person: true }])
      expect(author("conversational", { role: "user" }, { pond: { author: value } })).toBe("person");
  });
});
