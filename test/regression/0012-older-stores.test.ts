/** Issue 12: a store that an older pond made, without hashes and states, opens as it is, and its sources are read once more. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { get, restore, search, sync, verify, verifyStored } from "../../src/handlers/index.ts";
import type { SessionStore } from "../../src/sessions/index.ts";
import { openSessionStore } from "../../src/sessions/index.ts";
import type { TableSpec } from "../../src/substrate/index.ts";
import { readLog } from "../support/aged-files.ts";
import { getSession } from "../support/get-answers.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";

const ID = "11111111-1111-4111-8111-111111111111";

const line = (n: number, text: string): string =>
  `${JSON.stringify({
    type: "user",
    uuid: `0000000${n}-0000-4000-8000-000000000000`,
    parentUuid: n === 1 ? null : `0000000${n - 1}-0000-4000-8000-000000000000`,
    sessionId: ID,
    cwd: "/srv/app",
    timestamp: `2026-01-01T00:00:0${n}.000Z`,
    message: { role: "user", content: text },
  })}\n`;

/** The rows of a store as an older pond would have left them in another one: no hashes, no origins, no states. */
async function copyAsOlder(from: SessionStore, url: string): Promise<void> {
  await using to = await openSessionStore({ url, namespace: "default", options: {} }, { create: true });
  const unknown = new Set(["hash", "origin"]);
  for (const name of ["parts", "messages", "sessions"] as const) {
    const [source, target] = [from.tables[name], to.tables[name]];
    const columns = Object.entries((source.spec as TableSpec).columns).filter(
      ([column, { type }]) =>
        type !== "blob" && !unknown.has(column) && !(name === "messages" && column === "parts"),
    );
    const rows = await source.scan({ select: columns.map(([column]) => column) as never });
    const copies = Array.from({ length: rows.length }, (_, row) =>
      Object.fromEntries(
        columns.map(([column, { type }]) => {
          const at = [column as never, row] as const;
          if (type === "utf8") return [column, rows.stringOrNull(...at)];
          if (type === "bool") return [column, rows.boolOrNull(...at)];
          return [column, type === "timestamp_us" ? rows.timestampOrNull(...at) : rows.intOrNull(...at)];
        }),
      ),
    );
    await target.insertRows(copies as never);
  }
}

test("rows without a hash match by what they restore, and other values are versions beside them", async () => {
  await using folder = await tempDir();
  const log = join(folder.path, "projects/app", `${ID}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, line(1, "first") + line(2, "second"));
  const source = { adapters: ["claude-code"], paths: [join(folder.path, "projects")] };
  await using made = await tempContext();
  await sync(made.context, source);
  await using older = await tempContext();
  await copyAsOlder(await made.context.store(), older.context.address.url);

  const [unread] = (await verifyStored(older.context, { adapters: source.adapters })).clients;
  expect(unread).toMatchObject({ sessions: 1, unrecorded: 1, unequal: 0 });

  const [first] = (await sync(older.context, source)).clients;
  expect(first?.stored).toMatchObject({ messages: { inserted: 0, matched: 2 }, parts: { inserted: 0 } });
  const [proof] = (await verify(older.context, source)).clients;
  expect(proof).toMatchObject({ proven: true, records: 2, equal: 2 });

  writeFileSync(log, line(1, "first") + line(2, "other"));
  appendFileSync(log, line(3, "third"));
  const [second] = (await sync(older.context, source)).clients;
  expect(second?.stored).toMatchObject({ messages: { inserted: 2, matched: 1 } });
  expect((await verify(older.context, source)).clients[0]).toMatchObject({ proven: true, records: 3 });

  rmSync(join(folder.path, "projects"), { recursive: true });
  const answer = await get(older.context, { session_id: ID });
  expect(answer.scope === "session" && answer.messages.map(({ text }) => text)).toEqual([
    "first",
    "other",
    "third",
  ]);
});

/** A store of an older pond that holds a log which is gone by now, and a place beside it. */
async function olderStoreOf(...texts: readonly string[]) {
  const folder = await tempDir();
  const place = join(folder.path, "projects");
  const log = join(place, "app", `${ID}.jsonl`);
  const write = (said: readonly string[]): void => {
    mkdirSync(dirname(log), { recursive: true });
    writeFileSync(log, said.map((text, at) => line(at + 1, text)).join(""));
  };
  write(texts);
  const source = { adapters: ["claude-code"], paths: [place] };
  await using made = await tempContext();
  await sync(made.context, source);
  const older = await tempContext();
  await copyAsOlder(await made.context.store(), older.context.address.url);
  const dispose = async (): Promise<void> => {
    await older[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { ...older, folder: folder.path, write, source, [Symbol.asyncDispose]: dispose };
}

const textsOf = async (context: Context, end = 1): Promise<readonly unknown[]> => {
  const { messages } = await getSession(context, { session_id: ID, end });
  return messages.map(({ text }) => text);
};

const restoredTexts = async (context: Context, out: string, end: number): Promise<unknown> => {
  const { files } = await restore(context, { session_id: ID, out, end });
  return readLog(files[0]!.path).map(
    (record) => (record as { message: { content: unknown } }).message.content,
  );
};

test("what an older pond stored of a source that is gone stays, whatever an older backup lacks", async () => {
  await using at = await olderStoreOf("one", "two", "three", "four");
  const { context, source, folder } = at;
  at.write(["one", "two"]);
  await sync(context, source);
  expect(await textsOf(context)).toEqual(["one", "two", "three", "four"]);
  expect(await restoredTexts(context, join(folder, "out"), 1)).toEqual(["one", "two", "three", "four"]);
  const { sessions } = await search(context, { query: "four" });
  expect(sessions[0]?.matches.map(({ state }) => state)).toEqual([undefined]);
  expect((await verify(context, source)).clients).toMatchObject([{ proven: true }]);
  expect((await verifyStored(context, {})).clients).toMatchObject([{ proven: 1, unrecorded: 1, unequal: 0 }]);
});

test("a copy that went another way is an end beside what an older pond stored", async () => {
  await using at = await olderStoreOf("one", "two", "three");
  const { context, source, folder } = at;
  at.write(["one", "two", "other", "further"]);
  await sync(context, source);
  const ends = [
    ["one", "two", "other", "further"],
    ["one", "two", "three"],
  ];
  for (const [index, texts] of ends.entries()) {
    expect(await textsOf(context, index + 1)).toEqual(texts);
    expect(await restoredTexts(context, join(folder, `out-${index}`), index + 1)).toEqual(texts);
  }
  expect((await verifyStored(context, {})).clients).toMatchObject([{ proven: 1, unrecorded: 1, unequal: 0 }]);
});
