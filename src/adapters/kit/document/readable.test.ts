import { expect, test } from "vitest";
import { membersOf, readableIn } from "./readable.ts";

test("of a text that repeats a key, the first of each is read", () => {
  expect(readableIn('{"a":1,"a":2,"b":{"c":[1,{"d":"},"}]}}')).toEqual({ a: 1, b: { c: [1, { d: "}," }] } });
});

test("a text that breaks off is read up to there", () => {
  expect(readableIn('{"info":{"id":"x"},"messages":[{"a":1},')).toEqual({ info: { id: "x" } });
  expect(readableIn('{"info":{"id":"x')).toEqual({});
});

test("a member with a replaced character, or that is no JSON itself, is left out", () => {
  expect(readableIn('{"a":"\uFFFD","b":[1,],"c":"x"}')).toEqual({ c: "x" });
});

test("names are read as they are escaped, members as they stand", () => {
  expect([...membersOf(' { "\\u0061" : [ "b" ] , "c\\"d" : 1 } ')]).toEqual([
    ["a", '[ "b" ]'],
    ['c"d', "1"],
  ]);
});

test.each(["", "[", "[1]", "x", '"a"', "}"])("%j has no members", (text) => {
  expect(membersOf(text).size).toBe(0);
});
