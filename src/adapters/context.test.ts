/** What the model of each client still had after a compaction, by what its records say (spec.md#adapter-restore-context). */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../base/json/json.ts";
import { replay } from "../model/events/index.ts";
import type { MessageWithParts } from "../model/events/index.ts";
import { story, textPart } from "../../test/support/story.ts";
import type { Story } from "../../test/support/story.ts";
import { contextOf as claudeCode } from "./claude-code/restore/context.ts";
import { contextOf as codex } from "./codex-cli/restore/context.ts";
import { contextOf as opencode } from "./opencode/restore/context.ts";
import { contextOf as pi } from "./pi/restore/context.ts";
import { countSystem, historyOf, injectedKind, LossReport } from "./kit/foreign/index.ts";

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

test("Claude Code's turns follow what was preserved, and the summary comes before it all the same", () => {
  const compactMetadata = { preservedMessages: { uuids: ["s-1"] } };
  const log = messagesOf(
    story("s")
      .user("one", { pond: { parent: null } })
      .assistant("two", { pond: { parent: "s-0" } })
      .carrier({
        options: { source: { record: { compactMetadata } } },
        pond: { parent: null, compaction: "boundary" },
      })
      .message("user", [summaryPart("in short")], { pond: { parent: "s-2", compaction: "summary" } })
      .user("three", { pond: { parent: "s-1" } }),
  );
  const active = [0, 1, 4].map((index) => log[index]!);
  const context = claudeCode(active, log);
  expect(textsOf(context.messages)).toEqual(["one", "in short", "two", "three"]);
  expect(textsOf(context.past ?? [])).toEqual(["one"]);
  // A branch that left before the compaction never had the summary.
  expect(textsOf(claudeCode(active.slice(0, 2), log).messages)).toEqual(["one", "two"]);
});

test("what Claude Code noted for its model in records of their own are turns that nobody typed", () => {
  const noted = (attachment: JsonObject): readonly (readonly [string | undefined, unknown])[] => {
    const options = { source: { record: { type: "attachment", attachment } } };
    const { messages } = claudeCode(messagesOf(story("s").carrier({ options })));
    return messages.flatMap(({ message, parts }) =>
      parts.map((part) => {
        expect([message.role, part.provenance]).toEqual(["user", "injected"]);
        return [part.type === "text" ? part.text : undefined, injectedKind(part)] as const;
      }),
    );
  };
  expect(noted({ type: "hook_additional_context", content: ["be brief"] })).toEqual([["be brief", "hook"]]);
  expect(
    noted({ type: "queued_command", commandMode: "task-notification", prompt: "<task-notification>roses" }),
  ).toEqual([["<task-notification>roses", "task-notification"]]);
  const file = { filePath: "/a.txt", content: "roses" };
  expect(noted({ type: "file", filename: "/a.txt", content: { type: "text", file } })).toEqual([
    ["/a.txt", "file"],
    ["roses", "file"],
  ]);
  expect(noted({ type: "task_reminder", content: [] }).map(([, kind]) => kind)).toEqual(["reminder"]);
  const printed = (hookEvent: string) => ({ type: "hook_success", hookEvent, content: "started" });
  expect([noted(printed("SessionStart")), noted(printed("Stop"))]).toEqual([[["started", "hook"]], []]);
  expect(noted({ type: "hook_system_message", content: "shown to people only" })).toEqual([]);
  const selected = { type: "selected_lines_in_ide", filename: "/a.ts", content: "const roses = 1;" };
  expect(noted(selected)).toEqual([
    ["/a.ts", "ide"],
    ["const roses = 1;", "ide"],
  ]);
  expect(noted({ ...selected, ideName: "an editor", lineStart: 3, lineEnd: 4 })).toEqual([
    ["/a.ts", "ide"],
    ['{"lineStart":3,"lineEnd":4}', "ide"],
    ["const roses = 1;", "ide"],
  ]);
  const cells = [{ source: "print(1)" }, { source: "print(2)" }];
  expect(
    noted({ type: "file", filename: "/a.ipynb", content: { type: "notebook", file: { cells } } }),
  ).toEqual([
    ["/a.ipynb", "file"],
    ["print(1)", "file"],
    ["print(2)", "file"],
  ]);
  const contents = [{ uri: "r://roses", text: "red" }];
  expect(noted({ type: "mcp_resource", uri: "r://roses", content: { contents } })).toEqual([["red", "file"]]);
  const hookSpecificOutput = { additionalContext: "late advice" };
  expect(noted({ type: "async_hook_response", response: { hookSpecificOutput } })).toEqual([
    ["late advice", "hook"],
  ]);
  expect(noted({ type: "budget_usd", used: 1 }).map(([, kind]) => kind)).toEqual(["reminder"]);
});

