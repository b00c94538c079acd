/** Appends store each row once (spec.md#storage-append): killed, paused, lost answers, older ponds, many at once. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOTES, noteOf, onAppend, storeChild } from "../../../test/support/store-child.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { systemClock, type Clock } from "../../base/clock.ts";
import { APPEND_FROM } from "./append.ts";
import { BatchBuilder } from "../arrow/batch.ts";
import { schemaOf } from "../arrow/schema.ts";
import { Catalog } from "../catalog/catalog.ts";
import { defineTable, openStore, type Store, type Table } from "../index.ts";
import { loadLance } from "../engine/lance.ts";
import { isLocalDisk } from "../local/local-disk.ts";
import { joinWriterLock, WriterLock } from "../local/writer-lock.ts";
import { parseStorageUrl } from "../engine/storage-url.ts";
import { insert } from "../write/write.ts";

type Notes = Table<typeof NOTES>;

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);

async function offer(notes: Notes, numbers: readonly number[], box = "shared"): Promise<number> {
  const batch = notes.batch();
  for (const n of numbers) batch.add(noteOf(box, n));
  return (await notes.insert(batch.finish())).inserted;
}

/** Every stored row, doubled ones twice. */
async function stored(notes: Notes): Promise<number[]> {
  const rows = await notes.scan({ select: ["id"] });
  return upTo(rows.length)
    .map((row) => Number(rows.string("id", row)))
    .toSorted((a, b) => a - b);
}

/** Counts the appends of this process while it runs. */
async function countAppends(run: () => Promise<unknown>): Promise<number> {
  let appends = 0;
  const restore = onAppend((append) => {
    appends++;
    return append();
  });
  try {
    await run();
  } finally {
    restore();
  }
  return appends;
}

/** Waits cost no time: whoever waits for something that cannot come is told so at once. */
const hasty = (ahead = 0): Clock => {
  let slept = ahead;
  return {
    now: () => systemClock.now() + slept,
    sleep: (ms) => {
      slept += ms;
      return new Promise((done) => setImmediate(done));
    },
  };
};

const HOUR = 3_600_000;

