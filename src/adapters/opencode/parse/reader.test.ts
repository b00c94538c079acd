/** What the adapter makes of records, by small databases and trees that are made here. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import {
  compareAll,
  lineagesOf,
  listUnits,
  readFolder,
  readUnit,
  restoreNative,
  SOURCE_LAYOUT,
} from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import { isEqualFile } from "../../kit/restore/index.ts";
import { opencode } from "../index.ts";

const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
    agent TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE todo (session_id TEXT, content TEXT, position INTEGER, time_updated INTEGER);
  CREATE TABLE account (id TEXT, access_token TEXT);
  CREATE TABLE credential (id TEXT, value TEXT);
  CREATE TABLE session_share (session_id TEXT, secret TEXT)`;

/** A database at `path`, with what `fill` puts into it. */
function database(path: string, fill: (db: DatabaseSync) => void, schema = SCHEMA): void {
  mkdirSync(dirname(path), { recursive: true });
  using db = new DatabaseSync(path);
  db.exec(schema);
  fill(db);
}

interface Row {
  readonly id: string;
  readonly parent?: string;
  readonly directory?: string;
  readonly agent?: string;
  readonly title?: string;
}

function addSession(db: DatabaseSync, { id, parent, directory, agent, title }: Row): void {
  db.prepare("INSERT INTO session VALUES (?, 'proj', ?, ?, ?, '1.2.0', ?, 1000, 2000)").run(
    id,
    parent ?? null,
    directory ?? "/srv/demo",
    title ?? "Title",
    agent ?? null,
  );
}

function addMessage(db: DatabaseSync, [session, id]: readonly [string, string], data: object | string): void {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  db.prepare("INSERT INTO message VALUES (?, ?, 99000, 99000, ?)").run(id, session, text);
}

function addPart(
  db: DatabaseSync,
  [session, message, id]: readonly [string, string, string],
  data: object | string,
): void {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  db.prepare("INSERT INTO part VALUES (?, ?, ?, 99000, 99000, ?)").run(id, message, session, text);
}

async function statesIn(root: string) {
  const runs = await readFolder(opencode, root);
  const events = runs.flatMap((run) => run.events);
  const comparisons = await compareAll(await restoreNative(opencode, events), root);
  expect(comparisons.filter((one) => !isEqualFile(one))).toEqual([]);
  return { runs, states: replay(events), issues: runs.flatMap((run) => run.issues) };
}

const said = (part: Part): string | undefined => (part.type === "text" ? part.text : undefined);

