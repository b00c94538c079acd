/** The parse face on files as Codex writes, compresses, moves, forks and names them. */
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { listUnits, LATER, readFolder, readUnit } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { Event } from "../../../model/index.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { activeBranch, searchText } from "../../../model/derived/index.ts";
import { replay } from "../../../model/events/index.ts";
import { historyOf, LossReport } from "../../kit/foreign/index.ts";
import { contextOf } from "../restore/context.ts";
import { codexCli } from "../index.ts";

const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const OTHER = "01a1e1d6-0000-7000-8000-000000000002";
const PATH = `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`;

const at = (second: number): string => new Date(Date.UTC(2026, 10, 16, 0, 0, second)).toISOString();
const meta = (id = THREAD, more: object = {}) => ({
  timestamp: at(0),
  type: "session_meta",
  payload: {
    id,
    timestamp: at(0),
    cwd: "/w",
    originator: "x",
    cli_version: "0.118.0",
    source: "cli",
    ...more,
  },
});
const item = (second: number, payload: object) => ({ timestamp: at(second), type: "response_item", payload });
const event = (second: number, payload: object) => ({ timestamp: at(second), type: "event_msg", payload });
const said = (role: "user" | "assistant", ...texts: string[]) => ({
  type: "message",
  role,
  content: texts.map((text) => ({ type: role === "user" ? "input_text" : "output_text", text })),
});
const shown = (message: string, more: object = {}) => ({
  type: "user_message",
  message,
  images: [],
  ...more,
});

function write(root: string, path: string, records: readonly object[]): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

async function sessionOf(...records: readonly object[]): Promise<SessionState> {
  await using folder = await tempDir();
  write(folder.path, PATH, records);
  const [state] = replay((await readFolder(codexCli, folder.path)).flatMap(({ events }) => events));
  return state!;
}

const pieces = ({ parts }: MessageWithParts) =>
  parts.map((part) => {
    const pond = part.options["pond"] as { injected?: string } | undefined;
    return [pond?.injected ?? part.provenance, part.type === "text" ? part.text : part.type];
  });
const texts = (state: SessionState) =>
  state.messages.flatMap(({ message, parts }) => searchText(message, parts) ?? []);
const pondOf = (entry: MessageWithParts | undefined) => entry?.message.options["pond"];

