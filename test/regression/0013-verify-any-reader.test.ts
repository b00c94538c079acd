/**
 * What one machine stored was called unstored where another one looked at the same files (issue 13, item 9): of a session
 * with something that cannot be read "0 of its 2 records are not stored", and the lines of a list by another path
 * (spec.md#keep-verify). The other machine is another state folder over the same store.
 */
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sync, verify } from "../../src/handlers/index.ts";
import { writeLog } from "../support/aged-files.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const TIME = "2026-01-01T00:00:00.000Z";

const prompt = (id: string): object => ({
  type: "user",
  uuid: id,
  parentUuid: null,
  sessionId: ID,
  cwd: "/srv/app",
  timestamp: TIME,
  message: { role: "user", content: `text of ${id}` },
});

/** Another home with a state of its own, whose store is that of the first. */
const secondMachine = (first: TempContext): Promise<TempContext> =>
  tempContext({ env: { POND_STORE: join(first.home, "store") } });

function copyHome(from: string, to: string, name: string): void {
  mkdirSync(dirname(join(to, name)), { recursive: true });
  cpSync(join(from, name), join(to, name), {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  });
}

test.each(["the same path", "another path"])(
  "a session with a file that cannot be read is held, not unstored, by %s",
  async (where) => {
    await using first = await tempContext();
    const folder = join(first.home, ".claude/projects/a", ID);
    writeLog(`${folder}.jsonl`, [prompt("u1"), prompt("u2")]);
    mkdirSync(folder);
    // A link to itself cannot be followed by anybody, root included.
    symlinkSync("loop", join(folder, "loop"));
    await sync(first.context, IMPORT);
    const mine = (await verify(first.context, {})).clients;
    expect(mine).toMatchObject([{ held: 1, unstored: 0, unequal: 0, issues: [{ kind: "unreadable" }] }]);
    await using second = await secondMachine(first);
    if (where === "another path") copyHome(first.home, second.home, ".claude/projects");
    const paths = [join((where === "another path" ? second : first).home, ".claude/projects")];
    const theirs = (await verify(second.context, { adapters: ["claude-code"], paths })).clients;
    expect(theirs).toMatchObject([{ held: 1, unstored: 0, unequal: 0, issues: [{ kind: "unreadable" }] }]);
    expect(theirs[0]?.records).toBe(mine[0]?.records);
  },
);

test("a session with a file that cannot be read, which went on since, is not stored", async () => {
  await using first = await tempContext();
  const folder = join(first.home, ".claude/projects/a", ID);
  writeLog(`${folder}.jsonl`, [prompt("u1")]);
  mkdirSync(folder);
  symlinkSync("loop", join(folder, "loop"));
  await sync(first.context, IMPORT);
  await using second = await secondMachine(first);
  copyHome(first.home, second.home, ".claude/projects");
  appendFileSync(join(second.home, ".claude/projects/a", `${ID}.jsonl`), `${JSON.stringify(prompt("u2"))}\n`);
  const paths = [join(second.home, ".claude/projects")];
  expect((await verify(second.context, { adapters: ["claude-code"], paths })).clients).toMatchObject([
    { held: 0, unstored: 1, differences: [expect.stringContaining("1 of its 2 records is not stored")] },
  ]);
});

test("a list that names a session whose log is gone is contained, by whatever path it was read", async () => {
  await using first = await tempContext();
  const rollout = (id: string): string =>
    `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`;
  for (const id of [ID, OTHER])
    writeLog(join(first.home, rollout(id)), [
      { timestamp: TIME, type: "session_meta", payload: { id, timestamp: TIME, cwd: "/srv/app" } },
      {
        timestamp: TIME,
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: id }] },
      },
    ]);
  writeLog(
    join(first.home, ".codex/session_index.jsonl"),
    [ID, OTHER].map((id) => ({ id, thread_name: `name of ${id}`, updated_at: TIME })),
  );
  await sync(first.context, IMPORT);
  await using second = await secondMachine(first);
  copyHome(first.home, second.home, ".codex");
  rmSync(join(second.home, rollout(ID)));
  const client = (await verify(second.context, {})).clients[0];
  expect(client).toMatchObject({ proven: true, contained: 1, unstored: 0, gone: 0 });
});

test("what another machine stored is never this one's to call gone", async () => {
  await using first = await tempContext();
  const folder = join(first.home, ".claude/projects/a");
  writeLog(join(folder, `${ID}.jsonl`), [prompt("u1")]);
  await sync(first.context, IMPORT);
  await using second = await secondMachine(first);
  renameSync(join(folder, `${ID}.jsonl`), join(first.home, "away"));
  mkdirSync(join(second.home, ".claude/projects"), { recursive: true });
  expect((await verify(second.context, {})).clients).toMatchObject([{ proven: true, gone: 0, elsewhere: 1 }]);
  // Not even in the very folder that the other one read.
  const paths = [join(first.home, ".claude/projects")];
  const looked = await verify(second.context, { adapters: ["claude-code"], paths });
  expect(looked.clients).toMatchObject([{ proven: true, gone: 0, elsewhere: 1 }]);
  const own = await verify(first.context, { adapters: ["claude-code"], paths });
  expect(own.clients).toMatchObject([{ proven: true, gone: 1, elsewhere: 0 }]);
});
