/** An import in several threads leaves what an import in one leaves, and stops and fails as that does. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { isPondError, PondError } from "../../src/base/errors.ts";
import { answerCalls, remoteCalls } from "../../src/base/thread-calls.ts";
import type { Context } from "../../src/handlers/index.ts";
import { runPool } from "../../src/handlers/import/pool.ts";
import { sync } from "../../src/handlers/index.ts";
import { sweepSources } from "../../src/handlers/sources/sweep.ts";
import { ingestTables } from "../../src/sessions/ingest/index.ts";
import type { ColumnsOf, Table, TableSpec } from "../../src/substrate/index.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { ClientReport } from "../../src/wire/sync.ts";

/** Enough for two threads: a source weighs 20 KB beside its bytes. */
const SOURCES = 850;
const threads = (n: number) => ({ POND_SYNC_THREADS: String(n) });

function writeSources(folder: string): void {
  mkdirSync(join(folder, "-home-me-app"), { recursive: true });
  for (let n = 0; n < SOURCES; n++) {
    const sessionId = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const lines = [0, 1, 2].map((at) =>
      JSON.stringify({
        type: "user",
        uuid: `${sessionId}-${at}`,
        sessionId,
        cwd: "/home/me/app",
        timestamp: new Date(Date.UTC(2026, 0, 1) + n * 60_000 + at).toISOString(),
        message: { role: "user", content: `message ${at} of ${n} ${"x".repeat((n * 37) % 4000)}` },
      }),
    );
    if (n % 300 === 7) lines.splice(1, 0, `{"broken ${n}`);
    writeFileSync(join(folder, "-home-me-app", `${sessionId}.jsonl`), `${lines.join("\n")}\n`);
  }
}

async function importAll(context: Context, folder: string): Promise<ClientReport> {
  const request = { adapters: ["claude-code"], paths: [folder], stages: ["import"] as const };
  return (await sync(context, request)).clients[0]!;
}

/** The texts of every row in the order of its key, without when it was stored. */
async function rowsOf(context: Context): Promise<readonly string[]> {
  const { sessions, messages, parts } = (await context.store()).tables;
  return [
    ...(await texts(sessions, ["id", "source_agent", "project", "options"])),
    ...(await texts(messages, ["session_id", "id", "source_agent", "project", "search_text", "options"])),
    ...(await texts(parts, ["session_id", "message_id", "id", "type", "variant_data", "options"])),
  ].toSorted();
}

async function texts<S extends TableSpec>(
  table: Table<S>,
  select: readonly ColumnsOf<S, "utf8">[],
): Promise<readonly string[]> {
  const rows = await table.scan({ select });
  return Array.from({ length: rows.length }, (_, row) =>
    select.map((column) => rows.stringOrNull(column, row)).join("\t"),
  );
}

test("threads leave the same rows, counts, first issues and cursors as one", async () => {
  await using folder = await tempDir();
  writeSources(folder.path);
  await using alone = await tempContext({ env: threads(1) });
  await using together = await tempContext({ env: threads(2) });
  const expected = await importAll(alone.context, folder.path);
  const { stored, ...report } = await importAll(together.context, folder.path);
  expect({ ...report, stored: { ...stored, commits: 0 } }).toEqual({
    ...expected,
    stored: { ...expected.stored, commits: 0 },
  });
  expect(report).toMatchObject({ read: SOURCES, issues: { not_json: 3 } });
  expect(await rowsOf(together.context)).toEqual(await rowsOf(alone.context));
  expect(await importAll(together.context, folder.path)).toMatchObject({ fresh: SOURCES, read: 0 });
});

test("a stop in the middle keeps what was committed, and the next import completes it", async () => {
  await using folder = await tempDir();
  writeSources(folder.path);
  const stopping = new AbortController();
  const env = { ...threads(2), POND_SYNC_BATCH_ROWS: "1000" };
  await using temp = await tempContext({ env, signal: stopping.signal });
  const request = { adapters: ["claude-code"], paths: [folder.path], stages: ["import"] as const };
  const stopped = await sync(temp.context, request, {
    onProgress: ({ files_done }) => files_done === 300 && stopping.abort(),
  });
  expect(stopped.interrupted).toBe(true);
  expect(stopped.clients[0]!.stored.sessions.inserted).toBeLessThan(SOURCES);
  await using again = await tempContext({ env: { ...env, POND_STORE: `${temp.home}/store` } });
  const { stored } = await importAll(again.context, folder.path);
  expect(stored.sessions.inserted + stopped.clients[0]!.stored.sessions.inserted).toBe(SOURCES);
});

const full = new PondError("storage_unavailable", "the disk is full", {
  reason: "disk_full",
  hint: "free some",
});

