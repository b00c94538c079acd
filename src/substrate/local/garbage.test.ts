/** Killed work leaves nothing behind, and what it left causes no work (spec.md#storage-no-garbage). */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { NOTES, noteOf, type StoreChild, storeChild } from "../../../test/support/store-child.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { systemClock } from "../../base/clock.ts";
import { openStore, type Table } from "../index.ts";
import { joinWriterLock } from "./writer-lock.ts";

const HOUR = 3_600_000;
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);
const insert = (notes: Table<typeof NOTES>, numbers: readonly number[]): Promise<unknown> =>
  notes.insertRows(numbers.map((n) => noteOf("a", n)));

function filesIn(table: string): string[] {
  return readdirSync(table, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(table.length + 1));
}

/** Told without pond's own reader: names and ids stand in a manifest as bytes. */
function unneeded(table: string): string[] {
  const files = filesIn(table);
  const manifests = files
    .filter((path) => path.endsWith(".manifest"))
    .map((path) => readFileSync(join(table, path)));
  return files.filter((path) => {
    const [folder = "", entry = ""] = path.split("/");
    if (basename(path).startsWith(".tmp")) return true;
    if (!["data", "_indices", "_deletions", "_transactions"].includes(folder)) return false;
    if (folder === "_deletions") return false;
    const name = folder === "_indices" ? Buffer.from(entry.replaceAll("-", ""), "hex") : entry;
    return !manifests.some((bytes) => bytes.includes(name));
  });
}

/** As if an hour had passed. */
function ageVersions(table: string, ageMs: number): void {
  const at = (systemClock.now() - ageMs) / 1000;
  for (const path of filesIn(table)) utimesSync(join(table, path), at, at);
}

/** What a killed process can leave: a half written file, a file and an index that were never committed. */
function leaveBehind(table: string): readonly string[] {
  const index = join("_indices", "12345678-1234-4123-8123-123456789abc");
  mkdirSync(join(table, index));
  mkdirSync(join(table, "data", "0123orphan"));
  const [built] = readdirSync(join(table, "_indices"));
  const left = [
    join("data", ".tmpAbC123"),
    join("data", "0123orphan.lance"),
    join("data", "0123orphan", "blob.bin"),
    join(index, "page_data.lance"),
    join("_indices", built ?? "", ".tmpXyZ987"),
    join("_transactions", "9-12345678-1234-4123-8123-123456789abc.txn"),
  ];
  for (const path of left) writeFileSync(join(table, path), "left");
  return left;
}

/** Writes and maintains in a process of its own, which is killed as soon as a file appears in a folder of the table. */
async function killAtFile(url: string, folder: string, from: number): Promise<number> {
  // Large batches: between the first file and the commit there is time to be killed.
  using child = storeChild({ kind: "write", url, box: "a", from, size: 70 });
  let acked = from;
  for await (const line of child.lines) {
    if (acked === from) killOnChange(folder, child);
    acked = Number(line["acked"]);
  }
  await child.exited;
  return acked;
}

function killOnChange(folder: string, child: StoreChild): void {
  const watcher = watch(folder, () => child.process.kill("SIGKILL"));
  void child.exited.then(() => watcher.close());
}

test(
  "kills in the middle of writing and maintenance leave no file that no version needs",
  { timeout: 300_000 },
  async () => {
    await using dir = await tempDir();
    const table = join(dir.path, "default", "notes.lance");
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await insert(notes, upTo(7, 900_000));
    // A kill that comes after the commit leaves nothing to clean up: only the others count.
    const folders = ["data", "_indices", "_indices"];
    for (let from = 0; folders.length > 0;) {
      const [folder = ""] = folders;
      from = await killAtFile(dir.path, join(table, folder), from);
      if (!unneeded(table).some((path) => path.startsWith(folder))) continue;
      folders.shift();
      await insert(notes, [999_000 + from]);
      expect(await notes.maintain({ retentionMs: 0 })).toMatchObject({ table: "notes" });
      expect(unneeded(table)).toEqual([]);
    }
    const rows = await notes.scan({ select: ["id", "data"], withRowId: true });
    const blobs = await notes.fetchBlobs("data", rows.rowIds());
    expect(blobs).toHaveLength(await notes.count());
  },
);

