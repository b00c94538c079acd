import { expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { recordedTitle } from "./index.ts";

const named = (text: JsonObject[string], rank: number): { readonly options: JsonObject } => ({
  options: { source: { record: { "a/b": text } }, pond: { title: { at: "/source/record/a~1b", rank } } },
});

test("a title is read where its message says, by rank, then the newest", () => {
  expect(recordedTitle([named("by a person", 30), named("by a model", 20)])).toBe("by a person");
  expect(recordedTitle([named("old", 20), named("new", 20)])).toBe("new");
});

test("what names nothing is no title", () => {
  const dangling = { options: { pond: { title: { at: "/source/record/__proto__", rank: 1 } } } };
  expect(recordedTitle([{ options: {} }, dangling, named(" ", 30), named(7, 30)])).toBeUndefined();
  expect(recordedTitle([named("kept", 1), named("", 30)])).toBe("kept");
});
