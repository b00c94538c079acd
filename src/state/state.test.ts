import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { appendLog, readLog, rewriteLog } from "../base/append-log.ts";
import { systemClock } from "../base/clock.ts";
import { acquireLock } from "./lock.ts";
import { Cursors } from "./cursors.ts";
import { rememberedStore, rememberStore } from "./stores.ts";

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
    cursors.advance([
      { source: source("x"), cursor: { n: 1 } },
      { source: source("y"), cursor: { n: 2 } },
    ]);
    cursors.advance([{ source: source("x"), cursor: { n: 3 } }]);
    const again = Cursors.open(folder.path, "one");
    expect([again.get(source("x")), again.get(source("y")), again.size]).toEqual([{ n: 3 }, { n: 2 }, 2]);
    expect(Cursors.open(folder.path, "two").size).toBe(0);
  });

  test("a damaged line is counted and costs one source; the log stays small over many syncs", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, "cursors/one.jsonl");
    const cursors = Cursors.open(folder.path, "one");
    for (let n = 0; n < 2500; n++) cursors.advance([{ source: source(`k${n % 5}`), cursor: n }]);
    expect(readLog(path).values.length).toBeLessThanOrEqual(1001);
    appendFileSync(path, '["short"]\nnonsense\n');
    const again = Cursors.open(folder.path, "one");
    expect([again.size, again.damaged, again.get(source("k4"))]).toEqual([5, 2, 2499]);
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
        hint: expect.stringContaining("--wait"),
      });
      using other = await acquireLock(folder.path, "another", options);
      expect(other).toBeDefined();
    }
    using again = await acquireLock(folder.path, "s", options);
    expect(again).toBeDefined();
  });

  test.each(['{"pid":999999999,"host":"%","since":1}', "", "nonsense"])(
    "a dead holder's file (%j) is taken over",
    async (content) => {
      await using folder = await tempDir();
      mkdirSync(join(folder.path, "locks"));
      const { hostname } = await import("node:os");
      writeFileSync(join(folder.path, "locks/s.lock"), content.replace("%", hostname()));
      {
        using lock = await acquireLock(folder.path, "s", options);
        expect(lock).toBeDefined();
      }
      expect(readdirSync(join(folder.path, "locks"))).toEqual([]);
    },
  );

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
  test("the same store keeps its cursors; one made anew, copied or rolled back gets others", async () => {
    await using folder = await tempDir();
    const store = join(folder.path, "store");
    mkdirSync(store);
    const address = { url: "/store", namespace: "default", folder: store };
    const facts = { id: "id-1", versions: { messages: 4 } };
    expect(rememberedStore(folder.path, address, facts)).toBeUndefined();
    const name = rememberStore(folder.path, address, facts);
    expect(rememberedStore(folder.path, address, { ...facts, versions: { messages: 9 } })).toBe(name);

    expect(rememberedStore(folder.path, address, { ...facts, versions: { messages: 3 } })).toBeUndefined();
    const rolledBack = rememberStore(folder.path, address, { ...facts, versions: { messages: 3 } });
    expect(rolledBack).not.toBe(name);

    cpSync(store, `${store}.copy`, { recursive: true });
    rmSync(store, { recursive: true });
    renameSync(`${store}.copy`, store);
    expect(existsSync(store)).toBe(true);
    expect(rememberedStore(folder.path, address, { ...facts, versions: { messages: 9 } })).toBeUndefined();
  });
});