test("garbage makes no compaction due and goes with the next maintenance, whoever left it", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  const table = join(dir.path, "default", "notes.lance");
  await insert(notes, upTo(20));
  await insert(notes, upTo(20, 20));
  await notes.maintain();
  const left = leaveBehind(table);
  for (const path of left) truncateSync(join(table, path), 200_000_000);
  ageVersions(table, 2 * HOUR);
  await insert(notes, [40]);
  const { facts, due } = await notes.health();
  expect(facts.staleVersions).toBeGreaterThan(0);
  expect(facts.deadBytes).toBeLessThan(10_000_000);
  expect(due).toEqual([]);
  const report = await notes.maintain();
  expect(report.done).toEqual([]);
  expect(report.bytesRemoved).toBeGreaterThan(left.length * 200_000_000);
  expect(left.filter((path) => existsSync(join(table, path)))).toEqual([]);
  expect(existsSync(join(table, "data", "0123orphan"))).toBe(false);
  expect(unneeded(table)).toEqual([]);
  // The versions past retention went without a compaction; the newest and what is younger stay.
  expect((await notes.health()).facts.staleVersions).toBe(0);
  await using again = await openStore(dir.path, { freshnessMs: 1 });
  expect(await (await again.table(NOTES)).count()).toBe(41);
});

test("while others write, or a manifest is not understood, nothing that could be theirs is removed", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  const table = join(dir.path, "default", "notes.lance");
  await insert(notes, upTo(5));
  await insert(notes, [5]);
  const left = leaveBehind(table);
  const there = (): string[] => left.filter((path) => existsSync(join(table, path)));
  const lock = joinWriterLock(table);
  await lock.shared(systemClock, () => notes.maintain({ retentionMs: 0 }));
  lock.leave();
  expect(there()).toEqual(left);
  // The oldest, which nobody reads; names count down.
  const oldest = readdirSync(join(table, "_versions"))
    .filter((name) => name.endsWith(".manifest"))
    .toSorted()
    .at(-1);
  writeFileSync(join(table, "_versions", oldest ?? ""), "not a manifest");
  await notes.maintain({ retentionMs: 24 * 365 * 100 * HOUR });
  expect(there()).toEqual(left.filter((path) => !basename(path).startsWith(".tmp")));
});

test("copies of manifests go with their versions, drafts of checksums a day later", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  const sums = join(dir.path, "default", "notes.lance", "_sums");
  // While there are hardly two versions each has a copy.
  await insert(notes, upTo(5));
  for (let n = 5; n < 9; n++) await insert(notes, [n]);
  const [old, young] = [join(sums, "files.log.1.new"), join(sums, "2.new")];
  for (const draft of [old, young]) writeFileSync(draft, "");
  utimesSync(old, 1, 1);
  expect(readdirSync(sums).filter((name) => name.endsWith(".manifest"))).not.toEqual([]);
  await notes.maintain({ retentionMs: 0 });
  const versions = readdirSync(join(sums, "../_versions"));
  const copies = readdirSync(sums).filter((name) => name.endsWith(".manifest"));
  expect(copies.filter((name) => !versions.includes(name))).toEqual([]);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});

test("what was killed before it committed is found where a table has one version, too", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  const table = join(dir.path, "default", "notes.lance");
  await insert(notes, upTo(5));
  for (let n = 0; filesIn(join(table, "_versions")).length > 2; n++) {
    await notes.maintain({ retentionMs: 0 });
    expect(n).toBeLessThan(5);
  }
  const left = leaveBehind(table).filter((path) => !basename(path).startsWith(".tmp"));
  const empty = join("_indices", "22345678-1234-4123-8123-123456789abc");
  mkdirSync(join(table, empty));
  for (const path of filesIn(table)) if (basename(path).startsWith(".tmp")) rmSync(join(table, path));
  await notes.maintain();
  expect([...left, empty].filter((path) => existsSync(join(table, path)))).toEqual([]);
});
