/** What an import makes of a source that fails, and what it leaves behind when the store does. */
import { expect, test } from "vitest";
import { refusing } from "../../../test/support/refusing-table.ts";
import { tempStore } from "../../../test/support/temp-store.ts";
import type { Adapter, AdapterYield, OpenedPlace } from "../../adapters/index.ts";
import { systemClock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json/json.ts";
import type { IngestTables } from "../../sessions/ingest/index.ts";
import { ingestTables } from "../../sessions/ingest/index.ts";
import type { ImportOutcome } from "./outcome.ts";
import type { ImportHost, ImportSettings, ImportTask } from "./importer.ts";
import { runImporter } from "./importer.ts";

interface Run {
  readonly outcome: Promise<ImportOutcome>;
  /** The sources that were read to their end and stored. */
  readonly reached: readonly string[];
  readonly opened: readonly string[];
}

/** Each source is a session of its own name, and goes on with another one; `read` may tell more of that, or throw. */
function importOf(
  tables: IngestTables,
  {
    sources,
    read,
    ...host
  }: { sources: readonly string[]; read?: (key: string) => readonly unknown[] } & Partial<ImportHost>,
): Run {
  const opened: string[] = [];
  const adapter = { name: "test" } as unknown as Adapter;
  const place = {
    place: { path: "/srv/logs" },
    // oxlint-disable-next-line typescript/require-await -- a source that never waits
    async *read({ key }: { readonly key: string }) {
      opened.push(key);
      const more = read?.(key) ?? [];
      const session = { id: key, source_agent: "test", created_at: 0, project: "/project", options: {} };
      yield [
        { kind: "session", session },
        { kind: "checkpoint", cursor: { files: {} } },
        { kind: "session", session: { ...session, id: "other" } },
        ...more,
      ] as unknown as AdapterYield[];
    },
  } as unknown as OpenedPlace;
  const lots = [
    sources.map(
      (key, order) =>
        ({
          order,
          unit: { key, files: [] },
          opened: place,
          bytes: 0,
        }) as unknown as ImportTask,
    ),
  ];
  const reached: string[] = [];
  const limits = { rows: 2, bytes: 1e6 };
  const settings = { adapter, reader: "reader", limits, clock: systemClock, signal: AbortSignal.any([]) };
  const outcome = runImporter(settings as unknown as ImportSettings, {
    tables,
    stored: () => Promise.resolve(new Map()),
    restored: () => Promise.resolve([]),
    restoredLists: () => Promise.resolve([]),
    prefix: () => undefined,
    next: () => lots.pop() ?? [],
    reached: (some) => {
      reached.push(...some.map(({ source }) => source.key));
    },
    done: () => undefined,
    ...host,
  });
  return { outcome, reached, opened };
}

const gone = new PondError("storage_unavailable", "the disk is gone");

test("a failure is told when nothing is under way any more, and what is durable by then is reached", async () => {
  await using store = await tempStore();
  const { outcome, reached } = importOf(ingestTables(store.sessions.tables), {
    sources: ["first", "second"],
    read: (key) => {
      if (key === "second") throw gone;
      return [];
    },
  });
  await expect(outcome).rejects.toBe(gone);
  expect(reached).toEqual(["first"]);
});

test("what the system refuses a reader is its source's fault, and the others go on", async () => {
  await using store = await tempStore();
  const { outcome, reached } = importOf(ingestTables(store.sessions.tables), {
    sources: ["first", "second", "third"],
    read: (key) => {
      if (key === "second") throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
      return [];
    },
  });
  expect(await outcome).toMatchObject({
    read: 2,
    issues: { unreadable: 1 },
    examples: [{ order: 1, issue: { path: "second", message: "EACCES: permission denied" } }],
  });
  expect(reached).toEqual(["first", "third"]);
});

test("a message that no row can hold is the fault of its source, also where that is not read to its end", async () => {
  await using store = await tempStore();
  const message = { id: "m", session_id: "other", timestamp: 0, role: "user", options: {} };
  const tables = ingestTables(store.sessions.tables);
  const messages = refusing(tables.messages, ({ id }) => id === "m");
  const { outcome, reached } = importOf(
    { ...tables, messages },
    {
      sources: ["first", "second"],
      read: (key) => (key === "first" ? [{ kind: "message", message }] : []),
    },
  );
  expect(await outcome).toMatchObject({
    read: 1,
    issues: { unreadable: 1 },
    examples: [{ order: 0, issue: { path: "first" } }],
  });
  expect(reached).toEqual(["first", "second"]);
});

test("a store that fails ends the import with its error, whatever that is, and no further source is read", async () => {
  await using store = await tempStore();
  const tables = ingestTables(store.sessions.tables);
  const broken = new PondError("internal", "the engine is at a loss");
  const sources = Array.from({ length: 50 }, (_, index) => `source ${index}`);
  const { outcome, reached, opened } = importOf(
    { ...tables, labelsOf: () => Promise.reject(broken) },
    { sources },
  );
  await expect(outcome).rejects.toBe(broken);
  expect(reached).toEqual([]);
  expect(opened.length).toBeLessThan(10);
});

test("a cursor that cannot be kept ends the import with its error", async () => {
  await using store = await tempStore();
  const full = new PondError("storage_unavailable", "the disk is full", { reason: "disk_full" });
  const { outcome } = importOf(ingestTables(store.sessions.tables), {
    sources: ["first"],
    reached: () => Promise.reject(full),
  });
  await expect(outcome).rejects.toBe(full);
});

test("a source whose state could not be recorded is read again, and only then is its cursor moved", async () => {
  await using store = await tempStore();
  const state = { path: "/srv/logs/a", key: "a", form: "log", kept: 0, present: [], isWhole: true };
  const item = {
    kind: "state",
    session: "other",
    state: { ...state, records: 0, digest: "none", side: "" },
  };
  let reads = 0;
  const cursors: unknown[] = [];
  const { outcome, opened } = importOf(ingestTables(store.sessions.tables), {
    sources: ["a"],
    read: () => {
      reads += 1;
      // Of two states of one source in one commit the second cannot be recorded.
      const states = reads === 1 ? [item, item] : [item];
      return [...states, { kind: "checkpoint", cursor: { files: {}, state: `read ${reads}` } }];
    },
    reached: (some) => {
      for (const { cursor } of some)
        if (isJsonObject(cursor) && "state" in cursor) cursors.push(cursor["state"]);
    },
  });
  expect(await outcome).toMatchObject({ read: 1, issues: {} });
  expect(opened).toEqual(["a", "a"]);
  expect(cursors).toEqual(["read 2"]);
});
