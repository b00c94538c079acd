import { cp, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { story, type Story } from "../../../test/support/story.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { systemClock } from "../../base/clock.ts";
import type { Store } from "../../substrate/index.ts";
import { openStore } from "../../substrate/index.ts";
import { SessionStore } from "../index.ts";
import { SIGNATURES } from "../tables/schema.ts";
import { GramCounter, GramSet } from "./grams.ts";

async function open(path: string, create = true): Promise<SessionStore> {
  return SessionStore.open(await openStore(path, { create }));
}

async function ingest(store: SessionStore, ...stories: readonly Story[]): Promise<void> {
  const writer = store.ingest({ clock: systemClock });
  await writer.add(stories.flatMap((each) => each.events()));
  await writer.flush();
}

const sign = async (store: SessionStore): Promise<unknown> => store.updateIndexes({ force: true });

/** Which of some sessions a text may be in; undefined where nothing is known. */
async function candidates(
  store: SessionStore,
  text: string,
  table: "messages" | "parts" = "messages",
): Promise<readonly string[] | undefined> {
  const mayHold = await store.mayHold(table, [[Buffer.from(text)]]);
  return mayHold === undefined ? undefined : ["a", "b", "c"].filter(mayHold);
}

const stored = (): Story[] => [
  story("a").user("the apple tree").result("Bash", "apple pie is out"),
  story("b").user("the banana tree").result("Bash", "banana split is out"),
];

describe("signatures", () => {
  test("say which sessions have to be looked through, table by table", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, ...stored());
    expect(await candidates(store, "nowhere at all")).toBeUndefined();
    await sign(store);
    expect(await candidates(store, "nowhere at all")).toEqual([]);
    expect(await candidates(store, "apple tree")).toEqual(["a"]);
    expect(await candidates(store, "APPLE TREE")).toEqual(["a"]);
    expect(await candidates(store, "banana split")).toEqual([]);
    expect(await candidates(store, "banana split", "parts")).toEqual(["b"]);
    expect(await candidates(store, " tree")).toEqual(["a", "b"]);
    expect(await candidates(store, "tree")).toBeUndefined();
    // What was said is looked for in its message.
    expect(await candidates(store, "banana tree", "parts")).toEqual([]);
  });

  test("of one of several needles, and of all pieces of each", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, ...stored());
    await sign(store);
    const found = async (needles: readonly (readonly string[])[]): Promise<readonly string[] | undefined> => {
      const bytes = needles.map((pieces) => pieces.map((piece) => Buffer.from(piece)));
      const mayHold = await store.mayHold("messages", bytes);
      return mayHold === undefined ? undefined : ["a", "b"].filter(mayHold);
    };
    expect(await found([["the apple"], ["the banana"]])).toEqual(["a", "b"]);
    expect(await found([["the apple", "apple tree"]])).toEqual(["a"]);
    expect(await found([["the apple", "banana tree"]])).toEqual([]);
    expect(await found([["the apple"], ["one"]])).toBeUndefined();
    expect(await found([])).toBeUndefined();
  });

  test("what is stored since is always looked through, by other processes too", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await using other = await open(folder.path, false);
    await ingest(store, ...stored());
    await sign(store);
    expect(await candidates(other, "cherry tart")).toEqual([]);
    await ingest(
      store,
      story("a").user("the apple tree").result("Bash", "apple pie is out").user("cherry tart"),
    );
    await ingest(store, story("c").user("a cherry tart, too"));
    for (const reader of [store, other]) {
      expect(await candidates(reader, "cherry tart")).toEqual(["a", "c"]);
      expect(await candidates(reader, "nowhere at all")).toEqual(["a", "c"]);
    }
    await sign(store);
    for (const reader of [store, other]) {
      expect(await candidates(reader, "cherry tart")).toEqual(["a", "c"]);
      expect(await candidates(reader, "nowhere at all")).toEqual([]);
    }
  });

  test("are made once a thousand rows have none: one message more costs nothing", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    const long = story("a");
    for (let at = 0; at < 1100; at++) long.user(`message number ${at}`);
    await ingest(store, long);
    await store.updateIndexes();
    const table = await raw.table(SIGNATURES);
    const version = await table.version();
    await ingest(store, story("b").user("one more"));
    await store.updateIndexes();
    expect(await table.version()).toBe(version);
    expect(await candidates(store, "nowhere at all")).toEqual(["b"]);
  });

  test("of small stores there are none, and of older stores not yet", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, ...stored());
    await store.updateIndexes();
    expect(await raw.tables()).not.toContain("signatures");
    await using reader = await open(folder.path, false);
    expect(await candidates(reader, "nowhere at all")).toBeUndefined();
  });
});

