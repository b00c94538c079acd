/** Lines of the session index that no session can keep: they are kept in a session of the index. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  compareAll,
  LATER,
  listUnits,
  readUnit,
  restoreNative,
} from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { Cursor } from "../../kit/sources/index.ts";
import { codexCli } from "../index.ts";

const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const GONE = "01a1e1d6-0000-7000-8000-000000000002";
const TIME = "2026-11-16T00:00:00.000Z";
const INDEX = "session_index.jsonl";

const named = (id: string, thread_name: string): string =>
  `${JSON.stringify({ id, thread_name, updated_at: TIME })}\n`;

function home(root: string, index: string | Uint8Array): string {
  const rollout = join(root, `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`);
  mkdirSync(dirname(rollout), { recursive: true });
  const payload = { id: THREAD, timestamp: TIME, cwd: "/w" };
  writeFileSync(rollout, `${JSON.stringify({ timestamp: TIME, type: "session_meta", payload })}\n`);
  writeFileSync(join(root, INDEX), index);
  return join(root, INDEX);
}

async function readIndex(root: string, cursor?: Cursor, now = LATER) {
  const { units } = await listUnits(codexCli, root);
  const unit = units.find(({ key }) => key === INDEX)!;
  const run = await readUnit(codexCli, unit, { root, cursor, now });
  const sessions = run.events.flatMap((event) => (event.kind === "session" ? [event.session] : []));
  const own = sessions.find(({ id }) => id !== THREAD);
  const lines = run.events.filter(
    (event) => event.kind === "message" && event.message.session_id === own?.id,
  ).length;
  return { ...run, kinds: run.issues.map(({ kind, line }) => [kind, line]), sessions, own, lines };
}

describe("a session of the index", () => {
  test("is made where a line is no JSON, names no thread, or one whose rollout is gone, and restores the file", async () => {
    await using folder = await tempDir();
    const bad = Buffer.from("not \xff json\n", "latin1");
    const lines = [named(THREAD, "first"), '{"thread_name":"x"}\n', named(GONE, "gone"), "[1]\n", "{\n"];
    home(folder.path, Buffer.concat([...lines.map((line) => Buffer.from(line)), bad]));
    const run = await readIndex(folder.path);
    expect(run.own).toMatchObject({
      id: expect.stringMatching(/^session_index@[0-9a-f]{8}$/),
      project: basename(folder.path),
      source_agent: "codex-cli",
    });
    expect(run.lines).toBe(6);
    expect(run.kinds).toEqual([
      ["unexpected_shape", 2],
      ["unexpected_shape", 4],
      ["not_json", 5],
      ["invalid_utf8", 6],
    ]);
    const own = run.events.filter((event) => JSON.stringify(event).includes(run.own!.id));
    const files = await restoreNative(codexCli, own);
    expect(await compareAll(files, folder.path)).toEqual([{ path: INDEX, records: 6, equal: 6 }]);
  });

  test("is not made where every line names a session here", async () => {
    await using folder = await tempDir();
    home(folder.path, named(THREAD, "first") + named(THREAD, "second"));
    const run = await readIndex(folder.path);
    expect([run.sessions.map(({ id }) => id), run.issues]).toEqual([[THREAD], []]);
  });

  test("waits as long as a rollout may still come", async () => {
    await using folder = await tempDir();
    home(folder.path, named(GONE, "early"));
    const early = await readIndex(folder.path, undefined, Date.parse(TIME) + 60_000);
    expect([early.events, early.cursor]).toEqual([[], undefined]);
    expect((await readIndex(folder.path)).lines).toBe(1);
  });

  test("is gone on with, and tells its issues once", async () => {
    await using folder = await tempDir();
    const path = home(folder.path, `not json\n${named(THREAD, "first")}`);
    const first = await readIndex(folder.path);
    expect([first.lines, first.kinds]).toEqual([2, [["not_json", 1]]]);
    appendFileSync(path, named(THREAD, "second"));
    const grown = await readIndex(folder.path, first.cursor);
    expect([grown.own?.id, grown.lines, grown.kinds]).toEqual([first.own?.id, 1, []]);
    const seqs = grown.events.flatMap((event) =>
      event.kind === "message" && event.message.session_id === first.own?.id ? [event.message.seq] : [],
    );
    expect(seqs).toEqual([2]);
    expect((await readIndex(folder.path, grown.cursor)).events).toEqual([]);
  });
});
