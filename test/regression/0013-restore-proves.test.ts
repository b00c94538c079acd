/**
 * A restore compared what it wrote with what is stored, and handed out a row that had changed in the store as "read back
 * equal" (issue 13, item 2): into another client always. What is stored is proven by the digest that was recorded when it
 * was read, before anything is written (spec.md#adapter-restore-proven).
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { restore, sync } from "../../src/handlers/index.ts";
import { changeRow } from "../support/changed-row.ts";
import { readFolder } from "../support/adapter-run.ts";
import { Client, Machine, SESSION as RUNNING } from "../support/opencode-machine.ts";
import { tempContext } from "../support/temp-context.ts";

const PLACE = join(
  import.meta.dirname,
  "../fixtures/adapters/claude-code/projects/-tmp-pond-fixture-demo-app",
);
const SOURCE = { adapters: ["claude-code"], paths: [PLACE] };
const SESSION = "42a619cc-bb76-46e4-81e9-08563bb4c708";
const CHILD = `${SESSION}/agent-afbdf13c1efd361ed`;
const CLIENTS = ["claude-code", "codex-cli", "opencode", "pi"] as const;

test.each(CLIENTS)("a text that changed in the store is not restored into %s", async (to) => {
  await using at = await tempContext();
  await sync(at.context, SOURCE);
  const out = join(at.home, "out");
  const before = await restore(at.context, { session_id: SESSION, to, out: join(at.home, "before") });
  expect(before).toMatchObject({ proven: before.sessions, unproven: [] });
  await changeRow(at.context, {
    table: "parts",
    session: SESSION,
    column: "variant_data",
    from: '{"text":"',
    to: '{"text":"not what was said: ',
  });
  await expect(restore(at.context, { session_id: SESSION, to, out })).rejects.toMatchObject({
    code: "storage_unavailable",
    reason: "corrupt",
    message: expect.stringMatching(new RegExp(`session ${SESSION}.*digests differ`)),
    hint: expect.stringContaining(
      "run repair, which reads it again from its source where that is still there",
    ),
    data: { session: SESSION },
  });
  expect(() => readdirSync(out)).toThrow("ENOENT");
});

test.each(["claude-code", "codex-cli"])(
  "a changed row of a descendant refuses the whole restore into %s",
  async (to) => {
    await using at = await tempContext();
    await sync(at.context, SOURCE);
    await changeRow(at.context, {
      table: "parts",
      session: CHILD,
      column: "variant_data",
      from: '{"text":"',
      to: '{"text":"not what was said: ',
    });
    const out = join(at.home, "out");
    await expect(restore(at.context, { session_id: SESSION, to, out })).rejects.toMatchObject({
      reason: "corrupt",
      data: { session: CHILD },
    });
    expect(() => readdirSync(out)).toThrow("ENOENT");
  },
);

test("what other sources say of a session is proven too: its name", async () => {
  await using at = await tempContext();
  const id = "01a1e1d6-dc28-7033-8d22-b4de37cc0373";
  const records = [
    { timestamp: TIME, type: "session_meta", payload: { id, timestamp: TIME, cwd: "/srv/app" } },
    {
      timestamp: TIME,
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
    },
  ];
  writeLog(join(at.home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`), records);
  const index = join(at.home, ".codex/session_index.jsonl");
  writeLog(index, [{ id, thread_name: "the name of it", updated_at: TIME }]);
  await sync(at.context, {});
  const request = { session_id: id, to: "opencode" };
  const whole = await restore(at.context, { ...request, out: join(at.home, "whole") });
  expect(whole).toMatchObject({ proven: 1, unproven: [] });
  await changeRow(at.context, {
    table: "messages",
    session: id,
    column: "options",
    from: "the name of it",
    to: "another name",
  });
  await expect(restore(at.context, { ...request, out: join(at.home, "out") })).rejects.toMatchObject({
    code: "storage_unavailable",
    reason: "corrupt",
    message: expect.stringContaining(index),
  });
});

test.each(["claude-code", "codex-cli"])(
  "what a program stored has no digest: it is restored into %s, and the report says that nothing proves it",
  async (to) => {
    await using at = await tempContext();
    await at.ingest((await readFolder(adapterNamed("claude-code")!, PLACE)).flatMap(({ events }) => events));
    const report = await restore(at.context, { session_id: SESSION, to, out: join(at.home, "out") });
    expect(report.proven).toBe(0);
    expect(report.unproven).toHaveLength(report.sessions);
    expect(report.unproven).toContainEqual({ session_id: SESSION, why: "no digest was recorded" });
  },
);

test("a state of which something was held back is restored, and told as not proven", async () => {
  await using machine = await Machine.start();
  using client = new Client(machine);
  client.message("msg_zz1", { role: "assistant", time: { created: machine.now }, agent: "build" });
  client.part("prt_zz1", "msg_zz1", { type: "text", text: "still being writ" });
  await machine.sync();
  const out = join(machine.place, "out");
  const report = await restore(machine.context, { session_id: RUNNING, to: "opencode", out });
  expect(report).toMatchObject({
    proven: report.sessions - 1,
    unproven: [{ session_id: RUNNING, why: expect.stringContaining("incomplete") }],
  });
});

const TIME = "2026-01-01T00:00:00.000Z";

function writeLog(path: string, records: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${records.map((record) => JSON.stringify(record)).join("\n")}\n`);
}
