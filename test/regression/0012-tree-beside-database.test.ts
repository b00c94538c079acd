/**
 * opencode's tree beside its database: what only the tree has is kept, also when the database takes its copies away later,
 * and so is what is left of sessions that no container has (docs/adapters/opencode.md#identity).
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { sync, verify } from "../../src/handlers/index.ts";
import { age, copyFixture } from "../support/aged-files.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

const SESSION = "ses_e1dfc6e09ffe3lAwy288LtSjGi";
const INFO = `storage/session/b51df34b24502f63d708f5a8611fdff0551b1151/${SESSION}.json`;

async function bothForms(): Promise<TempContext & { readonly place: string }> {
  const temp = await tempContext();
  const place = join(temp.home, ".local/share/opencode");
  copyFixture("opencode/data", place);
  rmSync(join(place, "storage"), { recursive: true });
  copyFixture("opencode/legacy/storage", join(place, "storage"));
  return { ...temp, place };
}

function put(place: string, file: string, value: unknown): void {
  mkdirSync(dirname(join(place, file)), { recursive: true });
  writeFileSync(join(place, file), JSON.stringify(value));
  age(place);
}

async function syncAndVerify(context: Context): Promise<void> {
  await sync(context, {});
  expect((await verify(context, {})).clients).toMatchObject([{ differences: [], proven: true }]);
}

/** What is stored of each source of a session, whole, as text. */
async function storedBy(context: Context, session: string): Promise<ReadonlyMap<string, string>> {
  const store = await context.store();
  const views = await store.views(session as Parameters<typeof store.views>[0]);
  return new Map(
    (views?.history.sources ?? []).flatMap(({ latest }) =>
      latest === undefined ? [] : [[latest.form, JSON.stringify(views!.view(latest).state.messages)]],
    ),
  );
}

test("the tree's own record and the files beside it are kept, its messages are not doubled", async () => {
  await using temp = await bothForms();
  const { context, place } = temp;
  const info = JSON.parse(readFileSync(join(place, INFO), "utf8")) as object;
  put(place, INFO, { ...info, title: "only in the tree", more: "quokka" });
  put(place, `storage/todo/${SESSION}.json`, [{ id: "1", content: "plant narwhals", status: "pending" }]);
  await syncAndVerify(context);
  const stored = await storedBy(context, SESSION);
  for (const word of ["only in the tree", "quokka", "narwhals"]) expect(stored.get("tree")).toContain(word);
  expect(stored.get("database")).not.toContain("quokka");
  const [user] = readdirSync(join(place, "storage/message", SESSION));
  expect(stored.get("database")).toContain(user?.replace(".json", ""));
  expect(stored.get("tree")).not.toContain(user?.replace(".json", ""));
});

test("a database that is taken away leaves the tree to be stored", async () => {
  await using temp = await bothForms();
  const { context, place } = temp;
  await syncAndVerify(context);
  rmSync(join(place, "opencode.db"));
  await syncAndVerify(context);
  const [message] = readdirSync(join(place, "storage/message", SESSION));
  expect((await storedBy(context, SESSION)).get("tree")).toContain(message?.replace(".json", ""));
});

test.each([
  ["a session", ["DELETE FROM part", "DELETE FROM message", "DELETE FROM session"]],
  ["a message", ["DELETE FROM part", "DELETE FROM message"]],
])("%s that is deleted in the database alone is stored from the tree", async (_what, deletions) => {
  await using temp = await bothForms();
  const { context, place } = temp;
  await syncAndVerify(context);
  const database = new DatabaseSync(join(place, "opencode.db"));
  for (const sql of deletions)
    database.prepare(`${sql} WHERE ${sql.endsWith("session") ? "id" : "session_id"} = ?`).run(SESSION);
  database.close();
  await syncAndVerify(context);
  const [message] = readdirSync(join(place, "storage/message", SESSION));
  expect((await storedBy(context, SESSION)).get("tree")).toContain(message?.replace(".json", ""));
});

test.each(["session_diff", "todo"])("a %s of a session that is nowhere is kept", async (section) => {
  for (const hasDatabase of [true, false]) {
    await using temp = await bothForms();
    const { context, place } = temp;
    if (!hasDatabase) rmSync(join(place, "opencode.db"));
    put(place, `storage/${section}/ses_nowhere.json`, [{ content: "tapir" }]);
    await syncAndVerify(context);
    const store = await context.store();
    const ids: string[] = [];
    for await (const { id } of store.allSessions(() => undefined)) ids.push(id);
    const [left] = ids.filter((id) => id.startsWith("ses_nowhere"));
    expect([...(await storedBy(context, left ?? "")).values()].join("")).toContain("tapir");
  }
});