describe("twins", () => {
  test("the item is the message, its event a carrier that names it; the text is found once", async () => {
    const state = await sessionOf(
      meta(),
      item(1, said("user", "hello")),
      event(1, shown("hello")),
      event(2, { type: "agent_message", message: "hi" }),
      item(2, said("assistant", "hi")),
    );
    expect(state.messages.map(({ message }) => message.role)).toEqual([
      "system",
      "user",
      "system",
      "system",
      "assistant",
    ]);
    expect(texts(state)).toEqual(["hello", "hi"]);
    expect(pondOf(state.messages[2])).toEqual({ twin: state.messages[1]?.message.id });
    expect(pondOf(state.messages[3])).toEqual({ twin: state.messages[4]?.message.id });
  });

  test("an event without its item is the message", async () => {
    const state = await sessionOf(
      meta(),
      event(1, shown("only shown")),
      event(2, { type: "agent_message", message: "only said" }),
      event(3, {
        type: "item_completed",
        item: { type: "UserMessage", content: [{ type: "text", text: "third" }] },
      }),
      event(4, { type: "token_count", info: null }),
    );
    expect(texts(state)).toEqual(["only shown", "only said", "third"]);
  });

  test("an event shows one message: the same words again, or of the other side, are said again", async () => {
    const state = await sessionOf(
      meta(),
      item(1, said("assistant", "yes")),
      event(2, { type: "token_count" }),
      event(3, { type: "agent_message", message: "yes" }),
      event(4, { type: "agent_message", message: "yes" }),
      event(5, shown("yes")),
      event(6, { type: "token_count" }),
    );
    expect(state.messages.map(({ message }) => message.role)).toEqual([
      "system",
      "assistant",
      "system",
      "system",
      "assistant",
      "user",
      "system",
    ]);
  });

  test("what was submitted is written by a person, whatever it looks like", async () => {
    const text = "<environment_context>why is this here?</environment_context>";
    const typed = await sessionOf(meta(), item(1, said("user", text)), event(1, shown(text)));
    expect(texts(typed)).toEqual([text]);
    const injected = await sessionOf(meta(), item(1, said("user", text)), event(1, { type: "token_count" }));
    expect(texts(injected)).toEqual([]);
    const declared = await sessionOf(
      meta(),
      item(1, said("user", text)),
      event(1, shown(text, { kind: "environment_context" })),
    );
    expect(texts(declared)).toEqual([]);
  });

  test("what stands around the submitted text is injected, split at the exact boundary", async () => {
    const state = await sessionOf(
      meta(),
      item(1, said("user", "note before\n\nthe question\n\nnote after", "second note")),
      event(1, shown("the question")),
    );
    expect(pieces(state.messages[1]!)).toEqual([
      ["context", "note before\n\n"],
      ["conversational", "the question"],
      ["context", "\n\nnote after"],
      ["context", "second note"],
    ]);
  });

  test("an answer that never came to the screen is not conversation, a plan is", async () => {
    const state = await sessionOf(
      meta(),
      event(1, { type: "agent_message", message: "shown" }),
      item(1, said("assistant", "shown")),
      event(2, { type: "task_started", turn_id: "t" }),
      item(3, said("assistant", "a summary for the model")),
      event(4, { type: "item_completed", item: { type: "Plan", id: "p", text: "plan" } }),
      item(4, said("assistant", "<proposed_plan>plan</proposed_plan>")),
      event(5, { type: "exited_review_mode" }),
      item(5, said("assistant", "review")),
      event(5, { type: "agent_message", message: "review" }),
    );
    expect(texts(state)).toEqual(["shown", "<proposed_plan>plan</proposed_plan>", "review"]);
  });

  test("the last record waits for the one after it while the file is being written, then is told as it is", async () => {
    await using folder = await tempDir();
    const file = write(folder.path, PATH, [meta(), item(1, said("user", "<skill>x</skill>"))]);
    const unit = async () => (await listUnits(codexCli, folder.path)).units[0]!;
    const now = (): number => statSync(file).mtimeMs + 1000;
    const early = await readUnit(codexCli, await unit(), { root: folder.path, now: now() });
    expect(early.events.filter(({ kind }) => kind === "message")).toHaveLength(1);
    // Nothing about the file changed, and yet it is not fresh.
    const later = await readUnit(codexCli, await unit(), {
      root: folder.path,
      cursor: early.cursor,
      now: LATER,
    });
    expect(pieces(replay(later.events)[0]!.messages[0]!)).toEqual([["skill", "<skill>x</skill>"]]);
    const idle = await readUnit(codexCli, await unit(), {
      root: folder.path,
      cursor: later.cursor,
      now: LATER,
    });
    expect(idle.events).toEqual([]);
  });
});

