import { describe, expect, test } from "vitest";
import { story } from "../../../test/support/story.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import { search } from "../index.ts";
import { matchPositions } from "./match-positions.ts";

const TEXT = "\u{1f41f}\u{1f41f} the pond has 12345 fish, and then 678";

/** What is matched of the only hit, by its place in what is stored. */
async function matched(text: string, pattern: string): Promise<unknown> {
  await using temp = await tempContext();
  await temp.ingest(story("s").user(text).events());
  const { context } = temp;
  const store = await context.store();
  const page = await search(store, {
    text: pattern,
    mode: "regex",
    searchedIn: "all",
    filter: { includeSubagents: true },
    limit: 1,
    perSession: 1,
    minScore: 0,
    includeSuperseded: false,
    clock: context.clock,
    signal: context.signal,
  });
  const hits = page.groups.flatMap((group) => group.hits);
  const [position] = (await matchPositions(store, hits, pattern)).values();
  if (position?.in !== "text") return position;
  return [position.start, text.slice(position.start, position.start + position.length)];
}

describe("a match", () => {
  const at = TEXT.indexOf("12345");
  const patterns: readonly [string, string, unknown][] = [
    ["behind characters of two units", "[0-9]+", [at, "12345"]],
    ["of a pattern with groups", "([0-9])([0-9]+)", [at, "12345"]],
    ["of an alternative", "fisk|1234", [at, "1234"]],
    ["in any case", "(?i)FISH", [TEXT.indexOf("fish"), "fish"]],
    ["of a verbose pattern that ends with a comment", "(?x) [0-9]+ # a number", [at, "12345"]],
    ["of two units", "\u{1f41f} ", [2, "\u{1f41f} "]],
  ];
  test.each(patterns)("%s is where the engine found it", async (_, pattern, expected) => {
    expect(await matched(TEXT, pattern)).toEqual(expected);
  });
});
