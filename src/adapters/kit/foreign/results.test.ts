import { expect, test } from "vitest";
import type { Story } from "../../../../test/support/story.ts";
import { story } from "../../../../test/support/story.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { openJson } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import type { CallPart } from "./parts.ts";
import type { ResultPart } from "./results.ts";
import { CallResults, resultBlocks, resultJson } from "./results.ts";

function messagesOf(told: Story): readonly MessageWithParts[] {
  return replay(told.events())[0]!.messages;
}

test("an id that is used again has results of its own, in the same order; the rest answers no call", () => {
  const messages = messagesOf(
    story("s")
      .call("ls", {}, { call: "c" })
      .result("ls", "first", { call: "c" })
      .call("ls", {}, { call: "c" })
      .result("ls", "second", { call: "c" })
      .result("ls", "unasked", { call: "d" }),
  );
  const results = new CallResults(messages);
  const calls = messages.flatMap(({ parts }) =>
    parts.filter((part): part is CallPart => part.type === "tool_call"),
  );
  const said = (part: ResultPart | undefined) => part?.result && openJson(part.result);
  expect(calls.map((call) => said(results.take(call)?.part))).toEqual(["first", "second"]);
  expect(results.take(calls[0]!)).toBeUndefined();
  expect(results.rest().map(({ part }) => said(part))).toEqual(["unasked"]);
});

const PNG = "data:image/png;base64,AAAA";

test.each<[JsonValue, unknown]>([
  ["text", [{ text: "text" }]],
  [{ output: "text" }, [{ text: "text" }]],
  [[], []],
  [
    [
      { type: "text", text: "a" },
      { type: "output_text", text: "b" },
    ],
    [{ text: "a" }, { text: "b" }],
  ],
  [[{ type: "input_image", image_url: PNG }], [{ image: PNG }]],
  [[{ type: "image", data: "AAAA", mimeType: "image/png" }], [{ image: PNG }]],
  [[{ type: "image", source: { type: "base64", data: "AAAA", media_type: "image/png" } }], [{ image: PNG }]],
  [[{ type: "image", source: { type: "url", url: "https://a/b" } }], [{ image: "https://a/b" }]],
  [{ output: "text", exit_code: 1 }, undefined],
  [[{ type: "text", text: "a" }, { type: "resource" }], undefined],
  [7, undefined],
])("a result %j is made of %j", (result, blocks) => {
  const [message] = messagesOf(story("s").result("x", result));
  const part = message!.parts[0] as ResultPart;
  expect(resultBlocks(part)).toEqual(blocks);
  expect(resultJson(part)).toBe(JSON.stringify(result));
});
