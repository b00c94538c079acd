import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import { parseJson } from "../../../base/json/json.ts";
import type { FileComparison } from "./compare.ts";
import { compareFile, describeDifference } from "./compare.ts";
import type { RawLine } from "../files/raw-line.ts";
import type { RestoredFile } from "./restore.ts";

async function compare(
  source: string | Uint8Array,
  restored: RestoredFile,
  name = "f",
): Promise<FileComparison> {
  await using folder = await tempDir();
  const path = join(folder.path, name);
  await writeFile(path, source);
  return await compareFile(restored, path);
}

const jsonl = (...records: (JsonValue | RawLine)[]): RestoredFile => ({ kind: "jsonl", path: "f", records });

describe("a restored log", () => {
  test("is equal whatever the order of keys, white space, blank lines and number spellings", async () => {
    const source = '\uFEFF{"a":1.0,"b":[1e2]}\r\n\n {"c":null} ';
    expect(await compare(source, jsonl({ b: [100], a: 1 }, { c: null }))).toEqual({
      path: "f",
      records: 2,
      equal: 2,
    });
  });

  test("differs at the first value that is not the same, and says where", async () => {
    const found = await compare('{"a":1}\n{"a":{"b":[1,2]}}\n', jsonl({ a: 1 }, { a: { b: [1, 3] } }));
    expect(found).toEqual({
      path: "f",
      records: 2,
      equal: 1,
      difference: { record: 1, line: 2, pointer: "/a/b/1", source: "2", restored: "3" },
    });
    expect(describeDifference(found)).toBe("f: record 1 (line 2) at /a/b/1: 2 became 3");
  });

  test("shows two long texts around the place where they differ", async () => {
    const [before, after] = ["a".repeat(500), "b".repeat(500)];
    const found = await compare(
      `${JSON.stringify({ text: `${before}one${after}` })}\n`,
      jsonl({ text: `${before}two${after}` }),
    );
    expect(describeDifference(found)).toMatch(
      /: "?\.\.\.a{40}oneb{77}\.\.\. became \.\.\.a{40}twob{77}\.\.\.$/,
    );
  });

  test("tells absent from null, integers beyond a double, order of records, one too few and one too many", async () => {
    expect((await compare('{"a":null}\n', jsonl({}))).difference?.pointer).toBe("/a");
    const big = '{"n":12345678901234567890}\n';
    expect((await compare(big, jsonl({ n: 12345678901234567000 }))).difference?.pointer).toBe("/n");
    expect((await compare(big, jsonl(parseJson('{"n":12345678901234567890}')))).difference).toBeUndefined();
    expect((await compare("1\n2\n", jsonl(2, 1))).equal).toBe(0);
    expect((await compare("1\n2\n", jsonl(1))).difference).toMatchObject({ record: 1, source: "2" });
    expect((await compare("1\n", jsonl(1, 2))).difference).toMatchObject({ record: 1, restored: "2" });
  });

  test("of a source that lost records has all that is left of it, and says how many more", async () => {
    const restored = jsonl({ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 });
    expect(await compare('{"a":1}\n{"a":2}\n', restored)).toMatchObject({ equal: 2, extra: 2 });
    const found = await compare('{"a":2}\n{"a":4}\n', restored);
    expect(found).toMatchObject({ records: 2, equal: 0, extra: 2, difference: { record: 0 } });
    expect(describeDifference(found)).toBe(
      "f: all 2 records are stored, with 2 more that the file has no longer",
    );
    for (const source of ['{"a":4}\n{"a":2}\n', '{"a":1}\n{"a":5}\n', '{"a":4}\n{"a":4}\n'])
      expect(await compare(source, restored)).not.toHaveProperty("extra");
  });

  test("holds bad lines byte for byte", async () => {
    const bad = Buffer.from([0x7b, 0xff]);
    const source = Buffer.concat([bad, Buffer.from("\n")]);
    expect((await compare(source, jsonl({ raw: bad }))).difference).toBeUndefined();
    expect((await compare(source, jsonl({ raw: Buffer.from("{") }))).difference?.record).toBe(0);
    expect((await compare(source, jsonl("{"))).difference?.record).toBe(0);
  });

  test("is compared with what a compressed source holds", async () => {
    const source = zstdCompressSync(Buffer.from('{"a":1}\n{"a":2}\n'));
    expect(await compare(source, jsonl({ a: 1 }, { a: 2 }), "f.jsonl.zst")).toMatchObject({
      records: 2,
      equal: 2,
    });
  });
});

describe("other files", () => {
  test("are equal by bytes, or as one JSON value", async () => {
    expect(await compare("ab", { kind: "bytes", path: "f", data: Buffer.from("ab") })).toMatchObject({
      equal: 1,
    });
    expect(await compare("ab", { kind: "bytes", path: "f", data: Buffer.from("a") })).toMatchObject({
      equal: 0,
    });
    expect(await compare('{ "a": 1 }', { kind: "json", path: "f", value: { a: 1 } })).toMatchObject({
      equal: 1,
    });
    expect((await compare('{"a":1}', { kind: "json", path: "f", value: { a: 2 } })).difference?.pointer).toBe(
      "/a",
    );
    expect((await compare("not json", { kind: "json", path: "f", value: 1 })).equal).toBe(0);
  });
});
