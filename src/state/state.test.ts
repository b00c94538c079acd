import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { appendLog, readLog, rewriteLog } from "../base/files/append-log.ts";
import { systemClock } from "../base/clock.ts";
import { acquireLock } from "./lock.ts";
import { Cursors } from "./cursors.ts";
import { LineHeads } from "./line-heads.ts";
import { lostPath, lostSources, rememberLost } from "./lost.ts";
import { knownCursors, rememberStore } from "./stores.ts";

describe("an append log", () => {
  test("a torn tail is not read and is gone after the next append; a damaged line costs itself", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, "deep/log.jsonl");
    appendLog(path, [{ a: 1 }, "two"]);
    appendFileSync(path, '{"torn":');
    expect(readLog(path)).toMatchObject({ values: [{ a: 1 }, "two"], damaged: 0 });
    appendLog(path, [3]);
    expect(readFileSync(path, "utf8")).toBe('{"a":1}\n"two"\n3\n');
    appendFileSync(path, "not json\n4\n");
    expect(readLog(path)).toMatchObject({ values: [{ a: 1 }, "two", 3, 4], damaged: 1 });
    rewriteLog(path, [5]);
    expect(readFileSync(path, "utf8")).toBe("5\n");
  });
});

describe("cursors", () => {
  const source = (key: string) => ({ adapter: "a", root: "/r", key });

  test("survive a new process, the newest of a source wins, stores are apart", async () => {
    await using folder = await tempDir();
    const cursors = Cursors.open(folder.path, "one");
    cursors.advance(
      [
        { source: source("x"), stamp: "1", cursor: { n: 1 } },
        { source: source("y"), stamp: "2", cursor: { n: 2 } },
      ],
      "00ff",
    );
    cursors.advance([{ source: source("x"), stamp: "3", cursor: { n: 3 } }], "00ff");
    const again = Cursors.open(folder.path, "one");
    expect([again.get(source("x")), again.get(source("y")), again.size]).toEqual([{ n: 3 }, { n: 2 }, 2]);
    expect(Cursors.open(folder.path, "two").size).toBe(0);
  });

  test("a source is fresh while its stamp is the one that was committed last", async () => {
    await using folder = await tempDir();
    const cursors = Cursors.open(folder.path, "one");
    cursors.advance([{ source: source("x"), stamp: "1 5 7.25", cursor: null }], "00ff");
    cursors.advance([{ source: source("x"), stamp: "1 6 7.5", cursor: null }], "00ff");
    for (const opened of [cursors, Cursors.open(folder.path, "one")]) {
      const fresh = ["1 6 7.5", "1 5 7.25", "1 6 7", "1 6 7.55", ""].map((stamp) =>
        opened.isFresh(source("x"), stamp),
      );
      expect(fresh).toEqual([true, false, false, false, false]);
      expect(opened.isFresh(source("y"), "1 6 7.5")).toBe(false);
    }
  });

  test("are current until someone else writes", async () => {
    await using folder = await tempDir();
    const nothing = Cursors.open(folder.path, "one");
    expect(nothing.isCurrent()).toBe(true);
    Cursors.open(folder.path, "one").advance([{ source: source("x"), stamp: "1", cursor: null }], "00ff");
    expect(nothing.isCurrent()).toBe(false);
    const opened = Cursors.open(folder.path, "one");
    expect(opened.isCurrent()).toBe(true);
    Cursors.open(folder.path, "one").advance([{ source: source("x"), stamp: "2", cursor: null }], "00ff");
    expect(opened.isCurrent()).toBe(false);
  });

  test("any name is told from any other, whatever stands in it", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom('"', ",", "\\", "{", "[", "1", "\n", "\ud800"), { maxLength: 6 })
        .map((all) => all.join("")),
    );
    const names = fc.uniqueArray(fc.record({ adapter: part, root: part, key: part }), {
      selector: (name) => JSON.stringify(name),
      maxLength: 12,
    });
    await using folder = await tempDir();
    let run = 0;
    fc.assert(
      fc.property(names, (sources) => {
        run += 1;
        const updates = sources.map((name, n) => ({ source: name, stamp: `${n}`, cursor: { n } }));
        Cursors.open(folder.path, `${run}`).advance(updates, "00ff");
        const again = Cursors.open(folder.path, `${run}`);
        expect([again.size, again.damaged]).toEqual([sources.length, 0]);
        for (const [n, name] of sources.entries())
          expect([again.isFresh(name, `${n}`), again.get(name)]).toEqual([true, { n }]);
      }),
      { numRuns: 100 },
    );
  });

  test("a log of many chunks gives every source its newest line, long lines too", async () => {
    await using folder = await tempDir();
    const long = "x".repeat(3 << 20);
    const cursorOf = (n: number, time: number) => ({ n, time, ...(n === 700 ? { long } : {}) });
    const cursors = Cursors.open(folder.path, "one");
    for (const time of [1, 2])
      cursors.advance(
        Array.from({ length: 4000 }, (_, n) => ({
          source: source(`k${n}`.padEnd(300, "-")),
          stamp: `${time}`.repeat(time * 3),
          cursor: cursorOf(n, time),
          ...(n % 2 === 0 ? { prefix: `prefix ${n}` } : {}),
        })),
        "00ff",
      );
    for (const opened of [cursors, Cursors.open(folder.path, "one")]) {
      expect([opened.size, opened.damaged]).toEqual([4000, 0]);
      for (const n of [0, 699, 700, 701, 3999]) {
        const name = source(`k${n}`.padEnd(300, "-"));
        expect(opened.get(name)).toEqual(cursorOf(n, 2));
        expect([opened.isFresh(name, "222222"), opened.isFresh(name, "111")]).toEqual([true, false]);
        expect(opened.prefix(name)).toBe(n % 2 === 0 ? `prefix ${n}` : undefined);
      }
    }
  });

  test("a log that another process has rewritten meanwhile gives no cursor of another source", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, "cursors/one.jsonl");
    const write = Cursors.open(folder.path, "one");
    write.advance(
      ["x", "y", "z"].map((key, n) => ({ source: source(key), stamp: "1", cursor: n })),
      "00ff",
    );
    const opened = Cursors.open(folder.path, "one");
    const [mark, first, ...others] = readFileSync(path, "utf8").trimEnd().split("\n");
    writeFileSync(path, `${[mark, ...others, first].join("\n")}\n`);
    expect(["x", "y", "z"].map((key) => opened.get(source(key)))).toEqual([undefined, undefined, undefined]);
    rmSync(path);
    expect(opened.get(source("x"))).toBeUndefined();
  });

  test("a damaged line is counted and costs one source; the log stays small over many syncs", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, "cursors/one.jsonl");
    const cursors = Cursors.open(folder.path, "one");
    for (let n = 0; n < 2500; n++)
      cursors.advance([{ source: source(`k${n % 5}`), stamp: "1", cursor: n }], "00ff");
    expect(readLog(path).values.length).toBeLessThanOrEqual(1001);
    appendFileSync(path, '["short"]\nnonsense\n["a","/r","k0",{}]\n');
    const again = Cursors.open(folder.path, "one");
    expect([again.size, again.damaged, again.get(source("k4"))]).toEqual([5, 3, 2499]);
    again.repair();
    expect(readLog(path).values).toHaveLength(1 + 5);
    const repaired = Cursors.open(folder.path, "one");
    expect([repaired.size, repaired.damaged, repaired.get(source("k4"))]).toEqual([5, 0, 2499]);
  });
});