describe("forms of a rollout", () => {
  const records = [
    meta(),
    item(1, said("user", "one")),
    event(1, shown("one")),
    event(2, { type: "token_count" }),
  ];

  test("compressing and restoring a file changes nothing that is read, and reading goes on behind it", async () => {
    await using folder = await tempDir();
    const file = write(folder.path, PATH, records);
    const read = async (before?: Awaited<ReturnType<typeof readUnit>>) => {
      const { units } = await listUnits(codexCli, folder.path);
      expect(units.map(({ key }) => key)).toEqual([PATH]);
      const kept = { prefix: before?.prefix };
      return readUnit(codexCli, units[0]!, { root: folder.path, cursor: before?.cursor, kept });
    };
    const plain = await read();
    const more = { ...event(3, { type: "token_count", info: {} }) };
    const lines = [...records, more].map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(`${file}.zst`, zstdCompressSync(lines));
    rmSync(file);
    const compressed = await read();
    expect(compressed.events.slice(0, plain.events.length)).toEqual(plain.events);
    const grown = await read(plain);
    expect(grown.events.map(({ kind }) => kind)).toEqual(["session", "message"]);
    // There is no going to the middle of what is compressed.
    expect([plain.prefix === undefined, grown.prefix]).toEqual([false, undefined]);
    // Both are there while the client writes the plain one back: it wins.
    writeFileSync(file, lines);
    expect((await read(grown)).events.map(({ kind }) => kind)).toEqual(["session"]);
    // Another content under the same name is read from its start.
    writeFileSync(file, lines.replaceAll('"one"', '"two"'));
    expect((await read(grown)).events.length).toBe(compressed.events.length);
  });

  test("a damaged archive is an issue and not an end", async () => {
    await using folder = await tempDir();
    const file = write(folder.path, PATH, records);
    writeFileSync(`${file}.zst`, zstdCompressSync("x".repeat(10_000)).subarray(0, 12));
    rmSync(file);
    const [run] = await readFolder(codexCli, folder.path);
    expect(run?.issues.map(({ kind, path }) => [kind, path])).toEqual([["unreadable", `${file}.zst`]]);
  });

  test("archiving moves a session and does not make it another one", async () => {
    await using folder = await tempDir();
    const file = write(folder.path, PATH, records);
    const before = (await readFolder(codexCli, folder.path))[0]!.events;
    const archived = join(folder.path, `archived_sessions/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`);
    mkdirSync(dirname(archived));
    renameSync(file, archived);
    const after = (await readFolder(codexCli, folder.path))[0]!.events;
    expect(keysOf(after)).toEqual(keysOf(before));
  });

  test("every file with the same id is a source of that session, live, archived or named otherwise", async () => {
    await using folder = await tempDir();
    write(folder.path, `archived_sessions/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`, records);
    write(folder.path, PATH, records);
    write(folder.path, "sessions/copy.jsonl", records);
    const runs = await readFolder(codexCli, folder.path);
    const ids = runs.map(({ unit, events }) => [unit.key, idOf(events)]);
    expect(ids.map(([key]) => key)).toEqual([
      PATH,
      "sessions/copy.jsonl",
      `archived_sessions/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`,
    ]);
    expect(ids.map(([, id]) => id)).toEqual([THREAD, THREAD, THREAD]);
  });

  test("a file keeps the id that it was read under when a copy turns up before it", async () => {
    await using folder = await tempDir();
    write(folder.path, PATH, records);
    const [first] = await readFolder(codexCli, folder.path);
    write(folder.path, `sessions/2025/01/01/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`, records);
    const { units } = await listUnits(codexCli, folder.path);
    write(folder.path, PATH, [...records, event(9, { type: "token_count", info: {} })]);
    const again = units.find(({ key }) => key === PATH)!;
    expect(again.found).toBe(false);
    const grown = await readUnit(
      codexCli,
      { ...again, files: [{ ...again.files[0]!, size: again.files[0]!.size + 1 }] },
      { root: folder.path, cursor: first!.cursor },
    );
    expect(idOf(grown.events)).toBe(THREAD);
  });

  test("a log that records no directory yet is left for later while it is young", async () => {
    await using folder = await tempDir();
    const file = write(folder.path, PATH, [{ id: THREAD, timestamp: at(0), instructions: null }]);
    const { units } = await listUnits(codexCli, folder.path);
    const young = await readUnit(codexCli, units[0]!, { root: folder.path, now: statSync(file).mtimeMs + 1 });
    expect([young.events, young.waiting.length, young.cursor]).toEqual([[], 1, undefined]);
    const [state] = replay((await readUnit(codexCli, units[0]!, { root: folder.path })).events);
    expect(state?.session.project).toBe("sessions/2026/11/16");
  });
});