describe("a table of signatures", () => {
  const data = (path: string, table: string): string => join(path, `default/${table}.lance`);

  test("that is damaged is not believed, and is made anew", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await ingest(store, ...stored());
    await sign(store);
    const files = join(data(folder.path, "signatures"), "data");
    for (const file of await readdir(files)) await truncate(join(files, file), 10);
    await using reader = await open(folder.path);
    expect(await candidates(reader, "nowhere at all")).toBeUndefined();
    await sign(reader);
    expect(await candidates(reader, "nowhere at all")).toEqual([]);
  });

  test("that is dropped is made anew, also for who had it open", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await using other = await open(folder.path);
    await ingest(store, ...stored());
    await sign(store);
    expect(await candidates(other, "nowhere at all")).toEqual([]);
    await store.dropSignatures();
    expect(await candidates(store, "nowhere at all")).toBeUndefined();
    expect(await candidates(other, "nowhere at all")).toBeUndefined();
    await sign(store);
    expect(await candidates(other, "apple tree")).toEqual(["a"]);
  });

  test("of rows that are not there any more is not believed, and is made anew", async () => {
    await using folder = await tempDir();
    const early = join(folder.path, "early");
    const url = join(folder.path, "store");
    {
      await using store = await open(url);
      await ingest(store, ...stored());
      await cp(data(url, "messages"), early, { recursive: true });
      await ingest(store, story("c").user("a cherry tart"));
      await sign(store);
      expect(await candidates(store, "other words")).toEqual([]);
    }
    // An older copy is put in its place, and goes on: the row that was the last one is another one now.
    await rm(data(url, "messages"), { recursive: true });
    await cp(early, data(url, "messages"), { recursive: true });
    await using store = await open(url);
    await ingest(
      store,
      story("b").user("the banana tree").result("Bash", "banana split is out").user("other words"),
    );
    expect(await candidates(store, "other words")).toBeUndefined();
    await sign(store);
    expect(await candidates(store, "other words")).toEqual(["b"]);
  });

  test("which a killed process filled in part says nothing of the rows that it did not come to", async () => {
    await using folder = await tempDir();
    const raw = await openStore(folder.path);
    await using store = await SessionStore.open(raw);
    await ingest(store, ...stored());
    await addBlock(raw, "a", "the apple tree");
    expect(await candidates(store, "banana tree")).toEqual(["a", "b"]);
  });

  test("that two processes fill at once says the same", async () => {
    await using folder = await tempDir();
    await using store = await open(folder.path);
    await using other = await open(folder.path);
    await ingest(store, ...stored());
    await Promise.all([sign(store), sign(other)]);
    for (const reader of [store, other]) {
      expect(await candidates(reader, "nowhere at all")).toEqual([]);
      expect(await candidates(reader, "apple tree")).toEqual(["a"]);
      expect(await candidates(reader, "banana split", "parts")).toEqual(["b"]);
    }
  });
});

/** A signature without the stretch that it is of. */
async function addBlock(raw: Store, session_id: string, text: string): Promise<void> {
  const set = new GramSet();
  new GramCounter().add(set, Buffer.from(text));
  const table = await raw.table(SIGNATURES);
  await table.insertRows([{ session_id, block: "0", source: "messages", bits: set.toBitmap() }]);
}