describe("the sync lock", () => {
  const options = { clock: systemClock, wait: false };

  test("is held by one, named in the refusal, and free again afterwards", async () => {
    await using folder = await tempDir();
    {
      using lock = await acquireLock(folder.path, "s", options);
      expect(lock).toBeDefined();
      await expect(acquireLock(folder.path, "s", options)).rejects.toMatchObject({
        code: "conflict",
        reason: "busy",
        message: expect.stringContaining(`pid ${process.pid}`),
        hint: expect.stringContaining("with wait"),
      });
      using other = await acquireLock(folder.path, "another", options);
      expect(other).toBeDefined();
    }
    using again = await acquireLock(folder.path, "s", options);
    expect(again).toBeDefined();
  });

  const left = (folder: string, content: string): void => {
    mkdirSync(join(folder, "locks"), { recursive: true });
    writeFileSync(join(folder, "locks/s.lock"), content);
  };
  const holder = (pid: number, more = {}): string =>
    JSON.stringify({ pid, host: hostname(), since: 1, ...more });

  test.each([
    ["a dead process", holder(999_999_999)],
    ["nobody", ""],
    ["nonsense", "nonsense"],
    ["a process before this one, with its pid", holder(process.pid)],
  ])("a file that names %s is taken over", async (_, content) => {
    await using folder = await tempDir();
    left(folder.path, content);
    {
      using lock = await acquireLock(folder.path, "s", options);
      expect(lock).toBeDefined();
    }
    expect(readdirSync(join(folder.path, "locks"))).toEqual([]);
  });

  // The start of a process is known on Linux only.
  test.runIf(process.platform === "linux")(
    "a pid that went to another process holds nothing; one that cannot be told apart does",
    async () => {
      await using folder = await tempDir();
      const fields = readFileSync(`/proc/${process.ppid}/stat`, "utf8").replace(/^.*\)/s, "_ _").split(" ");
      for (const still of [{}, { started: fields[21] }]) {
        left(folder.path, holder(process.ppid, still));
        await expect(acquireLock(folder.path, "s", options)).rejects.toMatchObject({ reason: "busy" });
      }
      left(folder.path, holder(process.ppid, { started: "1" }));
      using lock = await acquireLock(folder.path, "s", options);
      expect(lock).toBeDefined();
      const own: unknown = JSON.parse(readFileSync(join(folder.path, "locks/s.lock"), "utf8"));
      expect(own).toMatchObject({ pid: process.pid, started: expect.stringMatching(/^\d+$/) });
    },
  );

  test("of another machine is never taken over", async () => {
    await using folder = await tempDir();
    const content = holder(999_999_999, { host: "another.example" });
    left(folder.path, content);
    await expect(acquireLock(folder.path, "s", options)).rejects.toMatchObject({ reason: "busy" });
    expect(readFileSync(join(folder.path, "locks/s.lock"), "utf8")).toBe(content);
  });

  test("that somebody else has by now stays when this one is given up", async () => {
    await using folder = await tempDir();
    const lock = await acquireLock(folder.path, "s", options);
    left(folder.path, holder(process.ppid));
    lock[Symbol.dispose]();
    expect(readFileSync(join(folder.path, "locks/s.lock"), "utf8")).toBe(holder(process.ppid));
  });

  test("is put back where a living process took it right before a dead one's is moved away", async () => {
    await using folder = await tempDir();
    left(folder.path, holder(999_999_999));
    const { renameSync } = fs;
    const spy = vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
      left(folder.path, holder(process.ppid));
      renameSync(from, to);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(acquireLock(folder.path, "s", options)).rejects.toMatchObject({ reason: "busy" });
    expect(spy).toHaveBeenCalledOnce();
    expect(readdirSync(join(folder.path, "locks"))).toEqual(["s.lock"]);
    expect(readFileSync(join(folder.path, "locks/s.lock"), "utf8")).toBe(holder(process.ppid));
  });

  test("waits until the holder is done", async () => {
    await using folder = await tempDir();
    const first = await acquireLock(folder.path, "s", options);
    const waited: number[] = [];
    const clock = { now: () => 0, sleep: async () => first[Symbol.dispose]() };
    using second = await acquireLock(folder.path, "s", {
      clock,
      wait: true,
      onWait: ({ pid }) => waited.push(pid),
    });
    expect(second).toBeDefined();
    expect(waited).toEqual([process.pid]);
  });
});

