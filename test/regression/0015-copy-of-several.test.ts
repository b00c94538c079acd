/**
 * A copy on one stretch of a search for exact text whose originals are on another: each of them was tried, then only the
 * first, so that a message was shown beside its original (spec.md#search-shown-once).
 */
import { expect, test } from "vitest";
import { search } from "../../src/handlers/index.ts";
import { story } from "../support/story.ts";
import { tempContext } from "../support/temp-context.ts";

const day = (at: number): string => new Date(Date.UTC(2026, 0, 1 + at)).toISOString();

/** More sessions than a first stretch holds, between the old ones and the new one. */
const between = Array.from({ length: 60 }, (_, i) =>
  story(`s${i}`, { at: day(10 + i) })
    .user("hay")
    .events(),
);

test("a copy of two messages is no hit where the second is an original, though the first calls itself its copy", async () => {
  await using temp = await tempContext();
  const ofBoth = {
    session_id: "mutual",
    message_id: "m",
    also: [{ session_id: "original", message_id: "o" }],
  };
  await temp.ingest([
    ...story("original", { at: day(0) })
      .user("the marmot", { id: "o" })
      .events(),
    ...story("mutual", { at: day(1) })
      .user("the marmot", { id: "m", pond: { replays: { session_id: "copy", message_id: "c" } } })
      .events(),
    ...between.flat(),
    ...story("copy", { at: day(90) })
      .user("the marmot", { id: "c", pond: { replays: ofBoth } })
      .events(),
  ]);
  const { sessions } = await search(temp.context, { query: "the marmot", mode: "exact" });
  expect(sessions.map(({ session_id }) => session_id)).toEqual(["mutual", "original"]);
});

test("a copy of a copy is no hit where both are found and it names only the one between", async () => {
  await using temp = await tempContext();
  await temp.ingest([
    ...story("original", { at: day(0) })
      .user("the marmot", { id: "o" })
      .events(),
    ...story("between", { at: day(1) })
      .user("the marmot", { id: "b", pond: { replays: { session_id: "original", message_id: "o" } } })
      .events(),
    ...between.flat(),
    ...story("copy", { at: day(90) })
      .user("the marmot", { id: "c", pond: { replays: { session_id: "between", message_id: "b" } } })
      .events(),
    ...story("other", { at: day(91) })
      .user("the marmot", { id: "d", pond: { replays: { session_id: "original", message_id: "o" } } })
      .events(),
  ]);
  const { sessions } = await search(temp.context, { query: "the marmot", mode: "exact" });
  expect(sessions.map(({ session_id }) => session_id)).toEqual(["original"]);
});
