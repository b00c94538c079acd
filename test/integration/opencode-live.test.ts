/**
 * opencode rewrites its records in place: what pond holds follows it, change by change, through the handlers that
 * people run (spec.md#model-revisions). The database is a copy of the captured one, written to as the client does.
 */
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Message } from "../../src/model/index.ts";
import { activeBranch, recordedTitle } from "../../src/model/derived/index.ts";
import { Client, Machine, SESSION } from "../support/opencode-machine.ts";

const OTHER = "ses_e1dfc463affevryR69X99FN2Vc";
const MINUTE = 60_000;

/** Everything that is on disk is stored, and restores equal. */
async function expectEqual(machine: Machine): Promise<void> {
  const proof = await machine.verify();
  expect(proof).toMatchObject({ unequal: 0, differences: [] });
  expect(proof.equal).toBe(proof.records);
  expect(proof.records).toBeGreaterThan(0);
}

const user = (created: number) => ({
  role: "user",
  time: { created },
  agent: "build",
  model: { providerID: "p", modelID: "m" },
});
const assistant = (created: number, more: object = {}) => ({
  role: "assistant",
  parentID: "msg_zz1",
  time: { created },
  modelID: "m",
  providerID: "p",
  mode: "build",
  agent: "build",
  path: { cwd: "/tmp/pond-garden", root: "/tmp/pond-garden" },
  cost: 0,
  tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
  ...more,
});
const tool = (state: object) => ({
  type: "tool",
  tool: "bash",
  callID: "call_1",
  state: { input: { command: "sleep 1" }, ...state },
});

/** A prompt, and the model's first call, still running. */
function startCall(client: Client, machine: Machine): void {
  client.message("msg_zz1", user(machine.now));
  client.part("prt_zz1", "msg_zz1", { type: "text", text: "Wait a second" });
  machine.now += 10;
  client.message("msg_zz2", assistant(machine.now));
  client.part("prt_zz2", "msg_zz2", { type: "step-start" });
  client.part("prt_zz3", "msg_zz2", tool({ status: "running", time: { start: machine.now } }));
}

function finishCall(client: Client, machine: Machine): void {
  machine.now += 1000;
  const time = { start: machine.now - 1000, end: machine.now };
  client.part(
    "prt_zz3",
    "msg_zz2",
    tool({ status: "completed", output: "waited", title: "sleep", metadata: { exit: 0 }, time }),
  );
  const created = machine.now - 1000;
  client.message(
    "msg_zz2",
    assistant(created, { time: { created, completed: machine.now }, finish: "stop" }),
  );
}

/** Names, times and content of a folder's files. */
function fingerprint(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const stats = statSync(join(folder, name));
      return `${name} ${stats.mtimeMs} ${stats.size} ${stats.isFile() ? readFileSync(join(folder, name)).toString("base64").length : ""}`;
    });
}