describe("which store is at an address", () => {
  const address = { url: "/store", namespace: "default" };

  test("the same store keeps its cursors; one made anew or rolled back does not continue them", async () => {
    await using folder = await tempDir();
    const facts = { id: "id-1", versions: { messages: 4 }, commitOf: () => "a" };
    expect(knownCursors(folder.path, address)).toEqual([]);
    const name = rememberStore(folder.path, address, { ...facts, isSettled: true });
    const [known] = knownCursors(folder.path, address);
    expect(known).toMatchObject({ name, id: "id-1", isSettled: true });
    expect(known?.isContinuedBy({ ...facts, versions: { messages: 9 } })).toBe(true);
    expect(known?.isContinuedBy({ ...facts, id: "id-2" })).toBe(false);

    const otherLine = { ...facts, versions: { messages: 9 }, commitOf: () => "b" };
    expect(known?.isContinuedBy(otherLine)).toBe(false);
    const cleaned = { ...otherLine, commitOf: () => undefined };
    expect(known?.isContinuedBy(cleaned)).toBe(true);

    const older = { ...facts, versions: { messages: 3 } };
    expect(known?.isContinuedBy(older)).toBe(false);
    const rolledBack = rememberStore(folder.path, address, { ...older, isSettled: false });
    expect(rolledBack).not.toBe(name);
    expect(knownCursors(folder.path, address)).toMatchObject([
      { name: rolledBack, isSettled: false },
      { name, isSettled: false },
    ]);
    rememberStore(folder.path, address, { ...facts, cursors: name, isSettled: true });
    expect(knownCursors(folder.path, address)).toMatchObject([
      { name, isSettled: true },
      { name: rolledBack, isSettled: false },
    ]);
  });

  test("stays short over many syncs, and no store is forgotten", async () => {
    await using folder = await tempDir();
    const remote = { url: "s3://bucket/pond", namespace: "default" };
    const isSettled = true;
    const commitOf = (): undefined => undefined;
    const other = rememberStore(folder.path, remote, { id: "id-2", versions: {}, commitOf, isSettled });
    const first = { id: "id-1", versions: { messages: 0 }, commitOf, isSettled };
    const away = rememberStore(folder.path, address, first);
    const cursors = rememberStore(folder.path, address, first);
    for (let messages = 0; messages < 450; messages++)
      rememberStore(folder.path, address, { ...first, versions: { messages }, cursors });
    expect(readLog(join(folder.path, "stores.jsonl")).values.length).toBeLessThanOrEqual(200);
    expect(knownCursors(folder.path, address).map(({ name }) => name)).toEqual([cursors, away]);
    expect(knownCursors(folder.path, remote).map(({ name }) => name)).toEqual([other]);
  });
});

