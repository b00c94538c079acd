/**
 * A last line without its newline was never stored unless it was one JSON object: not an array, not a line with a
 * repeated key or a bad byte, and not a month later. Once its file is settled it is data.
 */
import { appendFileSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../src/adapters/index.ts";
import { adapterNamed } from "../../src/adapters/index.ts";
import { compareFile, FileComparer } from "../../src/adapters/kit/restore/index.ts";
import { NOWHERE, listUnits, readUnit, restoreNative } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";

const HOUR = 3_600_000;
const WRITTEN = Date.UTC(2026, 10, 16);
const UUID = "01a1e1d6-0000-7000-8000-000000000001";
const TIME = "2026-11-16T00:00:00.000Z";

const CLIENTS = [
  {
    name: "claude-code",
    path: `-w/${UUID}.jsonl`,
    head: {
      type: "user",
      uuid: UUID,
      sessionId: UUID,
      cwd: "/w",
      timestamp: TIME,
      message: { role: "user", content: "hello" },
    },
  },
  {
    name: "codex-cli",
    path: `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${UUID}.jsonl`,
    head: { timestamp: TIME, type: "session_meta", payload: { id: UUID, timestamp: TIME, cwd: "/w" } },
  },
  {
    name: "pi",
    path: `--w--/2026-11-16T00-00-00-000Z_${UUID}.jsonl`,
    head: { type: "session", version: 3, id: UUID, timestamp: TIME, cwd: "/w" },
  },
] as const;

const TAILS = [
  { what: "an array", tail: Buffer.from("[1,2]"), issues: [] },
  { what: "a repeated key", tail: Buffer.from('{"a":1,"a":2}'), issues: ["duplicate_keys"] },
  { what: "a bad byte", tail: Buffer.from('{"a":"\xff"}', "latin1"), issues: ["invalid_utf8"] },
  { what: "half an object", tail: Buffer.from('{"type":"us'), issues: ["not_json"] },
] as const;

const cases = CLIENTS.flatMap((client) => TAILS.map((tail) => ({ ...client, ...tail })));

function write(file: string, ...pieces: readonly Uint8Array[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.concat(pieces));
  utimesSync(file, WRITTEN / 1000, WRITTEN / 1000);
}

async function readAt(
  adapter: Adapter,
  root: string,
  now: number,
  cursor?: Parameters<typeof readUnit>[2]["cursor"],
) {
  const { units } = await listUnits(adapter, root);
  return readUnit(adapter, units[0]!, { root, now, cursor });
}

describe.each(cases)("$name: $what at the end, without a newline,", ({ name, path, head, tail, issues }) => {
  const adapter = adapterNamed(name)!;
  const line = Buffer.from(`${JSON.stringify(head)}\n`);

  test("is looked at again until its file is settled, then stored, and restores", async () => {
    await using folder = await tempDir();
    const file = join(folder.path, path);
    write(file, line, tail);
    const young = await readAt(adapter, folder.path, WRITTEN + HOUR / 2);
    expect([young.issues, messagesOf(young.events)]).toEqual([[], 1]);
    // Not taken for fresh: nothing but time has to pass.
    expect(young.cursor?.files[path]?.mtime).not.toBe(statSync(file).mtimeMs);
    const old = await readAt(adapter, folder.path, WRITTEN + 30 * 24 * HOUR, young.cursor);
    expect([old.issues.map(({ kind }) => kind), messagesOf(old.events)]).toEqual([issues, 1]);
    expect(old.cursor?.files[path]).toMatchObject({ mtime: statSync(file).mtimeMs, offset: line.length });
    const whole = await readAt(adapter, folder.path, WRITTEN + 30 * 24 * HOUR);
    const [restored] = await restoreNative(adapter, whole.events);
    expect(await compareFile(restored!, file)).toEqual({ path, records: 2, equal: 2 });
  });

  test("is missed by a comparison once it should have been stored", async () => {
    await using folder = await tempDir();
    const file = join(folder.path, path);
    write(file, line, tail);
    const { events } = await readAt(adapter, folder.path, WRITTEN + HOUR / 2);
    const [restored] = await restoreNative(adapter, events);
    await using young = new FileComparer(NOWHERE.scratch, WRITTEN + HOUR / 2);
    expect(await young.compare(restored!, file)).toEqual({ path, records: 1, equal: 1 });
    await using old = new FileComparer(NOWHERE.scratch, WRITTEN + 2 * HOUR);
    expect(await old.compare(restored!, file)).toMatchObject({
      records: 2,
      equal: 1,
      difference: { record: 1 },
    });
  });

  test("is read again with what was written behind it", async () => {
    await using folder = await tempDir();
    const file = join(folder.path, path);
    write(file, line, tail);
    const old = await readAt(adapter, folder.path, WRITTEN + 2 * HOUR);
    appendFileSync(file, `more\n${JSON.stringify({ type: "later" })}\n`);
    const grown = await readAt(adapter, folder.path, WRITTEN + 4 * HOUR, old.cursor);
    expect(grown.issues).toMatchObject([{ line: 2, offset: line.length }]);
    expect(messagesOf(grown.events)).toBe(2);
    expect(grown.events.flatMap((event) => (event.kind === "message" ? [event.message.seq] : []))).toEqual([
      1, 2,
    ]);
  });
});

test("a rollout of nothing but lines that are no records is kept", async () => {
  await using folder = await tempDir();
  const { path } = CLIENTS[1];
  write(join(folder.path, path), Buffer.from("not json\n{"));
  const run = await readAt(adapterNamed("codex-cli")!, folder.path, WRITTEN + 2 * HOUR);
  expect(run.issues.map(({ kind }) => kind)).toEqual(["not_json", "not_json"]);
  const [restored] = await restoreNative(adapterNamed("codex-cli")!, run.events);
  expect(await compareFile(restored!, join(folder.path, path))).toMatchObject({ records: 2, equal: 2 });
});

const messagesOf = (events: readonly { readonly kind: string }[]): number =>
  events.filter(({ kind }) => kind === "message").length;
