/**
 * What could not be looked at is looked at again once it can be, and is not called gone meanwhile; a list that names a
 * session whose log was deleted is no reason to fail (spec.md#keep-verify).
 */
import { appendFileSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { restore, sync, verify } from "../../src/handlers/index.ts";
import { writeLog } from "../support/aged-files.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const instant = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString();

const prompt = (id: string, at: number): object => ({
  type: "user",
  uuid: id,
  parentUuid: null,
  sessionId: ID,
  cwd: "/srv/app",
  timestamp: instant(at),
  message: { role: "user", content: `text of ${id}` },
});

test.each([true, false])(
  "a folder of subagents that could not be listed; synced before: %s",
  async (before) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    const folder = join(home, ".claude/projects/a", ID);
    const log = `${folder}.jsonl`;
    writeLog(log, [prompt("u1", 1)]);
    writeLog(join(folder, "subagents/agent-a.jsonl"), [
      { ...prompt("d1", 2), isSidechain: true, agentId: "a" },
    ]);
    if (before) await sync(context, IMPORT);
    const subagents = join(folder, "subagents");
    renameSync(subagents, join(home, "away"));
    // A link to itself cannot be followed by anybody, root included.
    symlinkSync(subagents, subagents);
    appendFileSync(log, `${JSON.stringify(prompt("u2", 3))}\n`);
    await sync(context, IMPORT);
    expect((await verify(context, {})).clients).toMatchObject([{ proven: false, gone: 0 }]);
    rmSync(subagents);
    renameSync(join(home, "away"), subagents);
    await sync(context, IMPORT);
    expect((await verify(context, {})).clients).toMatchObject([{ proven: true, recorded: 2, held: 0 }]);
  },
);

test("a rollout that was deleted, and is still in the list of names", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const rollout = (id: string): string =>
    join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`);
  for (const id of [ID, OTHER])
    writeLog(rollout(id), [
      {
        timestamp: instant(0),
        type: "session_meta",
        payload: { id, timestamp: instant(0), cwd: "/srv/app" },
      },
      {
        timestamp: instant(1),
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: id }] },
      },
    ]);
  writeLog(
    join(home, ".codex/session_index.jsonl"),
    [ID, OTHER].map((id) => ({ id, thread_name: `name of ${id}`, updated_at: instant(2) })),
  );
  await sync(context, IMPORT);
  rmSync(rollout(ID));
  await sync(context, IMPORT);
  expect((await verify(context, {})).clients).toMatchObject([{ proven: true, contained: 1, gone: 1 }]);
});

test("what sync holds back is no reason to fail: a log that does not tell its folder yet, and a torn line", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const log = join(home, ".claude/projects/a", `${ID}.jsonl`);
  writeLog(log, [{ ...prompt("u1", 1), cwd: undefined }], Date.now() / 1000);
  await sync(context, IMPORT);
  expect((await verify(context, {})).clients).toMatchObject([{ proven: true, waiting: 1, unstored: 0 }]);
  appendFileSync(log, `${JSON.stringify(prompt("u2", 2))}\n`);
  expect((await verify(context, {})).clients).toMatchObject([{ proven: false, waiting: 0, unstored: 1 }]);
  appendFileSync(log, '{"type":"user","uu');
  await sync(context, IMPORT);
  expect((await verify(context, {})).clients).toMatchObject([{ proven: true, held: 1, grown: 0 }]);
});

test("a log that was emptied counts as rewritten", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const log = join(home, ".claude/projects/a", `${ID}.jsonl`);
  writeLog(log, [prompt("u1", 1)]);
  await sync(context, IMPORT);
  truncateSync(log, 0);
  await sync(context, IMPORT);
  expect((await verify(context, {})).clients).toMatchObject([
    { proven: true, changed: 1, empty: 0, gone: 0 },
  ]);
});

test("a restore into the client's place with paths of another machine is one that nobody touched", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const log = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  writeLog(log, [prompt("u1", 1)]);
  await sync(context, IMPORT);
  rmSync(log);
  await restore(context, { session_id: ID, map_paths: ["/srv/app=/srv/app2"] });
  expect((await verify(context, {})).clients).toMatchObject([{ proven: true, restored: 1, changed: 0 }]);
});