describe("a database", () => {
  test("instants come from the record, not from migrated columns, and so does the order", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      addMessage(db, ["ses_1", "msg_a"], { role: "assistant", time: { created: 7000, completed: 8000 } });
      addMessage(db, ["ses_1", "msg_b"], { role: "user", time: { created: 5000 } });
      addMessage(db, ["ses_1", "msg_c"], { role: "user" });
    });
    const { states } = await statesIn(box.path);
    const turns = states[0]?.messages.filter(({ message }) => message.seq !== undefined) ?? [];
    expect(turns.map(({ message }) => [message.id, message.timestamp / 1000])).toEqual([
      ["msg_c", 99_000],
      ["msg_b", 5000],
      ["msg_a", 7000],
    ]);
    expect(states[0]?.session.created_at).toBe(1_000_000);
  });

  test("tables of accounts, credentials and shares are never read", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      db.exec("INSERT INTO account VALUES ('a', 'SECRET'); INSERT INTO credential VALUES ('c', 'SECRET')");
      db.exec(
        "INSERT INTO session_share VALUES ('ses_1', 'SECRET'); INSERT INTO todo VALUES ('ses_1', 'water', 0, 1)",
      );
    });
    const { states } = await statesIn(box.path);
    expect(JSON.stringify(states)).toContain("water");
    expect(JSON.stringify(states)).not.toContain("SECRET");
  });

  test("rows that are not JSON are located issues, kept as they are, and nothing else is lost", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      addMessage(db, ["ses_1", "msg_1"], { role: "user", time: { created: 1 } });
      addPart(db, ["ses_1", "msg_1", "prt_1"], "{torn");
      addPart(db, ["ses_1", "msg_1", "prt_2"], '{"type":"text","text":"a","text":"b"}');
      addPart(db, ["ses_1", "msg_1", "prt_3"], { type: "text", text: "kept" });
      addMessage(db, ["ses_1", "msg_2"], "nothing like JSON");
      db.exec("INSERT INTO part VALUES ('prt_4', 'msg_1', 'ses_1', 1, 1, CAST(x'7bff7d' AS TEXT))");
      addPart(db, ["ses_other", "msg_1", "prt_5"], { type: "text", text: "of another session" });
    });
    const { states, issues } = await statesIn(box.path);
    expect(issues.map(({ kind, path, message }) => [kind, path, message.split(":")[0]])).toEqual([
      ["not_json", join(box.path, "opencode.db"), "message msg_2"],
      ["not_json", join(box.path, "opencode.db"), "part prt_1"],
      ["duplicate_keys", join(box.path, "opencode.db"), "part prt_2"],
      ["invalid_utf8", join(box.path, "opencode.db"), "part prt_4"],
    ]);
    expect(states[0]?.messages.flatMap(({ parts }) => parts.map(said))).toContain("kept");
  });

  test("a subagent is named by the agent that it was asked as", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      addSession(db, { id: "ses_2", parent: "ses_1", agent: "later" });
      addMessage(db, ["ses_2", "msg_1"], { role: "user", time: { created: 1 }, agent: "explore" });
      addSession(db, { id: "ses_3", parent: "ses_1", agent: "general" });
      addSession(db, { id: "ses_4", parent: "ses_gone", title: "Look (@review subagent)" });
      addSession(db, { id: "ses_5", parent: "ses_4" });
    });
    const { states } = await statesIn(box.path);
    expect(states.map(({ session: s }) => [s.id, s.source_agent, s.parent_session_id, s.relation])).toEqual([
      ["ses_1", "opencode", undefined, undefined],
      ["ses_2", "opencode/explore", "ses_1", "spawn"],
      ["ses_3", "opencode/general", "ses_1", "spawn"],
      ["ses_4", "opencode/review", "ses_gone", "spawn"],
      ["ses_5", "opencode/subagent", "ses_4", "spawn"],
    ]);
  });

  test("a directory is taken from the answers where the session has none, and a session without any is refused", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1", directory: "" });
      addMessage(db, ["ses_1", "msg_1"], { role: "user", time: { created: 1 } });
      addMessage(db, ["ses_1", "msg_2"], {
        role: "assistant",
        time: { created: 2 },
        path: { cwd: "/srv/told", root: "/" },
      });
      addSession(db, { id: "ses_2", directory: "" });
      addSession(db, { id: "ses_3", directory: "" });
      db.exec("UPDATE session SET project_id = NULL WHERE id = 'ses_3'");
    });
    const { states, issues } = await statesIn(box.path);
    expect(states.map(({ session }) => [session.id, session.project])).toEqual([
      ["ses_1", "/srv/told"],
      ["ses_2", "proj"],
    ]);
    expect(issues).toMatchObject([{ kind: "no_project", path: join(box.path, "opencode.db") }]);
  });

  test("one of another program is an error that says so", async () => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), () => undefined, "CREATE TABLE x (y)");
    await expect(readFolder(opencode, box.path)).rejects.toThrow(/none of the tables/);
  });

  test("every container that holds a session is a source of it, and of its children", async () => {
    await using box = await tempDir();
    for (const name of ["a", "b"])
      database(join(box.path, name, "opencode.db"), (db) => {
        addSession(db, { id: "ses_1" });
        addSession(db, { id: "ses_2", parent: "ses_1" });
        addMessage(db, ["ses_2", "msg_1"], { role: "user", time: { created: 1 }, agent: "explore" });
      });
    const info = { id: "ses_1", directory: "/srv/demo", time: { created: 1 } };
    writeFileSync(join(box.path, "ses_1.json"), JSON.stringify({ info, messages: [] }));
    const { states } = await statesIn(box.path);
    const ids = states.map(({ session }) => session.id);
    expect(ids).toEqual(["ses_1", "ses_2"]);
    expect(states[1]?.session.parent_session_id).toBe("ses_1");
    const lineage = lineagesOf(states).find(({ state }) => state.session.id === "ses_1");
    if (lineage === undefined || opencode.restore.kind !== "supported") throw new Error("no lineage");
    const restored = await opencode.restore.serialize(lineage, { ...SOURCE_LAYOUT, layout: "client" });
    expect(restored.files.map(({ path }) => path)).toEqual(["pond/ses_1.json", "pond/ses_2.json"]);
    expect(restored.resume.words).toEqual(["opencode", "--session", "ses_1"]);
  });
});

