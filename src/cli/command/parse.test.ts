/** Command lines against a table with every kind of flag and argument. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Command } from "./command.ts";
import { GLOBAL_FLAGS } from "./flags.ts";
import { parse } from "./parse.ts";

const FIND: Command = {
  name: "find",
  summary: "",
  args: [
    { name: "query", summary: "" },
    { name: "more", summary: "", optional: true, repeated: true },
  ],
  flags: {
    limit: { type: "integer", short: "n", summary: "" },
    path: { type: "list", short: "p", summary: "" },
    mode: { type: "string", choices: ["exact", "fuzzy"], summary: "" },
    all: { type: "boolean", short: "a", summary: "" },
  },
};
const TABLE: Command = {
  name: "pond",
  summary: "",
  flags: GLOBAL_FLAGS,
  subcommands: [FIND, { name: "set", summary: "", subcommands: [{ name: "one", summary: "" }] }],
};
const words = (line: string): readonly string[] => (line === "" ? [] : line.split(" "));
const read = (line: string): ReturnType<typeof parse> => parse(TABLE, words(line));

describe("flags", () => {
  test("not given: false, empty, undefined", () => {
    expect(read("find x").flags).toMatchObject({ all: false, path: [], limit: undefined, mode: undefined });
  });

  test.each([
    ["find x --limit 5 --mode=fuzzy", { limit: 5, mode: "fuzzy" }],
    ["find x --limit=-5", { limit: -5 }],
    ["find x --limit -5", { limit: -5 }],
    ["find x -n5 -a", { limit: 5, all: true }],
    ["find x -avn 5", { limit: 5, all: true, verbose: true }],
    ["find x -p a --path b -pc", { path: ["a", "b", "c"] }],
    ["find x --store=c --store=a=b", { store: "a=b" }], // the last wins
    ["find x --path -", { path: ["-"] }],
    ["--json find --quiet x", { json: true, quiet: true }],
  ])("%s", (line, flags) => {
    expect(read(line)).toMatchObject({ mistake: undefined, flags, args: ["x"] });
  });
});

test("after -- everything is an argument", () => {
  expect(read("find -- --all -n")).toMatchObject({
    mistake: undefined,
    args: ["--all", "-n"],
    flags: { all: false },
  });
});

test.each([
  ["find", "find needs <query>"],
  ["find x --limit many", '--limit must be a whole number, not "many"'],
  ["find x --limit=1e3", '--limit must be a whole number, not "1e3"'],
  ["find x --limit", "--limit needs a value"],
  ["find x --path --all", "--path needs a value"],
  ["find x --path=", "--path needs a value"],
  ["find x --mode=fuzy", '--mode must be one of exact, fuzzy, not "fuzy"'],
  ["find x --all=yes", "--all takes no value"],
  ["find x -z", "unknown flag -z of find"],
  ["find x --toString", "unknown flag --toString of find"],
  ["find x --__proto__", "unknown flag --__proto__ of find"],
  ["set", "set needs one of: one"],
  ["set two", 'unknown sub-command of set "two"'],
  ["set one two", 'set one does not take "two"'],
  ["--limit 3 find x", "unknown flag --limit"], // a verb's flags come after the verb
])("%s is a mistake", (line, message) => {
  const { mistake } = read(line);
  expect(mistake).toMatchObject({ code: "validation_failed", message });
  expect(mistake?.hint).toBeTruthy();
});

test("no command line makes the parser throw, and every flag of the table has a value", () => {
  const word = fc.constantFrom(
    ..."find set one -- - -a -n -nx --limit --limit=3 --all= --path --json --help x".split(" "),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string())), (argv) => {
      const { flags, trail } = parse(TABLE, argv);
      expect(Object.keys(flags)).toEqual(expect.arrayContaining(Object.keys(GLOBAL_FLAGS)));
      expect(trail[0]).toBe(TABLE);
    }),
  );
});
