/**
 * A table of shapes took blocks whose fields are in the block itself for whatever came first: a text became a tool call without
 * id, name and params, in a message of its own, and no issue said so.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPond } from "../../src/index.ts";
import type { BlockShape, RecordShapes } from "../../src/library/adapters.ts";
import { extractBoolean } from "../../src/library/adapters.ts";
import { loadTree, openJson, sessionId, stateOf } from "../../src/library/model.ts";
import { programAdapter, writeRecord } from "../support/program-adapter.ts";
import { tempDir } from "../support/temp-dir.ts";

const ROLES = { user: "user", assistant: "assistant", tool: "tool" } as const;

const turn: RecordShapes["turn"] = ({ type }) =>
  type === "user" || type === "assistant" || type === "tool"
    ? { role: ROLES[type], blocks: "/content" }
    : undefined;

const isA = (type: string) => (block: Readonly<Record<string, unknown>>) => block["type"] === type;

const FLAT: readonly BlockShape[] = [
  { part: "tool_call", id: "/use", name: "/tool", params: "/input" },
  {
    part: "tool_result",
    id: "/ref",
    name: "/tool",
    result: "/out",
    failure: (block) => extractBoolean(block, "bad"),
  },
  { part: "reasoning", text: "/s", when: isA("think") },
  { part: "text", text: "/s" },
];

const FLAT_RECORDS = [
  { type: "user", content: [{ type: "text", s: "Why is the teapot cold?" }] },
  {
    type: "assistant",
    content: [
      { type: "think", s: "hm" },
      { type: "text", s: "I look." },
      { type: "use", use: "u1", tool: "bash", input: { cmd: "ls" } },
    ],
  },
  { type: "tool", content: [{ ref: "u1", tool: "bash", out: "nope", bad: true }] },
];

/** As the Messages API has them. */
const API: readonly BlockShape[] = [
  {
    part: "tool_result",
    id: "/tool_use_id",
    result: "/content",
    failure: (block) => extractBoolean(block, "is_error"),
  },
  { part: "tool_call", id: "/id", name: "/name", params: "/input" },
  { part: "text", text: "/text" },
];

const API_RECORDS = [
  { type: "user", content: [{ type: "text", text: "Why is the teapot cold?" }] },
  {
    type: "assistant",
    content: [
      { type: "text", text: "I look." },
      { type: "tool_use", id: "u1", name: "bash", input: { cmd: "ls" } },
    ],
  },
  { type: "tool", content: [{ type: "tool_result", tool_use_id: "u1", content: "nope", is_error: true }] },
];

/** What the parts of a stored session are, message by message; all of it restores equal. */
async function stored(blocks: readonly BlockShape[], records: readonly object[]): Promise<unknown[]> {
  await using home = await tempDir();
  for (const record of records) writeRecord(home.path, "scribe", { session: "s-1", ...record });
  await using pond = await openPond({
    store: join(home.path, "store"),
    state: join(home.path, "state"),
    home: home.path,
    env: {},
    adapters: [programAdapter("scribe", { turn, blocks })],
  });
  const { clients } = await pond.sync();
  expect(clients.map(({ issues }) => issues)).toEqual([{}]);
  const verified = await pond.verify({ adapters: ["scribe"] });
  expect(verified.clients).toMatchObject([{ records: records.length, equal: records.length }]);
  const { value } = await loadTree(await pond.tree(), sessionId("s-1"));
  return stateOf(value)!.messages.map(({ message, parts }) => [
    message.role,
    ...parts.map((part) => {
      if (part.type === "text" || part.type === "reasoning") return [part.type, part.text];
      if (part.type === "tool_call")
        return [part.type, part.call_id, part.name, part.params && openJson(part.params)];
      if (part.type === "tool_result")
        return [part.type, part.call_id, part.is_failure, part.result && openJson(part.result)];
      return [part.type];
    }),
  ]);
}

describe("blocks whose fields are in the block itself", () => {
  const call = ["tool_call", "u1", "bash", { cmd: "ls" }];
  const result = ["tool_result", "u1", true, "nope"];
  test.each([
    ["in one order", FLAT],
    [
      "in the other",
      FLAT.toReversed().toSorted((a, b) => Number(b.part === "reasoning") - Number(a.part === "reasoning")),
    ],
  ])("are what they are, with the shapes %s", async (_, blocks) => {
    expect(await stored(blocks, FLAT_RECORDS)).toEqual([
      ["user", ["text", "Why is the teapot cold?"]],
      ["assistant", ["reasoning", "hm"], ["text", "I look."], call],
      ["tool", result],
    ]);
  });

  test.each([
    ["in one order", API],
    ["in the other", API.toReversed()],
  ])("of the Messages API are, too, with the shapes %s", async (_, blocks) => {
    expect(await stored(blocks, API_RECORDS)).toEqual([
      ["user", ["text", "Why is the teapot cold?"]],
      ["assistant", ["text", "I look."], call],
      ["tool", result],
    ]);
  });

  test("are chosen by `when`, where the fields have the same names, and restore by it", async () => {
    const blocks: readonly BlockShape[] = [
      { part: "tool_call", id: "/id", name: "/name", params: "/value", when: isA("call") },
      { part: "tool_result", id: "/id", name: "/name", result: "/value", when: isA("result") },
      { part: "text", text: "/note", when: isA("note") },
      { part: "text", text: "/value", when: isA("text") },
    ];
    const records = [
      {
        type: "user",
        content: [
          { type: "text", value: "Hello" },
          { type: "note", note: "as JSON" },
        ],
      },
      { type: "assistant", content: [{ type: "call", id: "c1", name: "bash" }] },
      { type: "tool", content: [{ type: "result", id: "c1", value: 7 }] },
    ];
    expect(await stored(blocks, records)).toEqual([
      ["user", ["text", "Hello"], ["text", "as JSON"]],
      ["assistant", ["tool_call", "c1", "bash", undefined]],
      ["tool", ["tool_result", "c1", undefined, 7]],
    ]);
  });

  test("that no shape takes anything of stay with their message", async () => {
    const blocks: readonly BlockShape[] = [
      { part: "tool_call", id: "/call/id", name: "/call/name", params: "/call/args" },
      { part: "text", text: "/text", when: () => true },
    ];
    const records = [{ type: "assistant", content: [{ call: {} }, { other: 1 }, { call: { id: "c1" } }] }];
    expect(await stored(blocks, records)).toEqual([["assistant", ["tool_call", "c1", undefined, undefined]]]);
  });
});
