/** What the model of each client still had after a compaction, by what its records say (spec.md#adapter-restore-context). */
import { expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { replay } from "../model/index.ts";
import type { MessageWithParts } from "../model/index.ts";
import { story, textPart } from "../../test/support/story.ts";
import type { Story } from "../../test/support/story.ts";
import { contextOf as claudeCode } from "./claude-code/context.ts";
import { contextOf as codex } from "./codex-cli/context.ts";
import { contextOf as opencode } from "./opencode/context.ts";
import { contextOf as pi } from "./pi/context.ts";

const summaryPart = (text: string) => ({
  ...textPart(text, "injected"),
  options: { pond: { injected: "compaction-summary" } },
});

const messagesOf = (told: Story): readonly MessageWithParts[] => replay(told.events())[0]!.messages;

const textsOf = (messages: readonly MessageWithParts[]): readonly string[] =>
  messages.map(({ parts }) =>
    parts.map((part) => (part.type === "text" ? (part.text ?? "") : part.type)).join("+"),
  );

/** Four turns, a compaction whose record says this, and one turn more. */
function compacted(record: JsonObject, summary = "in short"): readonly MessageWithParts[] {
  return messagesOf(
    story("s")
      .user("one")
      .assistant("two")
      .user("three")
      .assistant("four")
      .message("user", [summaryPart(summary)], {
        options: { source: { record } },
        pond: { compaction: "summary" },
      })
      .user("five"),
  );
}

test.each<[string, JsonObject, readonly string[]]>([
  ["by the id of an entry", { firstKeptEntryId: "s-2" }, ["one", "two", "in short", "three", "four", "five"]],
  ["by its number", { firstKeptEntryIndex: 3 }, ["one", "two", "three", "in short", "four", "five"]],
  ["by a list", { retainedTail: ["s-1"] }, ["one", "three", "four", "in short", "two", "five"]],
  ["none", { firstKeptEntryId: "gone" }, ["one", "two", "three", "four", "in short", "five"]],
])("pi keeps entries %s", (_, record, expected) => {
  expect(textsOf(pi(compacted(record)).messages)).toEqual(expected);
});

test.each<[string, JsonObject]>([
  ["by a list", { preservedMessages: { uuids: ["s-2", "s-3"] } }],
  ["by first and last", { preservedSegment: { headUuid: "s-2", tailUuid: "s-3" } }],
])("Claude Code preserves messages %s", (_, compactMetadata) => {
  const messages = messagesOf(
    story("s")
      .user("one")
      .assistant("two")
      .user("three")
      .assistant("four")
      .carrier({ options: { source: { record: { compactMetadata } } }, pond: { compaction: "boundary" } })
      .message("user", [summaryPart("in short")], { pond: { compaction: "summary" } })
      .user("five"),
  );
  expect(textsOf(claudeCode(messages).messages)).toEqual([
    "one",
    "two",
    "",
    "in short",
    "three",
    "four",
    "five",
  ]);
});

test("opencode keeps the tail that the prompt for a compaction names", () => {
  const ask = {
    ...textPart("", "injected"),
    options: { source: { record: { type: "compaction", tail_start_id: "s-2" } } },
  };
  const messages = messagesOf(
    story("s")
      .user("one")
      .assistant("two")
      .user("three")
      .assistant("four")
      .message("user", [ask])
      .message("assistant", [summaryPart("in short")])
      .user("five"),
  );
  expect(textsOf(opencode(messages).messages)).toEqual([
    "one",
    "two",
    "",
    "in short",
    "three",
    "four",
    "five",
  ]);
});

const item = (role: string, text: string): JsonObject => ({
  type: "message",
  role,
  content: [{ type: "input_text", text }],
});

test("Codex keeps what its compaction put in the place of the history, and the summary may be among it", () => {
  const text = "Another language model started to solve this problem and produced a summary of it: in short";
  const replacement_history = [
    item("user", "one"),
    item("developer", "rules"),
    item("user", "three"),
    item("user", text),
  ];
  const messages = messagesOf(
    story("s")
      .user("one")
      .assistant("two")
      .user("three")
      .assistant("four")
      .carrier({
        options: { source: { record: { payload: { replacement_history } } } },
        pond: { compaction: "boundary" },
      })
      .user("five"),
  );
  expect(textsOf(codex(messages).messages)).toEqual(["two", "four", text, "one", "three", "five"]);
});

test("a summary that Codex's provider encrypted is sealed: everything is handed over", () => {
  const replacement_history = [item("user", "one"), { type: "compaction", encrypted_content: "x" }];
  const messages = messagesOf(
    story("s")
      .user("one")
      .assistant("two")
      .carrier({
        options: { source: { record: { payload: { replacement_history } } } },
        pond: { compaction: "boundary" },
      })
      .user("five"),
  );
  expect(codex(messages)).toEqual({ messages, isSealed: true });
});

test.each([claudeCode, codex, opencode, pi])(
  "a session that was never compacted is all that its model had",
  (contextOf) => {
    const messages = messagesOf(story("s").user("one").assistant("two"));
    expect(contextOf(messages)).toEqual({ messages });
  },
);
