import { appendFile, mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listUnits, LATER, readFolder, readUnit } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { Event, Message, Part, Session } from "../../../model/index.ts";
import { searchText } from "../../../model/derived/index.ts";
import { objectField } from "../../kit/extract/index.ts";
import { claudeCode } from "../index.ts";

const A = "11111111-1111-4111-8111-111111111111";
const B = "22222222-2222-4222-8222-222222222222";
const NOW = Date.UTC(2026, 0, 2);
const HOUR = 3_600_000;

type Records = readonly object[];

/** A place with these logs (objects) and files (text), all written long ago. */
async function withPlace<T>(
  files: Readonly<Record<string, Records | string>>,
  use: (root: string) => Promise<T>,
): Promise<T> {
  await using folder = await tempDir();
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder.path, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, typeof content === "string" ? content : lines(content));
    await utimes(full, new Date(NOW - 2 * HOUR), new Date(NOW - 2 * HOUR));
  }
  return await use(folder.path);
}

async function eventsOf(files: Readonly<Record<string, Records | string>>): Promise<Event[]> {
  return withPlace(files, async (root) =>
    (await readFolder(claudeCode, root)).flatMap(({ events }) => events),
  );
}

function lines(records: Records): string {
  return records.map((one) => `${JSON.stringify(one)}\n`).join("");
}

function record(fields: object): object {
  return { cwd: "/work", sessionId: A, timestamp: "2026-01-01T00:00:00.000Z", ...fields };
}

const user = (content: unknown, fields: object = {}): object =>
  record({ type: "user", message: { role: "user", content }, ...fields });

const sessions = (events: readonly Event[]): Session[] =>
  events.flatMap((event) => (event.kind === "session" ? [event.session] : []));
const messages = (events: readonly Event[]): Message[] =>
  events.flatMap((event) => (event.kind === "message" ? [event.message] : []));
const parts = (events: readonly Event[]): Part[] =>
  events.flatMap((event) => (event.kind === "part" ? [event.part] : []));
const pondOf = (message: Message | undefined): unknown => message?.options["pond"];

describe("a fork that grew", () => {
  test("is read on behind its copies: where it left its parent is kept with its prefix", async () => {
    const copy = (n: number): object =>
      user("x".repeat(1000), { uuid: `u${n}`, forkedFrom: { sessionId: B, messageUuid: `u${n}` } });
    const copies = Array.from({ length: 300 }, (_, n) => copy(n + 100));
    const own = user("on ".repeat(2000), { uuid: "own" });
    await withPlace({ [`p/${A}.jsonl`]: [...copies, own] }, async (root) => {
      const path = join(root, `p/${A}.jsonl`);
      const unit = async () => (await listUnits(claudeCode, root)).units[0]!;
      const first = await readUnit(claudeCode, await unit(), { root, kept: { prefix: undefined } });
      // Whoever looked at the copies again would see another fork.
      await writeFile(path, lines([...copies.slice(0, -1), copy(500), own, user("more", { uuid: "more" })]));
      const { cursor, prefix } = first;
      const last = async (kept?: { prefix: string | undefined }) =>
        sessions(
          (await readUnit(claudeCode, await unit(), { root, cursor, ...(kept && { kept }) })).events,
        )[0];
      const told = { parent_session_id: B, relation: "fork" };
      expect(sessions(first.events)[0]).toMatchObject({ ...told, parent_message_id: "u399" });
      expect(await last({ prefix })).toEqual(sessions(first.events)[0]);
      expect(await last()).toMatchObject({ ...told, parent_message_id: "u500" });
    });
  });
});

