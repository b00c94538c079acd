/** Places of keys in a TOML text. */
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { expect, test } from "vitest";
import { keyPlaces } from "./toml-keys.ts";

const places = (text: string): string[] =>
  keyPlaces(text).map(({ path, line, column }) => `${line}:${column} ${path.join("/")}`);

test("keys, headers, dotted and quoted keys have the line and column where they begin", () => {
  expect(places('# note\na = 1\n[t]\n  b.c = "x" # = y\n"d.e" = 2\n[[u."v w"]]\n\'f\' = 3\r\ng = 4')).toEqual(
    [
      "2:1 a",
      "3:2 t",
      "4:3 t/b",
      "4:3 t/b/c",
      "5:1 t/d.e",
      "6:3 u",
      "6:3 u/v w",
      "7:1 u/v w/f",
      "8:1 u/v w/g",
    ],
  );
});

test("what is inside strings, lists and comments is not a key", () => {
  const text =
    'a = """\nx = 1\n[y]\n"""\nb = \'\'\'\nz = 2\'\'\'\nc = [ # ] = \n  "d = 3",\n  [4],\n]\ne = "]"\nf = 1';
  expect(places(text)).toEqual(["1:1 a", "5:1 b", "7:1 c", "11:1 e", "12:1 f"]);
});

test("the keys of inline tables count", () => {
  expect(places('a = { b = 1, "c" = { d = [2] } }\ne = [{ f = 3 }]')).toEqual([
    "1:1 a",
    "1:7 a/b",
    "1:14 a/c",
    "1:22 a/c/d",
    "2:1 e",
    "2:8 e/f",
  ]);
});

test("a broken text gives the keys before the break", () => {
  expect(places("a = 1\nb c = 2\nd = 3")).toEqual(["1:1 a", "2:1 b"]);
  expect(places('a = "no end\nb = 2')).toEqual(["1:1 a"]);
});

test("agrees with the parser on which keys there are", () => {
  const name = fc.oneof(fc.stringMatching(/^[a-z_-]{1,6}$/), fc.string({ maxLength: 4 }));
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
  const document = fc.dictionary(name, fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 3 })), {
    maxKeys: 5,
  });
  fc.assert(
    fc.property(document, (value) => {
      const text = stringify(value);
      const found = keyPlaces(text);
      expect(new Set(found.map(({ path }) => JSON.stringify(path)))).toEqual(
        new Set(allPaths(parse(text), []).map((path) => JSON.stringify(path))),
      );
      for (const { path, line } of found)
        if (/^[a-z]+$/.test(path.at(-1) ?? "")) expect(text.split("\n")[line - 1]).toContain(path.at(-1));
    }),
  );
});

function allPaths(table: object, above: readonly string[]): (readonly string[])[] {
  return Object.entries(table).flatMap(([name, value]: [string, unknown]) => {
    const path = [...above, name];
    const below =
      typeof value === "object" && value !== null && !Array.isArray(value) ? allPaths(value, path) : [];
    return [path, ...below];
  });
}