describe("a database that is written to", () => {
  test("a sync in the middle of a tool call holds it back, the next one has it finished, and all is equal", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    await machine.sync();
    const before = await machine.texts();
    startCall(client, machine);
    const middle = await machine.sync();
    expect(middle.waiting).toBe(1);
    expect(await machine.texts()).toEqual([...before, "Wait a second"]);
    finishCall(client, machine);
    const last = await machine.sync();
    expect([last.waiting, last.issues]).toEqual([0, {}]);
    expect(await machine.texts()).toEqual([...before, "Wait a second", 'bash: "waited"']);
    await expectEqual(machine);
    expect((await machine.messages()).map(({ message }) => message.id)).not.toContainEqual(
      expect.stringContaining("msg_zz2@"),
    );
  });

  test("a call that is never finished is stored after ten minutes, and its end when it comes all the same", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    startCall(client, machine);
    await machine.sync();
    machine.now += 9 * MINUTE;
    expect((await machine.sync()).waiting).toBe(1);
    machine.now += 2 * MINUTE;
    expect((await machine.sync()).waiting).toBe(0);
    await expectEqual(machine);
    const calls = (await machine.messages()).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === "tool_call"),
    );
    expect(calls.map(({ message_id }) => message_id)).toContain("msg_zz2");
    finishCall(client, machine);
    await machine.sync();
    await expectEqual(machine);
    expect((await machine.texts()).slice(-2)).toEqual(["Wait a second", 'bash: "waited"']);
  });

  test("what changes after it settled is a new version, and what did not is not written again", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    startCall(client, machine);
    finishCall(client, machine);
    await machine.sync();
    machine.now += MINUTE;
    const time = { start: 1, end: 2, compacted: machine.now };
    client.part(
      "prt_zz3",
      "msg_zz2",
      tool({ status: "completed", output: "waited", title: "sleep", metadata: {}, time }),
    );
    const report = await machine.sync();
    expect(report.stored.messages.inserted).toBe(2);
    await expectEqual(machine);
    const idsIn = (messages: readonly { readonly message: Message }[]): string[] =>
      messages.map(({ message }) => message.id).filter((id) => id.startsWith("msg_zz2"));
    const version = [
      expect.stringMatching(/^msg_zz2@[0-9a-f]{32}$/),
      expect.stringMatching(/^msg_zz2@[0-9a-f]{32}\/1$/),
    ];
    expect(idsIn(await machine.messages())).toEqual(version);
    expect(idsIn(await machine.everything())).toEqual(["msg_zz2", "msg_zz2/1", ...version]);
    expect((await machine.sync({ verify: true })).stored).toMatchObject({
      messages: { inserted: 0 },
      parts: { inserted: 0 },
    });
  });

  test("a change is stored although the cursor was lost", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    startCall(client, machine);
    finishCall(client, machine);
    await machine.sync();
    machine.loseCursors();
    client.part("prt_zz1", "msg_zz1", { type: "text", text: "Wait two seconds" });
    machine.now += 11 * MINUTE;
    await machine.sync();
    await expectEqual(machine);
    expect(await machine.texts()).toContain("Wait two seconds");
    expect(await machine.texts()).not.toContain("Wait a second");
  });

  test("while a turn runs, its prompt is stored once: what the client adds to it is taken when the turn ends", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    startCall(client, machine);
    await machine.sync();
    for (const file of ["a", "b", "c"]) {
      machine.now += 2000;
      client.message("msg_zz1", { ...user(1), summary: { diffs: [{ file }] } });
      expect((await machine.sync()).waiting).toBe(1);
    }
    finishCall(client, machine);
    await machine.sync();
    await expectEqual(machine);
    const ids = (await machine.everything()).map(({ message }) => message.id);
    expect(ids.filter((id) => id.startsWith("msg_zz1"))).toHaveLength(2);
  });

  test("a prompt whose parts are not written yet waits for them", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    client.message("msg_zz1", user(machine.now));
    expect((await machine.sync()).waiting).toBe(1);
    client.part("prt_zz1", "msg_zz1", { type: "text", text: "Wait a second" });
    await machine.sync();
    expect((await machine.messages()).map(({ message }) => message.id)).toContain("msg_zz1");
  });

  test("changes that are only in the write-ahead log are seen, and no file of the client changes", async () => {
    await using machine = await Machine.start();
    await machine.sync();
    using client = new Client(machine);
    client.run("UPDATE session SET title = 'Renamed in the log' WHERE id = ?", SESSION);
    const before = fingerprint(machine.place);
    expect(before.map((line) => line.split(" ")[0])).toContain("opencode.db-wal");
    const report = await machine.sync();
    expect(report.read).toBe(1);
    expect(fingerprint(machine.place)).toEqual(before);
    expect(recordedTitle((await machine.messages()).map(({ message }) => message))).toBe(
      "Renamed in the log",
    );
    await expectEqual(machine);
    expect(fingerprint(machine.place)).toEqual(before);
  });

  test("messages that a revert removed are kept, off the active branch, and do not come back in a restore", async () => {
    await using machine = await Machine.start();
    using client = new Client(machine);
    await machine.sync();
    const before = await machine.messages();
    client.run("DELETE FROM message WHERE id = ?", "msg_1e203bef5001XhJcTfAAaVkm6e");
    startCall(client, machine);
    finishCall(client, machine);
    await machine.sync();
    await expectEqual(machine);
    const after = await machine.messages();
    expect((await machine.everything()).length).toBeGreaterThan(before.length);
    const shown = after.map(({ message }) => message.id);
    expect(shown).not.toContain("msg_1e203bef5001XhJcTfAAaVkm6e");
    expect(shown).toContain("msg_zz2");
    const active = activeBranch(after.map(({ message }) => message));
    expect([active.has("msg_1e203bef5001XhJcTfAAaVkm6e"), active.has("msg_zz2")]).toEqual([false, true]);
  });

  test("a session that its client left reverted ends, when read, before the prompt that was taken back", async () => {
    await using machine = await Machine.start();
    await machine.sync();
    const messages = await machine.messages(OTHER);
    const active = activeBranch(messages.map(({ message }) => message));
    const shown = messages.filter(({ message }) => active.has(message.id)).flatMap(({ parts }) => parts);
    const texts = shown.flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(texts).toContain("First done.");
    expect(texts).not.toContain("Second thing");
  });

  test("a database that was touched and not changed is not read again", async () => {
    await using machine = await Machine.start();
    await machine.sync();
    utimesSync(join(machine.place, "opencode.db"), new Date(), new Date());
    expect((await machine.sync()).stored).toMatchObject({ messages: { inserted: 0, matched: 0 } });
    expect((await machine.sync()).fresh).toBe(2);
  });
});

describe("a tree that is written to", () => {
  test("a file that changed is a new version, one that is gone is gone, and the rest is not written again", async () => {
    await using machine = await Machine.start("legacy");
    machine.now = systemClock.now() + 20 * MINUTE;
    await machine.sync();
    await expectEqual(machine);
    const parts = join(machine.place, "storage/part/msg_1e203a35b001bVO8f2vA9wWRFj");
    const [name = ""] = readdirSync(parts);
    const part = JSON.parse(readFileSync(join(parts, name), "utf8"));
    writeFileSync(join(parts, name), JSON.stringify({ ...part, text: "Look again." }));
    rmSync(join(machine.place, "storage/todo"), { recursive: true });
    const report = await machine.sync();
    expect(report).toMatchObject({ read: 2, stored: { messages: { inserted: 1 } } });
    await expectEqual(machine);
    expect(await machine.texts("ses_e1dfc5ccbffevJfiFnCNYDZmwr")).toContain("Look again.");
  });

  test("an older copy of what the database holds, which says more, is kept and hides nothing", async () => {
    await using machine = await Machine.start();
    const report = await machine.sync();
    expect(report).toMatchObject({ seen: 2, read: 2, superseded: 0 });
    expect(await machine.texts(OTHER)).toContain("First done.");
    await expectEqual(machine);
  });
});