/** A pool of two threads over the sources of the folder; `host` in place of what the import has there. */
async function runTwo(
  { context }: { readonly context: Context },
  folder: string,
  host: Partial<Parameters<typeof runPool>[2]>,
): Promise<void> {
  const store = await context.store();
  const filter = { adapters: ["claude-code"], paths: [folder] };
  await using swept = await sweepSources(context, filter, undefined);
  const [sweep] = swept.clients;
  const tasks = sweep!.stale.map((source, order) => ({ ...source, order, unread: source.bytes }));
  const { machine } = context;
  const order = {
    adapter: "claude-code",
    reader: "reader",
    machine: { ...machine, env: { ...machine.env } },
    places: sweep!.places.map(({ place }) => place),
    limits: { rows: 500, bytes: 1e6 },
    isDoubtful: false,
  };
  await runPool(
    ingestTables(store.tables),
    { threads: 2, order, tasks, signal: context.signal },
    {
      stored: store.storedHashes.bind(store),
      restored: () => Promise.resolve([]),
      restoredLists: () => Promise.resolve([]),
      prefix: () => undefined,
      reached: () => undefined,
      done: () => undefined,
      ...host,
    },
  );
}

test("the store failing in one thread ends the import with its error, when nothing is under way in any", async () => {
  await using folder = await tempDir();
  writeSources(folder.path);
  await using temp = await tempContext();
  const { messages, parts } = (await temp.context.store()).tables;
  const insertMessages = messages.insert.bind(messages);
  const insertParts = parts.insert.bind(parts);
  const failed = Promise.withResolvers<void>();
  let written = 0;
  let underWay = 0;
  vi.spyOn(messages, "insert").mockImplementation((batch) => {
    if (++written < 2) return insertMessages(batch);
    failed.resolve();
    return Promise.reject(full);
  });
  let begun = 0;
  vi.spyOn(parts, "insert").mockImplementation(async (batch) => {
    underWay += 1;
    if (++begun > 2) {
      await failed.promise;
      // Long enough for who does not wait to be gone.
      for (let turn = 0; turn < 2000; turn++) await setImmediate();
    }
    const inserted = await insertParts(batch);
    underWay -= 1;
    return inserted;
  });
  const run = runTwo(temp, folder.path, {});
  await expect(run).rejects.toSatisfy(isPondError);
  expect(underWay).toBe(0);
  await expect(run).rejects.toMatchObject({ reason: "disk_full", hint: "free some" });
});

test("a cursor that cannot be kept, or news that cannot be told, ends an import in threads with its error", async () => {
  await using folder = await tempDir();
  writeSources(folder.path);
  await using temp = await tempContext();
  const fail = (): void => {
    throw full;
  };
  const isFull = (error: unknown): boolean => isPondError(error) && error.reason === "disk_full";
  await expect(runTwo(temp, folder.path, { reached: fail })).rejects.toSatisfy(isFull);
  await expect(runTwo(temp, folder.path, { done: fail })).rejects.toSatisfy(isFull);
});

test("logs that grew are no work for threads by what was read of them before", async () => {
  await using folder = await tempDir();
  mkdirSync(join(folder.path, "-home-me-app"), { recursive: true });
  const logs = ["1", "2"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const grow = (lines: number, length: number): void => {
    for (const sessionId of logs)
      for (let at = 0; at < lines; at++) {
        const message = { role: "user", content: "x".repeat(length) };
        const record = {
          type: "user",
          sessionId,
          cwd: "/home/me/app",
          timestamp: "2026-01-01T00:00:00Z",
          message,
        };
        appendFileSync(
          join(folder.path, "-home-me-app", `${sessionId}.jsonl`),
          `${JSON.stringify(record)}\n`,
        );
      }
  };
  await using temp = await tempContext({ env: threads(2) });
  let started = 0;
  const count = (): unknown => (started += 1);
  process.on("worker", count);
  try {
    grow(9, 1_000_000);
    expect(await importAll(temp.context, folder.path)).toMatchObject({
      stored: { messages: { inserted: 18 } },
    });
    expect(started).toBe(2);
    grow(1, 10);
    expect(await importAll(temp.context, folder.path)).toMatchObject({
      stored: { messages: { inserted: 2 } },
    });
    expect(started).toBe(2);
  } finally {
    process.off("worker", count);
  }
});

test("what is asked of another thread comes back as it was answered, errors and all", async () => {
  const { port1, port2 } = new MessageChannel();
  answerCalls(port1, {
    insert: () => {
      throw full;
    },
    twice: (n: number) => Promise.resolve(n * 2),
    unsendable: () => () => undefined,
  });
  const calls = remoteCalls<{
    insert: (batch: ArrayBuffer) => number;
    twice: (n: number) => number;
    unsendable: (nothing: undefined) => unknown;
  }>(port2);
  await expect(calls.insert(new ArrayBuffer(8))).rejects.toMatchObject({
    code: "storage_unavailable",
    message: "the disk is full",
    reason: "disk_full",
    hint: "free some",
  });
  expect(await Promise.all([calls.twice(1), calls.twice(2)])).toEqual([2, 4]);
  await expect(calls.unsendable(undefined)).rejects.toMatchObject({ code: "internal" });
  port1.close();
});