test("a line that breaks off inside its stamp is damaged, wherever it is in what was read", () => {
  const heads = new LineHeads();
  const line = Buffer.from('["a","b","c","1]');
  expect(heads.add({ bytes: line, start: 0, end: line.length, offset: 0 })).toBe(false);
  const good = Buffer.from('["a","b","c","1 2",{}]');
  expect(heads.add({ bytes: good, start: 0, end: good.length, offset: 20 })).toBe(true);
  expect([heads.size, heads.goesOn('["a","b","c"', ',"1 2",')]).toEqual([1, true]);
});

test("names are told apart whatever is in them, as by a plain map", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "7", '"', "\\", "\u00e9", "\u{1f41f}", "\u0000", "/"),
    maxLength: 40,
  });
  const line = fc.record({ adapter: text, root: text, key: text, stamp: fc.nat({ max: 9 }) });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const heads = new LineHeads();
      const plain = new Map<string, string>();
      let offset = 0;
      for (const { adapter, root, key, stamp } of lines) {
        const bytes = Buffer.from(JSON.stringify([adapter, root, key, String(stamp), {}]));
        expect(heads.add({ bytes, start: 0, end: bytes.length, offset })).toBe(true);
        plain.set(JSON.stringify([adapter, root, key]).slice(0, -1), String(stamp));
        offset += bytes.length + 1;
      }
      expect(heads.size).toBe(plain.size);
      for (const [name, stamp] of plain) {
        expect(heads.goesOn(name, `,"${stamp}",`)).toBe(true);
        expect(heads.goesOn(name, `,"${stamp}0",`)).toBe(false);
      }
    }),
  );
});

test("sources that are lost are remembered by store until none is", async () => {
  await using folder = await tempDir();
  const [log, database] = [
    { adapter: "a", root: "/r", key: "k.jsonl", session: "s", records: 3 },
    { adapter: "b", root: "/r", key: "b.db" },
  ];
  rememberLost(folder.path, "store", [log, database]);
  expect(lostSources(folder.path, "store")).toEqual([log, database]);
  expect(lostSources(folder.path, "other")).toEqual([]);
  rememberLost(folder.path, "store", []);
  expect(existsSync(lostPath(folder.path, "store"))).toBe(false);
  expect(lostSources(folder.path, "store")).toEqual([]);
});