describe("parts", () => {
  test("an answer is one message a step, each followed by what its tools answered", async () => {
    await using box = await tempDir();
    const tool = (callID: string, state: object) => ({ type: "tool", tool: "bash", callID, state });
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      addMessage(db, ["ses_1", "msg_1"], { role: "assistant", time: { created: 1, completed: 2 } });
      const parts: readonly object[] = [
        { type: "step-start" },
        { type: "text", text: "one" },
        tool("c1", { status: "completed", input: { command: "a" }, output: "A", metadata: { exit: 0 } }),
        tool("c2", { status: "completed", input: {}, output: "B", metadata: { exit: 2 } }),
        { type: "step-finish" },
        { type: "step-start" },
        { type: "text", text: "two" },
        tool("c3", { status: "error", input: {}, error: "C" }),
        tool("c4", { status: "running", input: {} }),
        { type: "patch", hash: "h" },
      ];
      for (const [index, part] of parts.entries()) addPart(db, ["ses_1", "msg_1", `prt_${index}`], part);
    });
    const { states } = await statesIn(box.path);
    const turns = states[0]?.messages.filter(({ message }) => message.seq !== undefined) ?? [];
    expect(
      turns.map(({ message, parts }) => [message.id, message.role, parts.map(({ type }) => type).join(" ")]),
    ).toEqual([
      ["msg_1", "assistant", "text text tool_call tool_call text"],
      ["msg_1/1", "tool", "tool_result tool_result"],
      ["msg_1/2", "assistant", "text text tool_call tool_call text"],
      ["msg_1/3", "tool", "tool_result"],
    ]);
    const results = turns.flatMap(({ parts }) => parts).filter((part) => part.type === "tool_result");
    expect(results.map((r) => [r.call_id, r.name, r.is_failure, r.result && openJson(r.result)])).toEqual([
      ["c1", "bash", false, "A"],
      ["c2", "bash", true, "B"],
      ["c3", "bash", true, "C"],
    ]);
  });

  test.each([
    [{ type: "text", text: "typed" }, "conversational", undefined],
    [
      { type: "text", text: "<system-reminder>plan</system-reminder>", synthetic: true },
      "injected",
      "system-reminder",
    ],
    [
      { type: "text", text: "Called the Read tool with the following input: {}", synthetic: true },
      "injected",
      "file",
    ],
    [{ type: "text", text: "<path>/a</path>", synthetic: true }, "injected", "file"],
    [
      { type: "text", text: "The following tool was executed by the user", synthetic: true },
      "injected",
      "shell",
    ],
    [
      { type: "text", text: "x", synthetic: true, metadata: { compaction_continue: true } },
      "injected",
      "continuation",
    ],
    [{ type: "text", text: "anything else", synthetic: true }, "injected", "synthetic"],
    [{ type: "text", text: "not for the model", ignored: true }, "injected", "ignored"],
    [
      { type: "text", text: "<system-reminder> quoted by a person", synthetic: false },
      "conversational",
      undefined,
    ],
    [{ type: "file", mime: "text/plain", url: "file:///a", filename: "a" }, "conversational", undefined],
    [{ type: "agent", name: "explore" }, "injected", "agent"],
    [{ type: "compaction", auto: true }, "injected", "compaction"],
    [{ type: "subtask", prompt: "do", agent: "x" }, "injected", "subtask"],
    [{ type: "snapshot", snapshot: "s" }, "injected", "snapshot"],
    [{ no: "type" }, "injected", "unknown"],
  ])("%j in a prompt is %s", async (data, provenance, kind) => {
    await using box = await tempDir();
    database(join(box.path, "opencode.db"), (db) => {
      addSession(db, { id: "ses_1" });
      addMessage(db, ["ses_1", "msg_1"], { role: "user", time: { created: 1 } });
      addPart(db, ["ses_1", "msg_1", "prt_1"], data);
    });
    const { states } = await statesIn(box.path);
    const [part] = states[0]?.messages.flatMap(({ parts }) => parts) ?? [];
    expect(part?.provenance).toBe(provenance);
    expect((part?.options["pond"] as { injected?: string } | undefined)?.injected).toBe(kind);
  });
});