test("a picture that was named in a prompt of Claude Code is handed over as one, with its name", () => {
  const file = { base64: "AAAA", type: "image/png", originalSize: 3 };
  const attachment = { type: "file", filename: "/a.png", content: { type: "image", file } };
  const options = { source: { record: { type: "attachment", attachment } } };
  const { messages } = claudeCode(messagesOf(story("s").carrier({ options })));
  expect(messages[0]!.parts).toMatchObject([
    { type: "text", text: "/a.png", provenance: "injected" },
    {
      type: "file",
      media_type: "image/png",
      data: { kind: "string", value: "AAAA" },
      provenance: "injected",
    },
  ]);
});

test("a response of Claude Code is whole, also where the way passes one of its calls by", () => {
  const log = messagesOf(
    story("s")
      .user("one", { pond: { parent: null } })
      .call("Bash", {}, { call: "a", pond: { parent: "s-0", turn: "r" } })
      .carrier({ pond: { parent: "s-1" } })
      .call("Bash", {}, { call: "b", pond: { parent: "s-2", turn: "r" } })
      .result("Bash", "of b", { call: "b", pond: { parent: "s-3" } })
      .result("Bash", "of a", { call: "a", pond: { parent: "s-1" } })
      .assistant("done", { pond: { parent: "s-5", turn: "later" } })
      .assistant("left", { pond: { parent: "s-0", turn: "another" } })
      .user("two", { pond: { parent: "s-6" } }),
  );
  const state = { session: replay(story("s").events())[0]!.session, messages: log };
  const losses = new LossReport();
  const calls = historyOf(state, { losses, context: claudeCode }).messages.flatMap(({ parts }) =>
    parts.map((part) => ("call_id" in part ? `${part.type} ${part.call_id}` : part.type)),
  );
  expect(calls).toEqual([
    "text",
    "tool_call a",
    "tool_call b",
    "tool_result b",
    "tool_result a",
    "text",
    "text",
  ]);
  // Another response that was left stays so.
  expect(losses.list()).toMatchObject([{ what: "turn of another branch", count: 1 }]);
});

describe("thoughts that no request has again", () => {
  const thought = (text: string, options: JsonObject = {}) => ({ type: "reasoning" as const, text, options });
  const unsentOf = ({ unsent = [] }: ReturnType<typeof pi>): readonly (string | undefined)[] =>
    unsent.map((part) => (part.type === "reasoning" ? part.text : part.type));

  test("Claude Code leaves out those of a former model", () => {
    const by = (model: string) => ({ options: { anthropic: { model } } });
    const messages = messagesOf(
      story("s")
        .message("assistant", [thought("former")], by("one"))
        .message("assistant", [thought("own")], by("two"))
        .assistant("API Error", by("<synthetic>")),
    );
    expect(unsentOf(claudeCode(messages))).toEqual(["former"]);
  });

  test("pi leaves out what has no text and no seal of its model", () => {
    const by = (model: string) => ({
      options: { source: { record: { message: { provider: "p", model } } } },
    });
    const block = (fields: JsonObject) => ({ source: { block: fields } });
    const sealed = block({ redacted: true, thinkingSignature: "x" });
    const messages = messagesOf(
      story("s")
        .message("assistant", [thought("former"), thought("former seal", sealed)], by("one"))
        .message("assistant", [thought("seal", sealed), thought("said"), thought("")], by("two")),
    );
    expect(unsentOf(pi(messages))).toEqual(["former seal", ""]);
  });

  test("opencode leaves out what has no seal where its provider wants one, and seals of another model", () => {
    const by = (provider: string, model: string) => ({ options: { [provider]: { model } } });
    const sealed = { source: { record: { metadata: { anthropic: { signature: "x" } } } } };
    const told = (provider: string) =>
      messagesOf(
        story("s")
          .message("assistant", [thought("former", sealed), thought("", sealed)], by(provider, "one"))
          .message("assistant", [thought("sealed", sealed), thought("open")], by(provider, "two")),
      );
    expect(unsentOf(opencode(told("anthropic")))).toEqual(["", "open"]);
    expect(unsentOf(opencode(told("elsewhere")))).toEqual([""]);
    // Copilot looks for its own; former versions wrote that of OpenAI.
    expect(unsentOf(opencode(told("github-copilot")))).toEqual(["", "sealed", "open"]);
  });

  test("they are lost to the record alone, and the pieces of one count once", () => {
    const messages = messagesOf(
      story("s")
        .message("assistant", [thought("a"), thought("b")])
        .message("assistant", [thought("c")]),
    );
    const [first, second, third] = messages.flatMap(({ parts }) => parts);
    expect(codex(messages).pieces).toEqual([second]);
    const losses = new LossReport();
    losses.setThoughts({ unsent: [third!], pieces: [second!] });
    for (const part of [first, second, third]) losses.add("reasoning", "sealed", part);
    expect(losses.list()).toEqual([
      { what: "reasoning", why: "sealed", affects: "model", count: 1 },
      {
        what: "reasoning",
        why: "its own client does not send it again",
        affects: "record",
        count: 1,
      },
    ]);
    expect(losses.takeParts().parts.size).toBe(3);
  });
});

