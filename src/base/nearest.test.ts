/** Guesses at typing slips. */
import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const VERBS = ["sync", "search", "sessions", "status", "get", "restore", "config"];

test.each([
  ["serach", "search"], // swapped
  ["searh", "search"], // dropped
  ["sesssions", "sessions"], // doubled
  ["stauts", "status"],
  ["SYNC", "sync"],
  ["conf", "config"], // begun
  ["frobnicate", undefined],
  ["s", undefined], // a letter is no hint
  ["", undefined],
])("%j means %j", (typed, meant) => {
  expect(nearest(typed, VERBS)).toBe(meant);
});

test("the nearer of two wins, and the first of equals", () => {
  expect(nearest("cart", ["card", "cart"])).toBe("cart");
  expect(nearest("carx", ["card", "cart"])).toBe("card");
  expect(nearest("x", [])).toBeUndefined();
});
