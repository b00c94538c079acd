import { describe, expect, test } from "vitest";
import type { Story } from "../../../../test/support/story.ts";
import { story, textPart } from "../../../../test/support/story.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import { LossReport } from "./losses.ts";
import type { CallPart, FilePart } from "./parts.ts";
import {
  asHandedOver,
  callId,
  callInput,
  compactionSummary,
  fileUrl,
  injectedKind,
  isCarried,
  loseNote,
  parseDataUrl,
  toolName,
} from "./parts.ts";

const summaryPart = (text: string) => ({
  ...textPart(text, "injected"),
  options: { pond: { injected: "compaction-summary" } },
});

function partsOf(drafts: Parameters<Story["message"]>[1]): readonly Part[] {
  return replay(story("s").message("assistant", drafts).events())[0]!.messages[0]!.parts;
}

function callOf(name: string | undefined, params: JsonValue, call_id?: string): CallPart {
  const [part] = partsOf([{ type: "tool_call", name, params, call_id }]);
  return part as CallPart;
}

describe("a summary of the history before it", () => {
  test("is one text, also where a client's model says it, and what stands beside it is a loss", () => {
    const losses = new LossReport();
    const parts = partsOf([summaryPart("in "), { type: "reasoning", text: "hm" }, summaryPart("short")]);
    expect(compactionSummary([...parts, ...partsOf([textPart("", "injected")])], losses)).toBe("in short");
    expect(losses.list()).toMatchObject([{ what: "reasoning", count: 1 }]);
  });

  test("is absent from any other message, which loses nothing by being asked", () => {
    const losses = new LossReport();
    expect(compactionSummary(partsOf([textPart("said")]), losses)).toBeUndefined();
    expect(losses.list()).toEqual([]);
  });
});

test("a call has an object for its input, a name that providers take, and an id", () => {
  expect(callInput(callOf("x", { a: 1 }))).toEqual({ a: 1 });
  expect(callInput(callOf("x", '{"a": 1}'))).toEqual({ a: 1 });
  expect(callInput(callOf("x", "*** Begin"))).toEqual({ input: "*** Begin" });
  expect(toolName(callOf("mcp.tool/x", {}))).toBe("mcp_tool_x");
  expect([toolName(callOf("", {})), toolName(callOf(undefined, {}))]).toEqual(["tool", "tool"]);
  expect(toolName(callOf("n".repeat(200), {}))).toHaveLength(64);
  expect(callId(callOf("x", {}, "c1"))).toBe("c1");
  expect(callId(callOf("x", {}, ""))).toMatch(/^call_[0-9a-f]{24}$/);
});

test("a file is an address of its content, wherever that stands", () => {
  const urlOf = (data: FilePart["data"], media_type?: string): string | undefined => {
    const [part] = partsOf([{ type: "file", data, media_type }]);
    return fileUrl(part as FilePart);
  };
  const url = "data:image/png;base64,AQI=";
  expect(urlOf({ kind: "bytes", value: Buffer.from([1, 2]) }, "image/png")).toBe(url);
  expect(urlOf({ kind: "string", value: "AQI=" } as FilePart["data"], "image/png")).toBe(url);
  expect(urlOf({ kind: "string", value: url } as FilePart["data"])).toBe(url);
  expect(urlOf({ kind: "string", value: "AQI=" } as FilePart["data"])).toBeUndefined();
  expect(urlOf({ kind: "url", value: "https://a/b.png" } as FilePart["data"])).toBe("https://a/b.png");
  expect(parseDataUrl(url)).toEqual({ mediaType: "image/png", base64: "AQI=" });
  expect(parseDataUrl("https://a/b.png")).toBeUndefined();
});

test("what happened outside goes along, what a client says of itself stays", () => {
  for (const kind of [undefined, "ci", "notice", "synthetic", "task-notification"])
    expect(isCarried(kind)).toBe(true);
  for (const kind of ["reminder", "instructions", "environment-context"]) expect(isCarried(kind)).toBe(false);
});

test("what pond restored into a client goes along again, also where nobody noted its kind", () => {
  const put = (text: string, pond: JsonObject) => ({ ...textPart(text, "injected"), options: { pond } });
  const drafts = [
    put("noted by no kind", {}),
    put("taken for a reminder", { injected: "system-reminder" }),
    put("a hook", { injected: "hook" }),
    summaryPart("in short"),
    textPart("typed"),
  ];
  const kindsOf = (pond: JsonObject) => {
    const [entry] = replay(story("s").message("user", drafts, { pond }).events())[0]!.messages;
    return asHandedOver(entry!).parts.map(injectedKind);
  };
  const restored = { session_id: "t", message_id: "t-0" };
  expect(kindsOf({ restored })).toEqual(["restored", "restored", "hook", "compaction-summary", undefined]);
  expect(kindsOf({})).toEqual(["context", "system-reminder", "hook", "compaction-summary", undefined]);
});

test("a text that its client shows and never sends is no loss to the model", () => {
  const losses = new LossReport();
  for (const kind of ["ignored", "reminder"]) {
    const [part] = partsOf([{ ...textPart("said", "injected"), options: { pond: { injected: kind } } }]);
    loseNote(part!, losses);
  }
  expect(losses.list()).toMatchObject([
    { what: "note from its client", affects: "model", count: 1 },
    { what: "text kept from the model", affects: "record", count: 1 },
  ]);
});