test("Claude Code does not send that a request failed", () => {
  const failed = { source: { record: { isApiErrorMessage: true } } };
  const messages = messagesOf(
    story("s").user("one").assistant("API Error: 400", { options: failed }).user("two"),
  );
  const context = claudeCode(messages);
  expect([textsOf(context.messages), textsOf(context.brokenOff ?? [])]).toEqual([
    ["one", "two"],
    ["API Error: 400"],
  ]);
});

test("pi does not send an answer again that broke off", () => {
  const stopped = { source: { record: { message: { stopReason: "aborted" } } } };
  const messages = messagesOf(
    story("s").user("one").assistant("half an", { options: stopped }).user("two").assistant("three"),
  );
  const context = pi(messages);
  expect(textsOf(context.messages)).toEqual(["one", "two", "three"]);
  expect(textsOf(context.brokenOff ?? [])).toEqual(["half an"]);
});

test("what pi's model is told of a command that a person ran goes along, and nothing of one that it was not shown", () => {
  const ran = (fields: JsonObject) => ({
    options: { source: { record: { message: { role: "bashExecution", ...fields } } } },
  });
  const output = { ...textPart("out", "injected"), options: { pond: { injected: "shell" } } };
  const messages = messagesOf(
    story("s")
      .message("user", [output], ran({ exitCode: 0, cancelled: false, truncated: false }))
      .message("user", [output], ran({ exitCode: 1, truncated: true, fullOutputPath: "/tmp/all.log" }))
      .message("user", [output], ran({ exitCode: 0, cancelled: true, excludeFromContext: false }))
      .message("user", [output], ran({ exitCode: 0, excludeFromContext: true })),
  );
  const context = pi(messages);
  expect(textsOf(context.messages)).toEqual([
    "out",
    'out+{"exitCode":1,"fullOutputPath":"/tmp/all.log"}',
    'out+{"cancelled":true}',
  ]);
  expect(context.shownOnly).toEqual([messages[3]]);
  const losses = new LossReport();
  const state = { session: replay(story("s").events())[0]!.session, messages };
  historyOf(state, { losses, context: pi });
  expect(losses.list()).toMatchObject([
    { what: "text kept from the model", why: "its own client shows it, but does not send it", count: 1 },
  ]);
});