describe("identity", () => {
  test("every log that names a session is a source of it, what nothing names is told by where it stands", async () => {
    const unnamed = [user("unnamed", { sessionId: undefined })];
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [user("one")],
      [`b/${A}.jsonl`]: [user("two")],
      "b/renamed.jsonl": [user("three")],
      "b/notes.jsonl": unnamed,
      "b/own-name.jsonl": [user("four", { sessionId: "own-name" })],
      "c/notes.jsonl": unnamed,
      "c/own-name.jsonl": [user("five", { sessionId: "own-name" })],
    });
    const ids = sessions(events).map(({ id }) => id);
    const copy = expect.stringMatching(/^notes@[0-9a-f]{8}$/);
    expect(ids).toEqual([A, A, "notes", "own-name", A, copy, "own-name"]);
  });

  test("a folder that is not named by a session is told by where it stands, with its children", async () => {
    const events = await eventsOf({
      "a/backup.jsonl": [user("one")],
      "a/backup/subagents/agent-x.jsonl": [user("task", { isSidechain: true })],
      "b/backup.jsonl": [user("two", { sessionId: B })],
      "b/backup/subagents/agent-x.jsonl": [user("task", { sessionId: B, isSidechain: true })],
    });
    const [first, child, second, copied] = sessions(events);
    expect([first?.id, child?.id]).toEqual(["backup", "backup/agent-x"]);
    expect(second?.id).toMatch(/^backup@[0-9a-f]{8}$/);
    expect([copied?.id, copied?.parent_session_id]).toEqual([`${second?.id}/agent-x`, second?.id]);
  });

  test("children hang off the session in whose folder they stand", async () => {
    const child = [user("task", { isSidechain: true })];
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [user("one")],
      [`a/${A}/subagents/agent-x.jsonl`]: child,
      [`a/${A}/subagents/agent-x.meta.json`]: '{"agentType":"Explore","toolUseId":"toolu_1"}',
      [`a/${A}/subagents/workflows/w/agent-y.jsonl`]: child,
      [`a/${A}/subagents/agent-acompact-z.jsonl`]: child,
      "a/agent-old.jsonl": child,
      [`b/${A}/subagents/agent-x.jsonl`]: child,
      "b/agent-old.jsonl": child,
    });
    expect(
      sessions(events)
        .filter(({ parent_session_id }) => parent_session_id !== undefined)
        .map(({ id, parent_session_id, relation, source_agent }) => [
          id,
          parent_session_id,
          relation,
          source_agent,
        ]),
    ).toEqual([
      [`${A}/agent-acompact-z`, A, "compact", "claude-code/subagent"],
      [`${A}/agent-x`, A, "spawn", "claude-code/Explore"],
      [`${A}/workflows/w/agent-y`, A, "spawn", "claude-code/subagent"],
      [`${A}/agent-old`, A, "spawn", "claude-code/subagent"],
      [`${A}/agent-x`, A, "spawn", "claude-code/subagent"],
      [`${A}/agent-old`, A, "spawn", "claude-code/subagent"],
    ]);
    expect(sessions(events).find(({ id }) => id === `${A}/agent-x`)?.options["pond"]).toEqual({
      call_id: "toolu_1",
    });
  });

  test("a fork names its parent and the point where it left it", async () => {
    const copied = (uuid: string): object =>
      user("copied", { uuid, sessionId: B, forkedFrom: { sessionId: A, messageUuid: uuid } });
    const events = await eventsOf({
      [`a/${B}.jsonl`]: [copied("u1"), copied("u2"), user("new", { uuid: "u3", sessionId: B })],
      [`a/${A}/subagents/agent-afork-1.jsonl`]: [
        { type: "fork-context-ref", parentSessionId: A, parentLastUuid: "u2" },
        user("worker"),
      ],
    });
    expect(
      sessions(events).map(({ parent_session_id, parent_message_id, relation }) => [
        parent_session_id,
        parent_message_id,
        relation,
      ]),
    ).toEqual([
      [A, "u2", "fork"],
      [A, "u2", "fork"],
    ]);
    expect(
      messages(events)
        .filter(({ session_id }) => session_id === B)
        .map(pondOf),
    ).toEqual([
      { replays: { session_id: A, message_id: "u1" } },
      { replays: { session_id: A, message_id: "u2" } },
      undefined,
    ]);
  });

  test("a copy that does not say so is told by its instants: they lie before the session's first prompt", async () => {
    const events = await eventsOf({
      [`a/${B}.jsonl`]: [
        {
          type: "queue-operation",
          operation: "enqueue",
          timestamp: "2026-01-01T12:00:00.000Z",
          sessionId: B,
        },
        user("old", { uuid: "u1", timestamp: "2026-01-01T11:00:00.000Z" }),
        user("new", { uuid: "u2", timestamp: "2026-01-01T12:00:01.000Z" }),
      ],
    });
    expect(messages(events).slice(1).map(pondOf)).toEqual([{ replays: true }, undefined]);
  });
});

describe("project", () => {
  test("is the first recorded directory, however late, and a later one changes nothing", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        { type: "mode", mode: "x", sessionId: A },
        user("one", { cwd: "/first" }),
        user("two", { cwd: "/second" }),
      ],
    });
    expect(sessions(events)[0]?.project).toBe("/first");
    expect(messages(events)[2]?.options["source"]).toMatchObject({ record: { cwd: "/second" } });
  });

  test("is waited for while the log is young, and is then the folder's name as it stands", async () => {
    const files = { [`-C--dev-x/${A}.jsonl`]: [{ type: "mode", mode: "x", sessionId: A }] };
    await withPlace(files, async (root) => {
      const { units } = await listUnits(claudeCode, root);
      const young = await readUnit(claudeCode, units[0]!, { root, now: NOW - 2 * HOUR + 1000 });
      expect([young.events, young.waiting.length, young.cursor]).toEqual([[], 1, undefined]);
      const old = await readUnit(claudeCode, units[0]!, { root, now: LATER });
      expect(sessions(old.events)[0]).toMatchObject({
        project: "-C--dev-x",
        options: { pond: { created_at: "file" } },
      });
    });
  });
});