describe("the first opencode, written in Go", () => {
  const GO = `
    CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, cost REAL, created_at INTEGER, updated_at INTEGER);
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER, updated_at INTEGER);
    CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT, updated_at INTEGER)`;

  test("is read from its project's folder, with calls, results and file versions, and comes back equal", async () => {
    await using box = await tempDir();
    const project = join(box.path, "demo");
    database(
      join(project, ".opencode/opencode.db"),
      (db) => {
        const add = db.prepare("INSERT INTO messages VALUES (?, 's1', ?, ?, 'm', ?, ?)");
        const message = (id: string, role: string, parts: readonly unknown[] | string): void => {
          const at = 1_750_000_000_000 + Number(id.slice(1));
          add.run(id, role, typeof parts === "string" ? parts : JSON.stringify(parts), at, at);
        };
        db.exec("INSERT INTO sessions VALUES ('s1', NULL, 'Old days', 0.5, 1750000000000, 1750000000000)");
        db.exec("INSERT INTO sessions VALUES ('s2', 's1', 'A helper', 0, 1750000000000, 1750000000000)");
        db.exec("INSERT INTO files VALUES ('f1', 's1', '/a', 'content', 1750000000000)");
        message("m1", "user", [
          { type: "text", data: { text: "Hello" } },
          { type: "binary", data: { Path: "a.png", MIMEType: "image/png", Data: "AAAA" } },
          { type: "finish", data: { reason: "end_turn", time: 1 } },
        ]);
        message("m2", "assistant", [
          { type: "reasoning", data: { thinking: "hm", signature: "s" } },
          {
            type: "tool_call",
            data: { id: "c1", name: "bash", input: '{"command":"ls"}', type: "tool_use", finished: true },
          },
        ]);
        message("m3", "tool", [
          {
            type: "tool_result",
            data: { tool_call_id: "c1", name: "", content: "a b", metadata: "", is_error: false },
          },
        ]);
        message("m4", "tool", [{ type: "odd" }]);
        message("m5", "system", []);
        message("m6", "user", "not json");
      },
      GO,
    );
    const { states, issues } = await statesIn(box.path);
    expect(issues).toMatchObject([{ kind: "not_json", message: expect.stringContaining("m6") }]);
    expect(states.map(({ session: s }) => [s.id, s.source_agent, s.project, s.parent_session_id])).toEqual([
      ["s1", "opencode", project, undefined],
      ["s2", "opencode/subagent", project, "s1"],
    ]);
    const messages = states[0]?.messages ?? [];
    expect(messages.map(({ message }) => `${message.id} ${message.role}`)).toEqual([
      "m1 user",
      "m2 assistant",
      "m3 tool",
      "m4 system",
      "m5 system",
      "m6 system",
      "files:f1 system",
      "s1 system",
    ]);
    const parts = messages.flatMap((entry) => entry.parts);
    expect(parts.map(({ type, provenance }) => `${type} ${provenance}`)).toEqual([
      "text conversational",
      "file conversational",
      "text injected",
      "reasoning conversational",
      "tool_call conversational",
      "tool_result injected",
    ]);
    expect(parts.at(-1)).toMatchObject({ name: "bash", call_id: "c1", is_failure: false });
  });

  test("for today's client it is as foreign as another client's", async () => {
    await using box = await tempDir();
    database(
      join(box.path, "demo/.opencode/opencode.db"),
      (db) => {
        db.exec("INSERT INTO sessions VALUES ('s1', NULL, 'Old days', 0.5, 1750000000000, 1750000000000)");
        const parts = JSON.stringify([{ type: "text", data: { text: "Hello" } }]);
        db.prepare(
          "INSERT INTO messages VALUES ('m1', 's1', 'user', ?, 'm', 1750000000001, 1750000000001)",
        ).run(parts);
      },
      GO,
    );
    const { states } = await statesIn(box.path);
    if (opencode.restore.kind !== "supported") throw new Error("opencode restores");
    const [lineage] = lineagesOf(states);
    const restored = await opencode.restore.serialize(lineage!, { ...SOURCE_LAYOUT, layout: "client" });
    expect(restored.fidelity).toBe("foreign");
    expect(restored.files).toMatchObject([
      { kind: "json", path: expect.stringMatching(/^pond\/ses_[0-9a-f]{12}\w{14}\.json$/) },
    ]);
    expect(JSON.stringify(restored.files)).toContain('"text":"Hello"');
  });
});

describe("waiting", () => {
  test("a young session that tells no directory, or a subagent no name, is left for later", async () => {
    await using box = await tempDir();
    const path = join(box.path, "opencode.db");
    database(path, (db) => {
      addSession(db, { id: "ses_1" });
      addSession(db, { id: "ses_2", parent: "ses_1" });
      addMessage(db, ["ses_3", "msg_1"], { role: "user", time: { created: 1 } });
      addPart(db, ["ses_3", "msg_1", "prt_1"], { type: "text", text: "where am I" });
    });
    const { units } = await listUnits(opencode, box.path);
    const run = await readUnit(opencode, units[0]!, { root: box.path, now: 100_000 });
    expect(run.waiting).toHaveLength(2);
    expect(replay(run.events).map(({ session }) => session.id)).toEqual(["ses_1"]);
    expect(run.cursor?.files).toEqual({});
    const later = await readUnit(opencode, units[0]!, { root: box.path, cursor: run.cursor });
    expect(replay(later.events).map(({ session }) => [session.id, session.project])).toEqual([
      ["ses_2", "/srv/demo"],
      ["ses_3", basename(box.path)],
    ]);
    utimesSync(path, 1, 1);
  });
});