test("a failure that the model was told of in the text alone is one to the record", () => {
  const failed = {
    type: "tool_result" as const,
    provenance: "injected" as const,
    call_id: "c",
    is_failure: true,
    options: { source: { record: { status: "error" } } },
  };
  const told = (options: JsonObject) =>
    messagesOf(story("s").message("tool", [failed]).assistant("done", { options }));
  const ofPi = (api: string) =>
    pi(told({ source: { record: { message: { provider: "p", model: "m", api } } } }));
  expect(ofPi("openai-responses").unflagged).toHaveLength(1);
  expect(ofPi("anthropic-messages").unflagged).toBeUndefined();
  expect(opencode(told({ openai: { model: "m" } })).unflagged).toHaveLength(1);
  expect(opencode(told({ anthropic: { model: "m" } })).unflagged).toBeUndefined();
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

test("failures that no flag told the model of are lost to the record alone", () => {
  const state = (record: JsonObject) => [
    {
      type: "tool_result" as const,
      provenance: "injected" as const,
      call_id: "c",
      is_failure: true,
      options: { source: { record } },
    },
  ];
  const messages = messagesOf(
    story("s")
      .message("tool", state({ status: "error" }))
      .message("tool", state({ metadata: { exit: 1 } }))
      .message("tool", state({ status: "error", metadata: { exit: 1 } })),
  );
  const [flagged, silent] = messages.map(({ parts }) => parts[0]!);
  expect(opencode(messages).unflagged).toEqual([silent]);
  expect(codex(messages).unflagged).toHaveLength(3);
  expect([pi(messages).unflagged, claudeCode(messages).unflagged]).toEqual([undefined, undefined]);
  const losses = new LossReport();
  losses.setUnflagged([silent!]);
  losses.addFailure("no flag", flagged!);
  losses.addFailure("no flag", silent!);
  expect(losses.list()).toEqual([
    { what: "failure of a tool", why: "no flag", affects: "model", count: 1 },
    {
      what: "failure of a tool",
      why: "no flag; its own model did not know either",
      affects: "record",
      count: 1,
    },
  ]);
  expect(losses.takeParts().failures.size).toBe(2);
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

test("what Codex told its model in the developer's name is an instruction, unless a compaction dropped it", () => {
  const rules = (content: string) => ({ content });
  const messages = messagesOf(
    story("s")
      .carrier({})
      .message("system", [], rules("<permissions instructions>"))
      .user("one")
      .message("system", [], rules("<app-context>")),
  );
  const context = codex(messages);
  expect(context.instructions?.map(({ message }) => "content" in message && message.content)).toEqual([
    "<permissions instructions>",
    "<app-context>",
  ]);
  expect(textsOf(context.messages)).toEqual(["", "one"]);
  const later = messagesOf(
    story("s")
      .message("system", [], rules("dropped"))
      .message("system", [], rules("kept"))
      .user("one")
      .message("user", [summaryPart("in short")], {
        options: { source: { record: { payload: { replacement_history: [item("developer", "kept")] } } } },
        pond: { compaction: "summary" },
      })
      .message("system", [], rules("after")),
  );
  const losses = new LossReport();
  const state = { session: replay(story("s").events())[0]!.session, messages: later };
  const history = historyOf(state, { losses, context: codex });
  expect(losses.list()).toMatchObject([{ what: "instructions from its client", affects: "model", count: 2 }]);
  for (const { message } of history.messages) if (message.role === "system") countSystem(message, losses);
  expect(losses.list()).toMatchObject([
    { count: 2 },
    { what: "system message", affects: "record", count: 1 },
  ]);
});

test("what Codex's model said without showing it was sent again, unless a summary stands for it", () => {
  const unshown = (text: string) => ({
    ...textPart(text, "injected"),
    options: { pond: { injected: "unshown" } },
  });
  const told = messagesOf(
    story("s")
      .user("one")
      .message("assistant", [unshown("dropped")])
      .message("user", [summaryPart("in short")], { pond: { compaction: "summary" } })
      .message("assistant", [unshown("kept")]),
  );
  const kinds = codex(told).messages.map(({ parts }) => parts.map(injectedKind));
  expect(kinds).toEqual([[undefined], ["unshown"], ["compaction-summary"], [undefined]]);
});

test("of Claude Code's system records only what a local command printed was sent to the model", () => {
  const record = (subtype: string) => ({ options: { source: { record: { type: "system", subtype } } } });
  const told = messagesOf(
    story("s")
      .user("one")
      .message("system", [], { ...record("local_command"), content: "<local-command-stdout>roses" })
      .message("system", [], { ...record("informational"), content: "shown to people only" }),
  );
  const { messages, instructions } = claudeCode(told);
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "user", "system"]);
  expect(textsOf(messages).slice(0, 2)).toEqual(["one", "<local-command-stdout>roses"]);
  expect(injectedKind(messages[1]!.parts[0]!)).toBe("command");
  expect(instructions).toBeUndefined();
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
  expect(codex(messages)).toEqual({ messages, isSealed: true, past: messages.slice(1, 2) });
});

test.each([claudeCode, codex, opencode, pi])(
  "a session that was never compacted is all that its model had",
  (contextOf) => {
    const messages = messagesOf(story("s").user("one").assistant("two"));
    expect(contextOf(messages)).toEqual({ messages });
  },
);