describe("lineage", () => {
  test("a fork that copies keeps the ids of what it repeats and says whose they are", async () => {
    await using folder = await tempDir();
    const turn = (id: string, second: number, text: string) => [
      event(second, { type: "task_started", turn_id: id }),
      item(second, said("user", text)),
      event(second, shown(text)),
    ];
    const copied = turn("01a1d000-0000-7000-8000-00000000000a", 0, "first");
    write(folder.path, PATH, [meta(), ...copied]);
    const fork = `sessions/2026/11/16/rollout-2026-11-16T00-01-00-${OTHER}.jsonl`;
    const created = { timestamp: at(0), forked_from_id: THREAD };
    write(folder.path, fork, [
      meta(OTHER, created),
      meta(),
      ...copied,
      ...turn("01a8c000-0000-7000-8000-00000000000b", 1, "second"),
    ]);
    const states = replay((await readFolder(codexCli, folder.path)).flatMap(({ events }) => events));
    const [parent, child] = [THREAD, OTHER].map((id) => states.find(({ session }) => session.id === id)!);
    expect(child?.session).toMatchObject({ parent_session_id: THREAD, relation: "fork" });
    expect(child?.session).not.toHaveProperty("parent_message_id");
    const repeated = child!.messages.filter((entry) =>
      JSON.stringify(pondOf(entry) ?? {}).includes("replays"),
    );
    expect(repeated.map(({ message }) => message.id)).toEqual(
      parent!.messages.map(({ message }) => message.id),
    );
    expect(pondOf(repeated[2])).toEqual({
      replays: { session_id: THREAD, message_id: repeated[2]?.message.id },
    });
    expect(child!.messages.length - repeated.length).toBe(4);
  });

  test("a paginated fork names its cut point, a reverted thread the file it goes on from", async () => {
    await using folder = await tempDir();
    const base = { thread_id: THREAD, end_ordinal_exclusive: 7, end_byte_offset: 900 };
    write(folder.path, `sessions/rollout-2026-11-16T00-01-00-${OTHER}.jsonl`, [
      { ordinal: 7, ...meta(OTHER, { forked_from_id: THREAD, history_base: base }) },
    ]);
    write(folder.path, `sessions/rollout-2026-11-16T00-02-00-${THREAD}_${OTHER}.jsonl`, [
      { ordinal: 7, ...meta(THREAD, { history_base: base }) },
    ]);
    const sessions = (await readFolder(codexCli, folder.path)).flatMap(({ events }) =>
      replay(events).map(({ session, messages }) => ({ ...session, first: messages[0]?.message.id })),
    );
    const expected = {
      parent_session_id: THREAD,
      relation: "fork",
      parent_message_id: "ordinal:6",
      first: "ordinal:7",
    };
    expect(sessions).toMatchObject([
      { id: OTHER, ...expected },
      { id: `${THREAD}_${OTHER}`, ...expected },
    ]);
  });

  test.each([
    [
      {
        source: { subagent: { thread_spawn: { parent_thread_id: OTHER, depth: 1, agent_role: "explorer" } } },
      },
      "codex-cli/explorer",
      OTHER,
    ],
    [
      {
        source: { subagent: { thread_spawn: { parent_thread_id: OTHER, depth: 1, agent_role: null } } },
        agent_role: "worker",
      },
      "codex-cli/worker",
      OTHER,
    ],
    [{ source: { subagent: "review" }, parent_thread_id: OTHER }, "codex-cli/review", OTHER],
    [{ source: { subagent: { other: "guardian" } } }, "codex-cli/guardian", undefined],
    [{ source: { internal: "memory_consolidation" } }, "codex-cli/memory_consolidation", undefined],
    [{ source: { subagent: {} }, thread_source: "subagent" }, "codex-cli/subagent", undefined],
    [{ source: "vscode" }, "codex-cli", undefined],
    [{ forked_from_id: THREAD }, "codex-cli", undefined],
  ])("%j is %s of %s", async (more, agent, parent) => {
    const { session } = await sessionOf(meta(THREAD, more));
    expect([session.source_agent, session.parent_session_id]).toEqual([agent, parent]);
    expect(session.relation).toBe(parent === undefined ? undefined : "spawn");
  });

  test("prompts that the harness writes for its own agents are no conversation", async () => {
    const records = [
      item(1, said("user", "Review these changes.")),
      event(1, shown("Review these changes.")),
    ];
    expect(texts(await sessionOf(meta(THREAD, { source: { subagent: "review" } }), ...records))).toEqual([]);
    const spawn = { subagent: { thread_spawn: { parent_thread_id: OTHER } } };
    expect(texts(await sessionOf(meta(THREAD, { source: spawn }), ...records))).toEqual([
      "Review these changes.",
    ]);
  });
});

