/** The small functions of `pond-db/model` and `/json`, as programs without types call them. */
import { expect, test } from "vitest";
import { parseJson, stringifyJson, tryParseJson } from "./json.ts";
import { formatTimestamp, messageId, parseTimestamp, partId, sessionId } from "./model.ts";

test.each<[string, () => unknown, string, string]>([
  [
    "an id that is a number",
    () => sessionId(5 as never),
    "id",
    "sessionId: id must be a text that is not empty",
  ],
  ["an empty id", () => sessionId(""), "id", 'not ""'],
  ["a message's id with a lone surrogate", () => messageId("\ud83d"), "id", "messageId: id must be"],
  ["a part's id that is null", () => partId(null as never), "id", "partId: id must be"],
  ["a text for a Timestamp", () => formatTimestamp("x" as never), "timestamp", "no Timestamp: x"],
  ["a text that is no JSON", () => parseJson("{a"), "text", "not valid JSON: "],
  ["a number for a text", () => parseJson(5 as never), "text", "text must be a string of JSON, not a number"],
  ["nothing for a text", () => tryParseJson(undefined as never), "text", "text must be a string of JSON"],
  ["a key that is there twice", () => parseJson('{"a":1,"a":2}'), "text", "keys are there twice at /a"],
  [
    "undefined as JSON",
    () => stringifyJson(undefined as never),
    "value",
    "value holds undefined, which is no JSON",
  ],
  [
    "a Date in JSON",
    () => stringifyJson({ at: [new Date(0)] } as never),
    "value",
    "an instance of Date at /at/0",
  ],
  [
    "a property of an array in JSON",
    () => stringifyJson([Object.assign([1], { foo: 2 })]),
    "value",
    "a property of an array at /0/foo",
  ],
])("%s is refused with its field", (_, act, field, words) => {
  expect(act).toThrow(
    expect.objectContaining({
      code: "validation_failed",
      message: expect.stringContaining(words),
      data: expect.objectContaining({ field }),
    }),
  );
});

test("a time finer than a microsecond is no Timestamp, one with zeros there is", () => {
  expect(parseTimestamp("2026-01-02T03:04:05.123456789Z")).toBeUndefined();
  expect(formatTimestamp(parseTimestamp("2026-01-02T03:04:05.123456000Z")!)).toBe(
    "2026-01-02T03:04:05.123456Z",
  );
});

test("what is right passes as it is", () => {
  expect([sessionId("s"), messageId("m"), partId("0")]).toEqual(["s", "m", "0"]);
  expect(stringifyJson(parseJson('{"a":12345678901234567890}'))).toBe('{"a":12345678901234567890}');
});
