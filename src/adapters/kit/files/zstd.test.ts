import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { SourceFile } from "./source-file.ts";
import type { ZstdFault } from "./zstd.ts";
import { readWholeZstd, readZstd } from "./zstd.ts";

const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const SKIPPED = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
/** Many blocks, as it does not compress to nothing. */
const LONG = Buffer.concat(
  Array.from({ length: 12_500 }, (_, index) => hash("sha256", String(index), "buffer")),
);

async function plainOf(...pieces: Uint8Array[]): Promise<{ plain: Buffer; fault: ZstdFault | undefined }> {
  await using folder = await tempDir();
  const path = join(folder.path, "f.zst");
  await writeFile(path, Buffer.concat(pieces));
  using file = SourceFile.open(path);
  const plain: Uint8Array[] = [];
  const reading = readZstd(file);
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { plain: Buffer.concat(plain), fault: next.value };
    plain.push(next.value);
  }
}

test.each([
  ["one frame", [zstdCompressSync("one")], "one"],
  [
    "several frames",
    [zstdCompressSync("one,"), zstdCompressSync("two,", checked), zstdCompressSync("3")],
    "one,two,3",
  ],
  [
    "frames to be skipped",
    [SKIPPED, zstdCompressSync("one,"), SKIPPED, zstdCompressSync("two"), SKIPPED],
    "one,two",
  ],
  ["frames of nothing", [zstdCompressSync(""), zstdCompressSync("a"), zstdCompressSync("")], "a"],
  [
    "one byte over and over",
    [zstdCompressSync("x".repeat(300_000)), zstdCompressSync("y")],
    `${"x".repeat(300_000)}y`,
  ],
])("%s are read to the end", async (_name, pieces, text) => {
  expect(await plainOf(...pieces)).toEqual({ plain: Buffer.from(text), fault: undefined });
});

test("a file of many blocks comes out as it went in", async () => {
  const { plain, fault } = await plainOf(zstdCompressSync(LONG, checked), zstdCompressSync(LONG));
  expect([plain.equals(Buffer.concat([LONG, LONG])), fault]).toEqual([true, undefined]);
});

test.each([
  ["garbage behind a frame", Buffer.from("garbage"), /not zstd-compressed/],
  ["two bytes behind a frame", Buffer.from([0x28, 0xb5]), /ends inside/],
  ["a frame that is cut", zstdCompressSync("two").subarray(0, 8), /ends inside/],
  ["a cut frame to be skipped", SKIPPED.subarray(0, -1), /ends inside/],
])("%s is a fault where it begins, and all before it is read", async (_name, rest, message) => {
  const first = zstdCompressSync("one", checked);
  const { plain, fault } = await plainOf(first, rest);
  expect(plain.toString()).toBe("one");
  expect(fault?.offset).toBeGreaterThanOrEqual(first.length);
  expect(fault?.message).toMatch(message);
});

test("a damaged block leaves the blocks before it, a wrong checksum all of them", async () => {
  const packed = zstdCompressSync(LONG, checked);
  const cut = await plainOf(packed.subarray(0, -2000));
  expect(cut.plain.length).toBeGreaterThan(100_000);
  expect(LONG.subarray(0, cut.plain.length).equals(cut.plain)).toBe(true);
  const last = packed.length - 1;
  packed[last] = (packed[last] ?? 0) ^ 1;
  const wrong = await plainOf(packed);
  expect([wrong.plain.equals(LONG), wrong.fault?.offset]).toEqual([true, last - 3]);
});

test("a file that is empty or something else has nothing to read, and says so", async () => {
  expect(await plainOf()).toMatchObject({ plain: Buffer.alloc(0), fault: { offset: 0 } });
  expect(await plainOf(Buffer.from("plain text"))).toMatchObject({ fault: { offset: 0 } });
});

test("a whole file is its bytes, or its fault", async () => {
  await using folder = await tempDir();
  const path = join(folder.path, "f.zst");
  await writeFile(path, Buffer.concat([zstdCompressSync("a"), zstdCompressSync("b")]));
  using whole = SourceFile.open(path);
  expect(await readWholeZstd(whole)).toEqual(Buffer.from("ab"));
});