describe("a table of a local disk", () => {
  test("is appended to while nothing of a batch is stored, and merged into otherwise", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    expect(await countAppends(() => offer(notes, upTo(10)))).toBe(1);
    expect(await countAppends(() => offer(notes, upTo(10, 10)))).toBe(1);
    expect(await countAppends(async () => expect(await offer(notes, upTo(10, 15))).toBe(5))).toBe(0);
    expect(await countAppends(async () => expect(await offer(notes, upTo(25))).toBe(0))).toBe(0);
    expect(await stored(notes)).toEqual(upTo(25));
    const rows = await notes.scan({ select: ["id"], withRowId: true });
    const blobs = await notes.fetchBlobs("data", rows.rowIds());
    expect(blobs.filter((blob) => blob?.length === 200)).toHaveLength(5);
  });

  test("is not looked through whole for a few rows of its largest group, and the one that is stored is found", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const KEYS = defineTable({
      name: "keys",
      version: 1,
      primaryKey: ["box", "id", "part"],
      columns: { box: { type: "utf8" }, id: { type: "utf8" }, part: { type: "utf8" } },
    });
    const keys = await store.table(KEYS);
    const add = async (numbers: readonly number[], part = "p"): Promise<number> => {
      const batch = keys.batch();
      for (const n of numbers) batch.add({ box: "a", id: `\0'${n}`, part });
      return (await keys.insert(batch.finish())).inserted;
    };
    await add(upTo(30_000));
    await using other = await openStore(dir.path, { freshnessMs: 1 });
    const late = await other.table(KEYS);
    const batch = late.batch();
    for (const n of upTo(1500, 29_999)) batch.add({ box: "a", id: `\0'${n}`, part: "p" });
    expect((await late.insert(batch.finish())).inserted).toBe(1499);
    expect(await countAppends(() => add(upTo(3), "q"))).toBe(1);
    expect(await add([2, 40_000], "q")).toBe(1);
    expect(await countAppends(() => add(upTo(200, 50_000)))).toBe(1);
    expect(await keys.count()).toBe(30_000 + 1499 + 4 + 200);
  });

  test("what this process appended to a group is all that is known of it, and only until others write", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    await using other = await openStore(dir.path, { freshnessMs: 1 });
    const [notes, others] = [await store.table(NOTES), await other.table(NOTES)];
    expect(await offer(notes, upTo(100), "a")).toBe(100);
    expect(await offer(notes, upTo(100, 50), "a")).toBe(50);
    expect(await offer(notes, upTo(100, 150), "a")).toBe(100);
    expect(await offer(notes, upTo(100, 200), "a")).toBe(50);
    expect(await offer(others, upTo(100, 300), "a")).toBe(100);
    expect(await offer(notes, upTo(100, 350), "a")).toBe(50);
    await offer(others, upTo(100), "b");
    expect(await offer(notes, upTo(100, 200), "b")).toBe(100);
    expect(await offer(notes, upTo(100, 50), "b")).toBe(50);
    expect(await offer(notes, upTo(100), "c")).toBe(100);
    expect(await offer(others, upTo(100, 100), "c")).toBe(100);
    expect(await offer(notes, upTo(100, 150), "c")).toBe(50);
    expect(await notes.count()).toBe(450 + 250 + 250);
  });

  test("an append whose answer was lost, or that failed, stores each row once and is not repeated", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    for (const [from, commits] of [
      [0, true],
      [10, false],
    ] as const) {
      let calls = 0;
      const restore = onAppend(async (append) => {
        calls++;
        if (commits) await append();
        throw new Error("Retryable commit conflict for version 2: preempted by concurrent transaction");
      });
      try {
        expect(await offer(notes, upTo(10, from))).toBe(10);
      } finally {
        restore();
      }
      expect(calls).toBe(1);
      expect(await stored(notes)).toEqual(upTo(from + 10));
    }
    expect(await offer(notes, upTo(21))).toBe(1);
  });

  test("any interleaving of batches and maintenance over two stores of one process stores the union", async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.uniqueArray(fc.nat(24), { minLength: 1, maxLength: 12 }) },
      { weight: 1, arbitrary: fc.constant("maintain" as const) },
    );
    const plan = fc.array(fc.tuple(fc.nat(1), step, fc.boolean()), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        await using dir = await tempDir();
        await using a = await openStore(dir.path);
        await using b = await openStore(dir.path, { freshnessMs: 1 });
        const tables = [await a.table(NOTES), await b.table(NOTES)];
        const results: Promise<unknown>[] = [];
        for (const [which, work, isAwaited] of steps) {
          const notes = tables[which] ?? tables[0]!;
          const result = work === "maintain" ? notes.maintain({ force: true }) : offer(notes, work);
          results.push(result);
          if (isAwaited) await result;
        }
        const inserted = (await Promise.all(results)).filter((each) => typeof each === "number");
        const union = new Set(steps.flatMap(([, work]) => (work === "maintain" ? [] : work)));
        expect(await stored(tables[0]!)).toEqual([...union].toSorted((x, y) => x - y));
        expect(inserted.reduce((sum, each) => sum + each, 0)).toBe(union.size);
      }),
      { numRuns: 25 },
    );
  });
});

