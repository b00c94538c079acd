import { describe, expect, test } from "vitest";
import { story, textPart } from "../../../../test/support/story.ts";
import type { Story } from "../../../../test/support/story.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { replay } from "../../../model/events/index.ts";
import type { ContextRule } from "./context.ts";
import { keptBehind, lastCompaction } from "./context.ts";
import type { HandedTokens } from "./tokens.ts";
import { tokensOf } from "./tokens.ts";

const sizeOf = (
  told: Story,
  fidelity: "native" | "foreign" = "foreign",
  context?: ContextRule,
): HandedTokens => tokensOf(replay(told.events())[0]!, { fidelity, context });

/** 36 bytes are ten tokens. */
const TEN = "x".repeat(36);

test("texts, calls, results and pictures count; reasoning does not", () => {
  expect(sizeOf(story("s").user(TEN).assistant(TEN)).estimated).toBe(20);
  expect(sizeOf(story("s").user("\u5730".repeat(12))).estimated).toBe(10);
  const thought = { type: "reasoning" as const, text: TEN };
  expect(sizeOf(story("s").user(TEN).message("assistant", [thought])).estimated).toBe(10);
  // `Bash{"c":"..."}`
  expect(sizeOf(story("s").call("Bash", { c: "x".repeat(24) })).estimated).toBe(10);
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
  expect(sizeOf(story("s").result("Read", [{ type: "text", text: TEN }, picture])).estimated).toBe(1510);
});

test("notes that each client writes for its own model count where that client sends them again", () => {
  const note = { ...textPart(TEN, "injected"), options: { pond: { injected: "reminder" } } };
  const told = story("s").message("user", [textPart(TEN), note]);
  expect([sizeOf(told).estimated, sizeOf(told, "native").estimated]).toEqual([10, 20]);
});

describe("after a compaction", () => {
  const used = (total_tokens: number): JsonObject => ({
    source: { record: { payload: { info: { last_token_usage: { total_tokens } } } } },
  });
  const summary = { ...textPart(TEN, "injected"), options: { pond: { injected: "compaction-summary" } } };
  const compacted = (): Story =>
    story("s")
      .user("y".repeat(36_000))
      .assistant(TEN, { options: used(10_000) })
      .message("user", [summary], { pond: { compaction: "summary" } });
  const keepsAnswer: ContextRule = (messages) =>
    keptBehind(messages, lastCompaction(messages), ({ message }) => message.role === "assistant");

  test("the summary counts, what was kept and what came after, and what was recorded since", () => {
    expect(sizeOf(compacted(), "foreign", keepsAnswer)).toEqual({ estimated: 20 });
    const continued = compacted().assistant(TEN, { options: used(30) });
    expect(sizeOf(continued, "foreign", keepsAnswer)).toEqual({ estimated: 30, recorded: 30 });
  });

  test("that nobody can read, all turns count", () => {
    const sealed: ContextRule = (messages) => ({ messages, isSealed: true });
    expect(sizeOf(compacted(), "foreign", sealed)).toMatchObject({ estimated: 10_020, is_sealed: true });
    // Its own provider can.
    const boundary = story("s")
      .user("y".repeat(36_000))
      .carrier({ pond: { compaction: "boundary" } })
      .user(TEN);
    expect(sizeOf(boundary, "foreign", sealed)).toEqual({ estimated: 10_010, is_sealed: true });
    expect(sizeOf(boundary, "native", sealed)).toEqual({ estimated: 10 });
  });
});

test.each<[string, JsonObject]>([
  [
    "Claude Code",
    {
      anthropic: {
        usage: {
          input_tokens: 1,
          cache_read_input_tokens: 20,
          cache_creation_input_tokens: 300,
          output_tokens: 4000,
        },
      },
    },
  ],
  ["Codex", { source: { record: { payload: { info: { last_token_usage: { total_tokens: 4321 } } } } } }],
  [
    "opencode",
    { source: { record: { tokens: { input: 1, output: 20, cache: { read: 300, write: 4000 } } } } },
  ],
  [
    "pi",
    {
      source: { record: { message: { usage: { input: 1, output: 20, cacheRead: 300, cacheWrite: 4000 } } } },
    },
  ],
])("what %s recorded of the last response is reported", (_, options) => {
  const told = story("s").user("a").assistant("b", { options }).user("c");
  expect(sizeOf(told).recorded).toBe(4321);
});
