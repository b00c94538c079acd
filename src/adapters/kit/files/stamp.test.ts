import { expect, test } from "vitest";
import type { FileStamp } from "./stamp.ts";
import { isSameStamp, stampText, stampTextOf } from "./stamp.ts";

const FILE: FileStamp = { path: "/a", size: 10, mtime: 1000.25, inode: 7, device: 3 };

test.each(["size", "mtime", "inode", "device"] as const)(
  "a file with another %s is not the same",
  (field) => {
    const other = { ...FILE, [field]: FILE[field] + 0.5 };
    expect(isSameStamp(other, FILE)).toBe(false);
    expect(isSameStamp({ ...FILE }, FILE)).toBe(true);
    expect(stampTextOf(other)).not.toBe(stampTextOf(FILE));
    expect(stampText({ a: other, b: FILE })).not.toBe(stampText({ a: FILE, b: FILE }));
  },
);

test("two files that changed names are not the same, and their order does not matter", () => {
  const other = { ...FILE, inode: 8 };
  expect(stampText({ a: other, b: FILE })).not.toBe(stampText({ a: FILE, b: other }));
  expect(stampText({ b: FILE, a: other })).toBe(stampText({ a: other, b: FILE }));
});