describe("tool results", () => {
  test("know their tool by the call, and failure where the log says so", async () => {
    const call = (id: string, name = "exec_command") =>
      item(1, { type: "function_call", name, arguments: "{}", call_id: id });
    const output = (id: string, text: unknown) =>
      item(2, { type: "function_call_output", call_id: id, output: text });
    const state = await sessionOf(
      meta(),
      call("a"),
      event(1, { type: "exec_command_end", call_id: "a", exit_code: 2 }),
      output("a", "no head"),
      call("b"),
      output("b", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"),
      call("c"),
      output("c", "Exit code: 124\nWall time: 9 seconds\nOutput:\n"),
      call("d", "view_image"),
      output("d", "Process exited with code 1, says the picture"),
      output("e", "orphan"),
    );
    const results = state.messages.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "tool_result" ? [[part.call_id, part.name, part.is_failure]] : [],
      ),
    );
    expect(results).toEqual([
      ["a", "exec_command", true],
      ["b", "exec_command", false],
      ["c", "exec_command", true],
      ["d", "view_image", undefined],
      ["e", undefined, undefined],
    ]);
  });
});

describe("names of threads", () => {
  const index = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const name = (id: string, thread_name: string, second: number) => ({
    id,
    thread_name,
    updated_at: at(second),
  });

  test("become titles in the sessions that they name", async () => {
    await using folder = await tempDir();
    write(folder.path, PATH, [meta(), event(1, { type: "token_count" })]);
    const lines = [name(THREAD, "first", 1), name(THREAD, "second", 3)];
    writeFileSync(join(folder.path, "session_index.jsonl"), index(...lines));
    const runs = await readFolder(codexCli, folder.path);
    const [state, ...others] = replay(runs.flatMap(({ events }) => events));
    expect([state?.session.id, others]).toEqual([THREAD, []]);
    const titles = state!.messages.flatMap(({ message }) => {
      const { source, pond } = message.options as {
        source: { record: { thread_name?: string } };
        pond?: { title?: object };
      };
      return pond?.title === undefined ? [] : [[source.record.thread_name, pond.title, message.seq]];
    });
    const title = { at: "/source/record/thread_name", rank: 30 };
    expect(titles).toEqual([
      ["first", title, undefined],
      ["second", title, undefined],
    ]);
    // The session is announced as its own rollout announces it.
    const announced = runs.map(({ events }) => events.find(({ kind }) => kind === "session"));
    expect(announced[0]).toEqual(announced[1]);
  });

  test("a rename makes the index stale and no rollout; a thread that is not written yet is waited for", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, "session_index.jsonl");
    writeFileSync(path, index(name(THREAD, "early", 1)));
    utimesSync(path, 1, 1);
    const unit = async () =>
      (await listUnits(codexCli, folder.path)).units.find(({ key }) => key === "session_index.jsonl")!;
    const soon = Date.parse(at(5));
    const early = await readUnit(codexCli, await unit(), { root: folder.path, now: soon });
    expect([early.events, early.cursor]).toEqual([[], undefined]);
    write(folder.path, PATH, [meta()]);
    const found = await readUnit(codexCli, await unit(), { root: folder.path, now: soon });
    expect(found.events.map(({ kind }) => kind)).toEqual(["session", "message"]);
    expect(found.cursor).toBeDefined();
    expect(
      (await readUnit(codexCli, await unit(), { root: folder.path, cursor: found.cursor })).events,
    ).toEqual([]);
  });

  test("lines that say nothing are located issues", async () => {
    await using folder = await tempDir();
    writeFileSync(join(folder.path, "session_index.jsonl"), `{"thread_name":"x"}\nnot json\n`);
    const [run] = await readFolder(codexCli, folder.path);
    expect(run?.issues.map(({ kind, line }) => [kind, line])).toEqual([
      ["unexpected_shape", 1],
      ["not_json", 2],
    ]);
  });
});

