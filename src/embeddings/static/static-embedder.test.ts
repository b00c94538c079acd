/** Vectors from a table: how a text becomes a sum of rows, and what the table that is shipped knows. */
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Embedder } from "../embedder.ts";
import { TABLE_FOLDER } from "../table-place.ts";
import { openStaticEmbedder } from "./static-embedder.ts";
import { DATA_FILE, HEADER_FILE, tableBytes } from "./table.ts";

const request = { kind: "document", signal: new AbortController().signal } as const;

const vectorOf = async (embedder: Embedder, text: string): Promise<readonly number[] | undefined> => {
  const [vector] = (await embedder.embed([text], request)).vectors;
  return vector === undefined ? undefined : [...vector];
};

const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);

describe("a table of a few rows", () => {
  const folder = mkdtempSync(join(tmpdir(), "pond-table-"));
  let embedder: Embedder;

  beforeAll(async () => {
    const rows: Readonly<Record<string, readonly [number, number]>> = {
      token: [100, 0],
      refresh: [0, 100],
      "##ed": [0, 50],
      "\u30A8\u30E9\u30FC": [30, 40],
      nothing: [0, 0],
    };
    const scales = Float32Array.from([0.01, 0.01, 0.02, 0.01, 0]);
    const data = tableBytes(scales, Int8Array.from(Object.values(rows).flat()), Object.keys(rows));
    const sha256 = createHash("sha256").update(data).digest("hex");
    writeFileSync(join(folder, DATA_FILE), data);
    writeFileSync(join(folder, HEADER_FILE), JSON.stringify({ format: 1, dimension: 2, rows: 5, sha256 }));
    embedder = await openStaticEmbedder(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ["token", [1, 0]],
    ["Token!", [1, 0]],
    ["refresh token", [Math.SQRT1_2, Math.SQRT1_2]],
    ["refreshToken", [Math.SQRT1_2, Math.SQRT1_2]],
    ["refresh_token", [Math.SQRT1_2, Math.SQRT1_2]],
    ["refreshtoken", [Math.SQRT1_2, Math.SQRT1_2]],
    ["refreshed", [0, 1]],
    ["token token refresh", [2 / Math.sqrt(5), 1 / Math.sqrt(5)]],
    ["\u30A8\u30E9\u30FC", [0.6, 0.8]],
  ])("%s", async (text, expected) => {
    const vector = await vectorOf(embedder, text);
    for (const [at, value] of expected.entries()) expect(vector?.[at]).toBeCloseTo(value, 5);
  });

  test.each(["", " ", "xyz", "nothing", "...", "\u0000"])("%j has no vector", async (text) => {
    expect(await vectorOf(embedder, text)).toBeUndefined();
  });

  test("a text that is longer than the window is cut, and counted", async () => {
    const long = `${"token ".repeat(5000)}refresh`;
    const { vectors, cut } = await embedder.embed([long, "token"], request);
    expect(cut).toBe(1);
    expect([...(vectors[0] ?? [])]).toEqual([1, 0]);
  });

  test("a table that its header does not describe is refused", async () => {
    appendFileSync(join(folder, DATA_FILE), "x");
    await expect(openStaticEmbedder(folder)).rejects.toThrow(/is not the one its header describes/);
  });
});

describe("the table that is shipped", () => {
  let embedder: Embedder;
  beforeAll(async () => {
    embedder = await openStaticEmbedder();
  });

  test("is named by the hash of its data, and small", () => {
    const data = readFileSync(join(TABLE_FOLDER, DATA_FILE));
    const sha256 = createHash("sha256").update(data).digest("hex");
    const header = JSON.parse(readFileSync(join(TABLE_FOLDER, HEADER_FILE), "utf8"));
    expect(header).toMatchObject({ format: 1, sha256, dimension: embedder.dimension });
    expect(embedder.name).toBe(`static-${embedder.dimension}-${sha256.slice(0, 16)}`);
    expect(data.length).toBeLessThan(12_000_000);
  });

  test("gives any text a unit vector or none, the same each time", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (text) => {
        const vector = await vectorOf(embedder, text);
        if (vector === undefined) return;
        expect(vector).toHaveLength(embedder.dimension);
        expect(lengthOf(vector)).toBeCloseTo(1, 4);
        expect(await vectorOf(embedder, text)).toEqual(vector);
      }),
    );
  });

  const TEXTS = [
    "the server ran out of memory and was killed",
    "users were logged out because the token had expired",
    "the tests fail at random on the build machine",
    "delete all files of the old folder",
    "the picture is shown in the wrong colors",
  ];

  test.each([
    ["crashed, not enough RAM", 0],
    ["sessions ended early, wrong credentials", 1],
    ["flaky test in CI", 2],
    ["remove the obsolete directory", 3],
    ["image looks green instead of red", 4],
    ["Dateien im alten Ordner l\u00F6schen", 3],
    ["el servidor se qued\u00F3 sin memoria", 0],
    [
      "\u53E4\u3044\u30D5\u30A9\u30EB\u30C0\u30FC\u306E\u30D5\u30A1\u30A4\u30EB\u3092\u524A\u9664\u3059\u308B",
      3,
    ],
    ["\u670D\u52A1\u5668\u5185\u5B58\u4E0D\u8DB3", 0],
    [
      "\u0432\u0438\u0434\u0430\u043B\u0438\u0442\u0438 \u0444\u0430\u0439\u043B\u0438 \u0437\u0456 \u0441\u0442\u0430\u0440\u043E\u0457 \u0442\u0435\u043A\u0438",
      3,
    ],
  ])("finds what %s says in other words", async (question, expected) => {
    const { vectors } = await embedder.embed([question, ...TEXTS], request);
    const [asked, ...found] = vectors;
    const cosines = found.map((vector) =>
      [...(vector ?? [])].reduce((sum, value, at) => sum + value * (asked?.[at] ?? 0), 0),
    );
    expect(cosines.indexOf(Math.max(...cosines))).toBe(expected);
  });
});
