/** Rollouts as they are compressed: read to the end of the file, whatever frames it is made of. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { compareAll, readFolder, restoreNative } from "../../../test/support/adapter-run.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { describeDifference } from "../kit/restore/index.ts";
import { codexCli } from "./index.ts";

const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const PATH = `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`;

const meta = {
  timestamp: "2026-11-16T00:00:00.000Z",
  type: "session_meta",
  payload: { id: THREAD, timestamp: "2026-11-16T00:00:00.000Z", cwd: "/w", source: "cli" },
};
const said = (text: string) => ({
  timestamp: "2026-11-16T00:00:01.000Z",
  type: "response_item",
  payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
});
const frame = (...records: readonly object[]) =>
  zstdCompressSync(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
const SKIPPED = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);

function write(root: string, ...pieces: Uint8Array[]): string {
  const file = join(root, `${PATH}.zst`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.concat(pieces));
  return file;
}

async function readAndCompare(root: string, file: string) {
  const [run] = await readFolder(codexCli, root);
  const [restored] = await restoreNative(codexCli, run?.events ?? []);
  const [comparison] = await compareAll(
    restored === undefined ? [] : [{ ...restored, path: `${PATH}.zst` }],
    root,
  );
  const messages = run?.events.filter(({ kind }) => kind === "message").length;
  const issues = run?.issues.map(({ kind, path, offset }) => [kind, path === file, offset]);
  return { run, messages, issues, comparison };
}

test("a zst of several frames is read to its end", async () => {
  await using folder = await tempDir();
  const file = write(folder.path, SKIPPED, frame(meta), frame(said("one")), SKIPPED, frame(said("two")));
  const { messages, issues, comparison } = await readAndCompare(folder.path, file);
  expect([messages, issues]).toEqual([3, []]);
  expect(comparison).toEqual({ path: `${PATH}.zst`, records: 3, equal: 3 });
});

test("what stands behind a frame and is none is an issue with its place, and all before it is stored", async () => {
  await using folder = await tempDir();
  const frames = [frame(meta), frame(said("one"))];
  const file = write(folder.path, ...frames, Buffer.from("garbage"));
  const offset = Buffer.concat(frames).length;
  const { messages, issues, comparison, run } = await readAndCompare(folder.path, file);
  expect([messages, issues]).toEqual([2, [["unreadable", true, offset]]]);
  expect(comparison).toMatchObject({ records: 2, equal: 2, difference: { record: 2 } });
  expect(describeDifference(comparison!)).toMatch(`not zstd-compressed data at byte ${offset}`);
  // It is looked at again each time: what could not be read is not done with.
  expect(run?.cursor?.files[PATH]?.mtime).toBe(-1);
});

test("a frame that is cut is read up to there", async () => {
  await using folder = await tempDir();
  const file = write(folder.path, frame(meta), frame(said("one")), frame(said("two")).subarray(0, 20));
  const { messages, issues } = await readAndCompare(folder.path, file);
  expect(messages).toBe(2);
  expect(issues).toMatchObject([["unreadable", true, expect.any(Number)]]);
});
