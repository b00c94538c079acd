import { expect, test } from "vitest";
import { authorOf, usageOf } from "./author.ts";

test("the model is the one that a provider's options name, else the record's own", () => {
  const record = { record: { message: { provider: "google", model: "gemini" } } };
  expect(authorOf({ options: { source: record, anthropic: { model: "claude" } } })).toEqual({
    provider: "anthropic",
    model: "claude",
  });
  expect(authorOf({ options: { source: record, pond: { model: "no" } } })).toEqual({
    provider: "google",
    model: "gemini",
  });
  expect(authorOf({ options: { source: { model: "no" }, anthropic: {} } })).toBeUndefined();
});

test("what is not recorded counts as no tokens", () => {
  const usage = { input_tokens: 3, cache_read_input_tokens: 5 };
  expect(usageOf({ options: { anthropic: { usage } } })).toEqual({
    input: 3,
    output: 0,
    cacheRead: 5,
    cacheWrite: 0,
  });
});