describe("records", () => {
  test("of one response stay one message each and share their turn", async () => {
    const said = (uuid: string, block: object): object =>
      record({
        type: "assistant",
        uuid,
        message: { id: "msg_1", role: "assistant", model: "m", content: [block] },
      });
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        said("a1", { type: "text", text: "Hi" }),
        said("a2", { type: "tool_use", id: "t", name: "Bash", input: {} }),
      ],
    });
    expect(messages(events).map((message) => [message.id, message.role, pondOf(message)])).toEqual([
      ["a1", "assistant", { turn: "msg_1" }],
      ["a2", "assistant", { turn: "msg_1" }],
    ]);
    expect(messages(events)[0]?.options["anthropic"]).toEqual({ model: "m" });
  });

  test("with results and text are split by role, and a result is named by its call", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        record({
          type: "assistant",
          message: { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }] },
        }),
        user(
          [
            { type: "tool_result", tool_use_id: "t", content: "out", is_error: true },
            { type: "text", text: "typed" },
          ],
          { uuid: "u" },
        ),
      ],
    });
    expect(
      messages(events)
        .slice(1)
        .map(({ id, role, seq }) => [id, role, seq]),
    ).toEqual([
      ["u", "tool", 1],
      ["u/1", "user", 1],
    ]);
    expect(parts(events)[1]).toMatchObject({
      type: "tool_result",
      call_id: "t",
      name: "Bash",
      is_failure: true,
      result: "out",
    });
  });

  test("of a queued prompt are what the person typed", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        record({
          type: "attachment",
          attachment: { type: "queued_command", prompt: "and the docs", commandMode: "prompt" },
        }),
        record({
          type: "attachment",
          attachment: {
            type: "queued_command",
            prompt: "<task-notification>",
            commandMode: "task-notification",
          },
        }),
      ],
    });
    expect(messages(events).map(({ role }) => role)).toEqual(["user", "system"]);
    expect(searchText(messages(events)[0]!, parts(events))).toBe("and the docs");
  });

  test("of a sidechain inside its parent's log do not speak for the person", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        user("typed", { uuid: "u1", parentUuid: null }),
        user("task for the helper", { uuid: "u2", parentUuid: null, isSidechain: true }),
      ],
    });
    expect(parts(events).map(({ provenance }) => provenance)).toEqual(["conversational", "injected"]);
    expect(messages(events).map(pondOf)).toEqual([{ parent: null }, { parent: null, aside: true }]);
  });

  test("that start a tree anew after a compaction still follow what came before it", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        user("before", { uuid: "u1", parentUuid: null }),
        record({
          type: "system",
          subtype: "compact_boundary",
          content: "Compacted",
          uuid: "u2",
          parentUuid: null,
          logicalParentUuid: "u1",
        }),
      ],
    });
    expect(messages(events)[1]).toMatchObject({
      role: "system",
      content: "Compacted",
      options: { pond: { parent: "u1", compaction: "boundary" } },
    });
  });

  test("that carry a title say where, and a summary only of this session's own", async () => {
    const events = await eventsOf({
      [`a/${A}.jsonl`]: [
        { type: "summary", summary: "elsewhere", leafUuid: "gone" },
        user("one", { uuid: "u1" }),
        { type: "summary", summary: "here", leafUuid: "u1" },
        { type: "custom-title", customTitle: "Mine", sessionId: A },
      ],
    });
    const titles = messages(events).map(({ options }) => objectField(options, "pond")?.["title"]);
    expect(titles).toEqual([
      undefined,
      undefined,
      { at: "/source/record/summary", rank: 10 },
      { at: "/source/record/customTitle", rank: 30 },
    ]);
  });
});

describe("side files", () => {
  test("that changed come again as a revision; the rest is not read again", async () => {
    const files = {
      [`a/${A}.jsonl`]: [user("one")],
      [`a/${A}/tool-results/x.txt`]: "first",
      [`a/${A}/tool-results/y.txt`]: "same",
    };
    await withPlace(files, async (root) => {
      const read = async (before?: Awaited<ReturnType<typeof readUnit>>) => {
        const { units } = await listUnits(claudeCode, root);
        const kept = { prefix: before?.prefix };
        return readUnit(claudeCode, units[0]!, { root, cursor: before?.cursor, kept });
      };
      const first = await read();
      await appendFile(join(root, `a/${A}/tool-results/x.txt`), " and more");
      const second = await read(first);
      // The log itself is as it was, and so is what is kept of it.
      expect([first.prefix === undefined, second.prefix]).toEqual([false, first.prefix]);
      const [revision, ...others] = messages(second.events);
      expect(others).toEqual([]);
      expect(pondOf(revision)).toEqual({ revises: `file:${A}/tool-results/x.txt` });
      expect(messages(first.events).map(({ id }) => id)).not.toContain(revision?.id);
      const data = parts(second.events)[0];
      expect(
        data?.type === "file" && data.data.kind === "bytes" && Buffer.from(data.data.value).toString(),
      ).toBe("first and more");
    });
  });

  test("of a session whose log is gone are kept", async () => {
    const events = await eventsOf({ [`-w/${A}/tool-results/x.txt`]: "left over" });
    expect(sessions(events)[0]).toMatchObject({ id: A, project: "-w" });
    expect(messages(events)).toHaveLength(1);
  });
});