function keysOf(events: readonly Event[]): string[] {
  return events.flatMap((one) =>
    one.kind === "message" ? [`${one.message.session_id} ${one.message.id}`] : [],
  );
}

function idOf(events: readonly Event[]): string | undefined {
  return events.flatMap((one) => (one.kind === "session" ? [one.session.id] : []))[0];
}

describe("turns that were taken back", () => {
  const rules = (second: number, text: string) =>
    item(second, { type: "message", role: "developer", content: [{ type: "input_text", text }] });
  const turn = (second: number, name: string) => [
    event(second, { type: "task_started", turn_id: name }),
    rules(second, "<model_switch>another model</model_switch>"),
    item(second, said("user", `<environment_context>${name}</environment_context>`)),
    item(second, said("user", `${name} question`)),
    event(second, shown(`${name} question`)),
    item(second + 1, said("assistant", `${name} answer`)),
    event(second + 1, { type: "task_complete", turn_id: name }),
  ];
  const back = (second: number, num_turns: number) =>
    event(second, { type: "thread_rolled_back", num_turns });
  const active = async (...records: readonly object[]): Promise<readonly string[]> => {
    const state = await sessionOf(meta(), ...records);
    const ids = activeBranch(state.messages.map(({ message }) => message));
    const kept = state.messages.filter(({ message }) => ids.has(message.id));
    return kept
      .flatMap(({ message, parts }) =>
        message.role === "system"
          ? message.content
          : parts.map((part) => (part.type === "text" && part.text) || ""),
      )
      .filter((text) => text !== "");
  };
  const told = (name: string): readonly string[] => [
    "<model_switch>another model</model_switch>",
    `<environment_context>${name}</environment_context>`,
    `${name} question`,
    `${name} answer`,
  ];

  test("are left, with what the client told its model before them", async () => {
    const log = [...turn(1, "first"), ...turn(3, "second"), ...turn(5, "third")];
    expect(await active(...log)).toEqual(["first", "second", "third"].flatMap(told));
    expect(await active(...log, back(7, 1))).toEqual(["first", "second"].flatMap(told));
    expect(await active(...log, back(7, 2), ...turn(8, "fourth"))).toEqual(["first", "fourth"].flatMap(told));
    // Those that were taken back before are not counted again.
    expect(await active(...log, back(7, 1), ...turn(8, "fourth"), back(10, 2))).toEqual(told("first"));
    expect(await active(...log, back(7, 0))).toEqual(["first", "second", "third"].flatMap(told));
    // Before the first turn nothing goes.
    expect(await active(...log, back(7, 9))).toEqual(told("first").slice(0, 2));
  });

  test("are handed over to no other client, and count as another branch", async () => {
    const state = await sessionOf(meta(), ...turn(1, "first"), ...turn(3, "second"), back(5, 1));
    const losses = new LossReport();
    const { messages } = historyOf(state, { losses, context: contextOf });
    expect(JSON.stringify(messages)).toContain("first answer");
    expect(JSON.stringify(messages)).not.toContain("second answer");
    expect(losses.list()).toMatchObject([
      { what: "instructions from its client", affects: "model", count: 1 },
      { what: "turn of another branch", affects: "record", count: 2 },
    ]);
  });
});
