import { expect, test } from "vitest";
import type { JsonObject } from "../../base/json/json.ts";
import type { Message } from "../index.ts";
import { messageId } from "../index.ts";
import { recordedTitle, titleLine } from "./index.ts";
import { timestampFromMillis } from "../timestamp.ts";

type Titled = Pick<Message, "id" | "seq" | "timestamp" | "role" | "options">;

const message = (options: JsonObject, at = 1): Titled => ({
  id: messageId("m"),
  timestamp: timestampFromMillis(at)!,
  role: "system",
  options,
});

const named = (text: JsonObject[string], rank: number, at = 1): Titled =>
  message({ source: { record: { "a/b": text } }, pond: { title: { at: "/source/record/a~1b", rank } } }, at);

test("a title is read where its message says, by rank, then the newest", () => {
  expect(recordedTitle([named("by a person", 30), named("by a model", 20)])).toBe("by a person");
  expect(recordedTitle([named("old", 20), named("new", 20)])).toBe("new");
});

test("the newest title is that of the latest instant, in whatever order they come", () => {
  expect(recordedTitle([named("new", 20, 9), named("old", 20, 5)])).toBe("new");
});

test("of titles of one instant it is the one further on in the log", () => {
  const [first, second] = [
    { ...named("first", 20), seq: 3 },
    { ...named("second", 20), seq: 4 },
  ];
  expect(recordedTitle([first, second])).toBe("second");
  expect(recordedTitle([second, first])).toBe("second");
});

test("what names nothing is no title", () => {
  const dangling = message({ pond: { title: { at: "/source/record/__proto__", rank: 1 } } });
  expect(recordedTitle([message({}), dangling, named(" ", 30), named(7, 30)])).toBeUndefined();
  expect(recordedTitle([named("kept", 1), named("", 30)])).toBe("kept");
  expect(recordedTitle([{ ...named("of a turn", 1), role: "user" }])).toBeUndefined();
});

test("a title is shown on one line of bounded length, cut between characters", () => {
  expect(titleLine(" one\n\ttwo ")).toBe("one two");
  const long = titleLine("\u{1f600}".repeat(300));
  expect(long.length).toBeLessThanOrEqual(200);
  expect(long.isWellFormed() && long.endsWith("...")).toBe(true);
});
