import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringifyJson } from "../../../base/json/json.ts";
import { openJson } from "../../../model/index.ts";
import { jsonObject } from "../../../../test/support/arbitrary-events.ts";
import { boundDraft, boundJson, boundOptions } from "./bound.ts";
import { extractJson, extractString } from "../extract/extract.ts";

const MARKER = expect.stringMatching(/^<pond:truncated \d+ bytes>$/);

describe("the size bound of a JSON value", () => {
  test("a value that fits is the same object", () => {
    const bounds = { text: 1_000_000, json: 6_000_000 };
    fc.assert(fc.property(jsonObject, (value) => boundJson(value, bounds).value === value));
  });

  test("a text counts by its own bytes, not by those of its JSON", () => {
    const value = { text: "\u0001".repeat(1000) };
    expect(boundJson(value, { text: 1000, json: 10_000 }).value).toBe(value);
    expect(boundJson(value, { text: 999, json: 10_000 }).truncated).toEqual([{ bytes: 1000 }]);
  });

  test("only texts past the bound are cut; keys, numbers and other texts stay", () => {
    const value = {
      id: "abc",
      n: 12,
      nested: { long: "x".repeat(5000), short: "y" },
      list: ["z".repeat(3000), null],
    };
    const { value: bounded, truncated } = boundJson(value, { text: 4000, json: 100_000 });
    expect(bounded).toMatchObject({ id: "abc", n: 12, nested: { short: "y" }, list: value.list });
    expect(bounded.nested.long).toMatch(/^x+<pond:truncated 5000 bytes>$/);
    expect(truncated).toEqual([{ bytes: 5000 }]);
  });

  test("texts are cut shorter still where the JSON of all is too long, and that is told once", () => {
    const value = { id: "abc", list: Array.from({ length: 10 }, () => "x".repeat(900)) };
    const { value: bounded, truncated } = boundJson(value, { text: 1000, json: 2000 });
    expect(Buffer.byteLength(stringifyJson(bounded))).toBeLessThanOrEqual(2000);
    expect(bounded).toMatchObject({ id: "abc" });
    expect(truncated).toEqual([{ bytes: Buffer.byteLength(stringifyJson(value)) }]);
  });

  test("millions of tiny values leave only the marker", () => {
    const value = { list: Array.from({ length: 5000 }, (_, index) => index) };
    const bounds = { text: 1000, json: 1000 };
    expect(boundJson(value, bounds)).toMatchObject({
      value: { pond: { truncated: MARKER } },
      marker: MARKER,
    });
    expect(boundJson(value.list, bounds).value).toEqual(MARKER);
  });
});

describe("the size bound of a message", () => {
  const bounds = { text: 1000, json: 1000 };
  const values = Array.from({ length: 5000 }, (_, index) => index);

  test("what pond says of it stays, whatever is cut beside it", () => {
    const pond = { parent: "p", value: "v", at: 7 };
    expect(boundOptions({ source: { record: values }, pond }, bounds).value).toEqual({
      pond: { ...pond, truncated: MARKER },
    });
    expect(boundOptions({ source: { record: "x".repeat(2000) }, pond }, bounds).value).toMatchObject({
      pond,
      source: { record: expect.stringContaining("<pond:truncated") },
    });
  });

  test("its parts stay parts of their kind, field by field, and payloads are not touched", () => {
    const record = { input: { values }, name: "bash", text: "y".repeat(2000) };
    const bytes = new Uint8Array(5000);
    const { value, truncated } = boundDraft(
      {
        role: "assistant",
        options: {},
        parts: [
          {
            type: "tool_call",
            provenance: "conversational",
            call_id: extractString(record, "name")!,
            name: extractString(record, "name")!,
            params: extractJson(record, "input")!,
            options: { source: { short: 1 } },
          },
          { type: "file", provenance: "injected", data: { kind: "bytes", value: bytes } },
          { type: "text", provenance: "conversational", text: extractString(record, "text")! },
        ],
      },
      bounds,
    );
    const [call, file, text] = value.parts;
    expect(call).toMatchObject({ type: "tool_call", name: "bash", options: { source: { short: 1 } } });
    expect(call?.type === "tool_call" && call.params && openJson(call.params)).toEqual({
      pond: { truncated: MARKER },
    });
    expect(file?.type === "file" && file.data.value).toBe(bytes);
    expect(text).toMatchObject({
      type: "text",
      text: expect.stringContaining("<pond:truncated 2000 bytes>"),
    });
    expect(truncated).toHaveLength(2);
  });

  test("one that fits is the same object", () => {
    const draft = { role: "system" as const, options: { source: { a: 1 } }, parts: [] };
    expect(boundDraft(draft, bounds).value).toBe(draft);
  });
});