describe("several processes", () => {
  test("killed at any time while they offer the same keys double and lose nothing", async () => {
    await using dir = await tempDir();
    const rounds = Number(process.env["POND_TEST_KILLS"] ?? 4);
    const acked = new Set<number>();
    for (let round = 0; round < rounds; round++) {
      const children = upTo(3).map((w) => {
        const batches = upTo(12).map((b) => upTo(40).filter((n) => (n * 7 + w + b) % 3 > 0));
        const moved = batches.map((batch, b) => batch.map((n) => n + 40 * (round * 4 + (b >> 2))));
        return { moved, child: storeChild({ kind: "offer", url: dir.path, batches: moved }) };
      });
      await Promise.all(
        children.map(async ({ child, moved }, w) => {
          let at = 0;
          for await (const line of child.lines) {
            if (!("inserted" in line)) continue;
            for (const n of moved[at++] ?? []) acked.add(n);
            // The last one ends by itself.
            if (w < 2 && at === 1 + ((round * 5 + w * 3) % 9)) child.process.kill("SIGKILL");
          }
          await child.exited;
        }),
      );
    }
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    const before = await stored(notes);
    expect(new Set(before).size).toBe(before.length);
    expect([...acked].filter((n) => !before.includes(n))).toEqual([]);
    const everything = upTo(rounds * 4 * 40);
    await offer(notes, everything);
    expect(await stored(notes)).toEqual(everything);
  });

  test.each([
    ["looked_up", 10],
    ["appended", 0],
  ] as const)("killed when it has %s: the next one stores what is missing", async (pauseAt, missing) => {
    await using dir = await tempDir();
    using child = storeChild({ kind: "offer", url: dir.path, batches: [upTo(10)], pauseAt });
    expect((await child.lines.next()).value).toEqual({ at: pauseAt });
    child.process.kill("SIGKILL");
    await child.exited;
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    expect(await offer(notes, upTo(10))).toBe(missing);
    expect(await stored(notes)).toEqual(upTo(10));
  });

  test("a stopped holder is named and never taken over, and its late append doubles nothing", async () => {
    await using dir = await tempDir();
    using child = storeChild({ kind: "offer", url: dir.path, batches: [upTo(10)], pauseAt: "looked_up" });
    await child.lines.next();
    child.process.kill("SIGSTOP");
    await using store = await openStore(dir.path, { clock: hasty() });
    const notes = await store.table(NOTES);
    const refused = offer(notes, upTo(20));
    await expect(refused).rejects.toMatchObject({ code: "conflict", reason: "busy" });
    await expect(refused).rejects.toThrow(
      process.platform === "linux" ? `process ${child.process.pid} has been writing` : "has been writing",
    );
    await expect(notes.maintain({ force: true })).rejects.toMatchObject({ code: "conflict" });
    expect(await stored(notes)).toEqual([]);
    child.process.kill("SIGCONT");
    child.process.stdin.write("go\n");
    expect((await child.lines.next()).value).toEqual({ inserted: 10 });
    await child.exited;
    expect(await offer(notes, upTo(20))).toBe(10);
    expect(await stored(notes)).toEqual(upTo(20));
  });

  test("one that cannot be alone merges, beside others that do", async () => {
    await using dir = await tempDir();
    await using store = await openStore(dir.path);
    const notes = await store.table(NOTES);
    await offer(notes, [0]);
    const lock = joinWriterLock(join(dir.path, "default", "notes.lance"));
    const appends = await lock.shared(systemClock, async () => {
      using child = storeChild({ kind: "offer", url: dir.path, batches: [upTo(10)], pauseAt: "looked_up" });
      // Had it appended, it would have stopped before it.
      expect((await child.lines.next()).value).toEqual({ inserted: 9 });
      await child.exited;
      return countAppends(() => offer(notes, upTo(12)));
    });
    lock.leave();
    expect(appends).toBe(0);
    expect(await stored(notes)).toEqual(upTo(12));
  });
});

describe("a table that an older pond made", () => {
  const NEWER = defineTable({ ...NOTES, version: 2 });

  async function makeOlder(path: string): Promise<void> {
    const lance = loadLance();
    const connection = await lance.lancedb.connect(join(path, "default"));
    const storageOptions = {
      new_table_enable_stable_row_ids: "true",
      new_table_data_storage_version: "2.2",
    };
    await connection.createEmptyTable("notes", schemaOf(lance, NOTES), { storageOptions });
  }

  async function openAs(url: string, ahead = 0): Promise<{ store: Store; notes: Notes }> {
    const store = await openStore(url, { clock: hasty(ahead) });
    return { store, notes: (await store.table(NEWER)) as unknown as Notes };
  }

  test("is merged into for a day after it was raised, beside older processes, then appended to", async () => {
    await using dir = await tempDir();
    await makeOlder(dir.path);
    const batches = upTo(10).map((b) => upTo(30).filter((n) => (n + b) % 4 > 0));
    using older = storeChild({ kind: "offer", url: dir.path, batches, older: true });
    await older.lines.next();
    const { store, notes } = await openAs(dir.path);
    const appends = await countAppends(async () => {
      for (const batch of batches) await offer(notes, batch);
      for await (const _ of older.lines) await offer(notes, upTo(30));
    });
    await older.exited;
    expect(appends).toBe(0);
    expect(await stored(notes)).toEqual(upTo(30));
    await using late = await openStore(dir.path);
    await expect(late.table(NOTES)).rejects.toMatchObject({ code: "version_unsupported" });
    store.close();
    for (const [hours, expected] of [
      [23, 0],
      [25, 1],
    ] as const) {
      const { store: again, notes: same } = await openAs(dir.path, hours * HOUR);
      expect(await countAppends(() => offer(same, [100 + hours]))).toBe(expected);
      again.close();
    }
  });

  test("is never appended to while its version is not raised", async () => {
    await using dir = await tempDir();
    await makeOlder(dir.path);
    await using store = await openStore(dir.path, { clock: hasty(100 * HOUR) });
    const notes = await store.table(NOTES);
    expect(await countAppends(() => offer(notes, upTo(5)))).toBe(0);
    expect(await stored(notes)).toEqual(upTo(5));
  });
});

test("one who writes from where the lock does not reach ends the appends of all others", async () => {
  await using dir = await tempDir();
  await using store = await openStore(dir.path);
  const notes = await store.table(NOTES);
  expect(await countAppends(() => offer(notes, [1]))).toBe(1);
  const far = await Catalog.open({
    url: parseStorageUrl(dir.path),
    namespace: "default",
    create: true,
    storageOptions: {},
    freshnessMs: 0,
    cacheBytes: { index: 1 << 20, metadata: 1 << 20 },
    policy: { clock: systemClock, random: Math.random, attempts: 3, baseMs: 1, capMs: 10 },
  });
  const handle = { ...(await far.table(NOTES)), lock: undefined };
  const builder = new BatchBuilder(handle.lance, NOTES);
  builder.add(noteOf("shared", 2));
  expect((await insert(handle, builder.finish())).inserted).toBe(1);
  const schema = await handle.native.schema();
  expect(schema.fields.find(({ name }) => name === "box")?.metadata.get(APPEND_FROM)).toBe("never");
  expect(await countAppends(() => offer(notes, [3]))).toBe(0);
  expect(await stored(notes)).toEqual([1, 2, 3]);
  far.close();
});

describe("the lock", () => {
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);

  test("is one for exclusive holders of any connection, and many for shared ones", async () => {
    await using dir = await tempDir();
    const path = join(dir.path, ".locks", "notes.sqlite");
    const [one, other] = [new WriterLock(path), new WriterLock(path)];
    await one.exclusive(systemClock, 0, async () => {
      expect(await other.exclusive(hasty(), 100, nothing)).toBeUndefined();
      await expect(other.shared(hasty(), nothing)).rejects.toMatchObject({ code: "conflict" });
    });
    await one.shared(systemClock, async () => {
      expect(await other.exclusive(hasty(), 100, nothing)).toBeUndefined();
      expect(await one.exclusive(hasty(), 100, nothing)).toBeUndefined();
      expect(await other.shared(hasty(), () => one.shared(hasty(), async () => "both"))).toBe("both");
    });
    expect(await other.exclusive(systemClock, 0, async () => "free")).toEqual({ value: "free" });
    await expect(one.exclusive(systemClock, 0, () => Promise.reject(new Error("mine")))).rejects.toThrow(
      "mine",
    );
    expect(await other.exclusive(systemClock, 0, async () => "free again")).toEqual({ value: "free again" });
  });

  test("does not wait for the one who holds it already", async () => {
    await using dir = await tempDir();
    const lock = new WriterLock(join(dir.path, ".locks", "notes.sqlite"));
    const within = (): Promise<string> => lock.shared(systemClock, async () => "within");
    expect(await lock.exclusive(systemClock, 0, within)).toEqual({ value: "within" });
    expect(await lock.shared(systemClock, within)).toBe("within");
  });

  test("is that of the file in its place, also after a copy of the store was put there", async () => {
    await using dir = await tempDir();
    const path = join(dir.path, ".locks", "notes.sqlite");
    const [one, other] = [new WriterLock(path), new WriterLock(path)];
    await one.exclusive(systemClock, 0, nothing);
    cpSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await other.exclusive(systemClock, 0, async () => {
      expect(await one.exclusive(hasty(), 10, nothing)).toBeUndefined();
    });
    rmSync(path);
    await one.exclusive(systemClock, 0, async () => {
      expect(await other.exclusive(hasty(), 10, nothing)).toBeUndefined();
    });
    expect(existsSync(path)).toBe(true);
  });

  test("that is damaged is said, with what to do", async () => {
    await using dir = await tempDir();
    const path = join(dir.path, ".locks", "notes.sqlite");
    await new WriterLock(path).exclusive(systemClock, 0, nothing);
    const bytes = readFileSync(path);
    const damaged = join(dir.path, ".locks", "other.sqlite");
    writeFileSync(damaged, bytes.fill(7, 0, 100));
    await expect(new WriterLock(damaged).exclusive(systemClock, 0, nothing)).rejects.toMatchObject({
      code: "storage_unavailable",
      reason: "corrupt",
      hint: expect.stringContaining(`delete ${damaged}`),
    });
  });

  test("is trusted on disks that are known to be local only", async () => {
    await using dir = await tempDir();
    expect(await isLocalDisk(join(dir.path, "none"))).toBe(false);
    if (process.platform === "linux") expect(await isLocalDisk("/proc")).toBe(false);
  });
});
