/**
 * Sessions that pond restores, and what their clients do with them then: carry them on, fork them, copy them. Each client
 * writes as its captured logs show (docs/adapters).
 */
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Context } from "../../src/handlers/index.ts";
import { listSessions, search } from "../../src/handlers/index.ts";

type Json = Record<string, unknown>;

/** A session of Claude Code, with a subagent. */
export const ORIGIN = "aaaaaaaa-1111-4111-8111-111111111111";
export const SUBAGENT = `${ORIGIN}/agent-x1`;

/** The same of Codex. */
export const CODEX_ORIGIN = "01a1e1d6-0000-7000-8000-00000000c0de";
export const CODEX_SUBAGENT = "01a1e1d6-0000-7000-8000-00000000c0df";

/** Words that only one message of the origins says. */
export const WORDS = ["zebrafish", "quokka", "narwhal"];
/** The same of the subagent. */
export const SUBAGENT_WORDS = ["pangolin", "okapi"];

const at = (second: number): string => new Date(Date.UTC(2026, 4, 1, 10, 0, second)).toISOString();

const claude = (id: string, place: number, said: Json): Json => ({
  uuid: `${id}${place}`,
  parentUuid: place === 0 ? null : `${id}${place - 1}`,
  sessionId: ORIGIN,
  cwd: "/srv/app",
  version: "2.1.197",
  timestamp: at(place),
  ...said,
});

const asked = (content: unknown): Json => ({ type: "user", message: { role: "user", content } });
const answered = (block: Json): Json => ({
  type: "assistant",
  message: { role: "assistant", id: "m1", model: "opus", content: [block] },
});

export function writeOrigin(home: string): string {
  const log = join(home, ".claude/projects/-srv-app", `${ORIGIN}.jsonl`);
  writeRecords(log, [
    claude("u", 0, asked("How does the zebrafish retry?")),
    claude("u", 1, answered({ type: "text", text: "With jitter, like the quokka." })),
    claude("u", 2, answered({ type: "tool_use", id: "toolu_1", name: "Task", input: { prompt: "look" } })),
    claude("u", 3, asked([{ type: "tool_result", tool_use_id: "toolu_1", content: "found" }])),
    claude("u", 4, answered({ type: "text", text: "Ask the narwhal." })),
  ]);
  const agent = join(dirname(log), ORIGIN, "subagents/agent-x1");
  const own = { agentId: "x1", isSidechain: true };
  writeRecords(`${agent}.jsonl`, [
    claude("s", 0, { ...asked("Look for the pangolin."), ...own }),
    claude("s", 1, { ...answered({ type: "text", text: "It is with the okapi." }), ...own }),
  ]);
  writeFileSync(`${agent}.meta.json`, JSON.stringify({ agentType: "scout", toolUseId: "toolu_1" }));
  return log;
}

export function writeCodexOrigin(home: string): string {
  const folder = join(home, ".codex/sessions/2026/05/01");
  const write = (id: string, more: Json, turns: readonly Json[]): string => {
    const log = join(folder, `rollout-2026-05-01T10-00-00-${id}.jsonl`);
    const own = { id, timestamp: at(0), cwd: "/srv/app", originator: "codex_cli_rs", cli_version: "0.166.0" };
    writeRecords(log, [{ timestamp: at(0), type: "session_meta", payload: { ...own, ...more } }, ...turns]);
    return log;
  };
  const spawn = { parent_thread_id: CODEX_ORIGIN, depth: 1, agent_role: "scout" };
  write(CODEX_SUBAGENT, { source: { subagent: { thread_spawn: spawn } } }, [
    codexItem("user", "Look for the pangolin.", at(3)),
    codexItem("assistant", "It is with the okapi.", at(4)),
  ]);
  return write(CODEX_ORIGIN, { source: "cli" }, [
    codexItem("user", "How does the zebrafish retry?", at(1)),
    codexItem("assistant", "With jitter, like the quokka.", at(2)),
    codexItem("user", "Whom do I ask?", at(5)),
    codexItem("assistant", "Ask the narwhal.", at(6)),
  ]);
}

const codexItem = (role: string, text: string, timestamp: string): Json => {
  const type = role === "user" ? "input_text" : "output_text";
  return { timestamp, type: "response_item", payload: { type: "message", role, content: [{ type, text }] } };
};

/** An hour after all that is in a log, and after what the origins say. */
function later(records: readonly Json[]): string {
  const times = records.map(({ timestamp }) => Date.parse(String(timestamp))).filter(Number.isFinite);
  return new Date(Math.max(Date.UTC(2026, 5, 1), ...times) + 3_600_000).toISOString();
}

export const LATER_SESSION = "01c00000-0000-7000-8000-00000000abcd";

/** A session that has nothing to do with any other. */
export function writeLaterSession(client: string, home: string, timestamp: string): void {
  if (client === "claude-code") {
    const log = join(home, ".claude/projects/-srv-app", `${LATER_SESSION}.jsonl`);
    const uuid = "eeeeeeee-0000-4000-8000-000000000000";
    const said = { ...claude("v", 0, asked("What of the lemur?")), sessionId: LATER_SESSION };
    return writeRecords(log, [{ ...said, uuid, timestamp }]);
  }
  const log = join(home, ".codex/sessions/2026/05/02", `rollout-2026-05-02T10-00-00-${LATER_SESSION}.jsonl`);
  const meta = { id: LATER_SESSION, timestamp, cwd: "/srv/app", source: "cli" };
  writeRecords(log, [
    { timestamp, type: "session_meta", payload: meta },
    codexItem("user", "What of the lemur?", timestamp),
    codexItem("assistant", "Asleep.", timestamp),
  ]);
}

/** What a client appends to one of its logs when somebody says something. */
export function carryOn(client: string, log: string, text: string): void {
  const records = readRecords(log);
  const last = records.findLast(({ id, uuid }) => id !== undefined || uuid !== undefined);
  const timestamp = later(records);
  const named = `ffff${text.length.toString(16).padStart(4, "0")}`;
  if (client === "codex-cli") {
    appendRecord(log, codexItem("user", text, timestamp));
    appendRecord(log, codexItem("assistant", "Thrice.", timestamp));
    const payload = { type: "token_count", info: null };
    appendRecord(log, { timestamp, type: "event_msg", payload });
  }
  if (client === "pi")
    appendRecord(log, {
      type: "message",
      id: named,
      parentId: last?.["id"] ?? null,
      timestamp,
      message: { role: "user", content: text, timestamp: Date.parse(timestamp) },
    });
  if (client === "claude-code") {
    const { sessionId, cwd, version, agentId, isSidechain } = records.findLast((each) => "cwd" in each) ?? {};
    appendRecord(log, {
      type: "user",
      uuid: `${named}-0000-4000-8000-${named}0000`,
      parentUuid: last?.["uuid"] ?? null,
      sessionId,
      cwd,
      version,
      timestamp,
      message: { role: "user", content: text },
      ...(agentId === undefined ? {} : { agentId, isSidechain }),
    });
  }
}

export const FORK = "01b00000-0000-7000-8000-00000000f0f0";

/** A fork of a log as its client makes it, of all that is in it. Gives the path of its log. */
export function forkOf(client: string, log: string): string {
  const records = readRecords(log);
  const timestamp = later(records);
  if (client === "codex-cli") {
    const [meta] = records;
    const payload = meta?.["payload"] as Json;
    const own = { ...payload, session_id: FORK, id: FORK, forked_from_id: payload["id"], timestamp };
    const fork = join(dirname(log), `rollout-2026-12-24T10-00-00-${FORK}.jsonl`);
    const copied = records.map((record) => ({ ...record, timestamp }));
    const settings = { type: "thread_settings_applied", thread_id: FORK };
    writeRecords(fork, [
      { timestamp, type: "session_meta", payload: own },
      ...copied,
      { timestamp, type: "event_msg", payload: settings },
    ]);
    return fork;
  }
  if (client === "pi") {
    const [{ metadata: _, ...header } = {}, ...entries] = records;
    const fork = join(dirname(log), `2026-12-24T10-00-00-000Z_${FORK}.jsonl`);
    writeRecords(fork, [{ ...header, id: FORK, timestamp, parentSession: log }, ...entries]);
    return fork;
  }
  return copyOf(log, ({ uuid, sessionId, ...record }) => ({
    ...record,
    uuid,
    sessionId: FORK,
    forkedFrom: { sessionId, messageUuid: uuid },
  }));
}

/** `claude --resume --fork-session`, or a copy by hand: it says nothing of the other session. */
export function copyOf(
  log: string,
  change: (record: Json) => Json = (each) => ({ ...each, sessionId: FORK }),
): string {
  const copy = join(dirname(log), `${FORK}.jsonl`);
  writeRecords(
    copy,
    readRecords(log)
      .filter(({ uuid }) => uuid !== undefined)
      .map(change),
  );
  return copy;
}

/** When somebody says something in opencode, in milliseconds since 1970. */
const TURN = Date.UTC(2026, 5, 1, 11);

interface Export {
  readonly info: Json & { readonly id: string };
  readonly messages: readonly { readonly info: Json & { readonly id: string }; readonly parts: Json[] }[];
}

/** `opencode import` of a file: into its database, or into the tree of files that its versions before 1.2 kept. */
export function importIntoOpencode(home: string, file: string): string {
  const value = JSON.parse(readFileSync(file, "utf8")) as Export;
  writeOpencode(home, value);
  return value.info.id;
}

/** A fork copies the metadata of the session and its messages, all under new ids, times included. */
export function forkOpencode(home: string, file: string): string {
  const { info, messages } = JSON.parse(readFileSync(file, "utf8")) as Export;
  const id = "ses_4f0000000ffeForkForkForkFo";
  const fresh = (kind: string, place: number): string =>
    `${kind}_e00000000${place.toString().padStart(3, "0")}ForkForkForkFo`;
  writeOpencode(home, {
    info: { ...info, id, title: "Forked (fork #1)", time: { created: TURN, updated: TURN } },
    messages: messages.map(({ info: own, parts }, place) => {
      const message = { ...own, id: fresh("msg", place), sessionID: id };
      const prompt = messages.findIndex((each) => each.info.id === own["parentID"]);
      return {
        info: prompt === -1 ? message : { ...message, parentID: fresh("msg", prompt) },
        parts: parts.map((part, k) => ({
          ...part,
          id: fresh("prt", place * 20 + k),
          messageID: message.id,
          sessionID: id,
        })),
      };
    }),
  });
  return id;
}

export function carryOnOpencode(home: string, session: string, text: string): void {
  const id = `msg_f${text.length.toString(16).padStart(11, "0")}LaterLaterLate`;
  const own = { sessionID: session, messageID: id };
  const info = { id, role: "user", time: { created: TURN }, sessionID: session, agent: "build" };
  const part = { ...own, id: id.replace("msg", "prt"), type: "text", text };
  writeOpencode(home, { info: { id: session }, messages: [{ info, parts: [part] }] });
}

/** From now on opencode keeps its sessions in a database, as it does since 1.2; there are none in it. */
export function startOpencodeDatabase(home: string): void {
  const path = databaseIn(home);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../fixtures/adapters/opencode/data/opencode.db"), path);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA foreign_keys = ON; DELETE FROM session");
  database.close();
}

const databaseIn = (home: string): string => join(home, ".local/share/opencode/opencode.db");

function writeOpencode(home: string, value: Export): void {
  if (existsSync(databaseIn(home))) writeRows(databaseIn(home), value);
  else writeTree(join(home, ".local/share/opencode/storage"), value);
}

function writeTree(storage: string, { info, messages }: Export): void {
  const write = (path: string, value: unknown): void => {
    mkdirSync(dirname(join(storage, path)), { recursive: true });
    writeFileSync(join(storage, path), JSON.stringify(value));
  };
  if (info["directory"] !== undefined) write(`session/global/${info.id}.json`, info);
  for (const { info: message, parts } of messages) {
    write(`message/${info.id}/${message.id}.json`, message);
    for (const part of parts) write(`part/${message.id}/${String(part["id"])}.json`, part);
  }
}

function writeRows(path: string, { info, messages }: Export): void {
  const database = new DatabaseSync(path);
  const put = (table: string, row: Record<string, string | number | null>): void => {
    const names = Object.keys(row);
    const values = names.map(() => "?").join(", ");
    database
      .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${values})`)
      .run(...Object.values(row));
  };
  const project = database.prepare("SELECT id FROM project").get()?.["id"];
  const { created, updated } = (info["time"] ?? {}) as Record<string, number>;
  if (info["directory"] !== undefined)
    put("session", {
      id: info.id,
      project_id: String(project),
      parent_id: (info["parentID"] as string | undefined) ?? null,
      slug: "restored",
      directory: info["directory"] as string,
      title: info["title"] as string,
      version: info["version"] as string,
      metadata: JSON.stringify(info["metadata"]),
      time_created: created ?? TURN,
      time_updated: updated ?? TURN,
    });
  else database.prepare("UPDATE session SET time_updated = ? WHERE id = ?").run(TURN + 1, info.id);
  for (const { info: message, parts } of messages) {
    const { id, sessionID: _, ...data } = message;
    const time = (message["time"] as Record<string, number>)["created"] ?? TURN;
    const times = { time_created: time, time_updated: info["directory"] === undefined ? TURN + 1 : time };
    put("message", { id, session_id: info.id, ...times, data: JSON.stringify(data) });
    for (const { id: own, sessionID: __, messageID: ___, ...part } of parts)
      put("part", {
        id: String(own),
        message_id: id,
        session_id: info.id,
        ...times,
        data: JSON.stringify(part),
      });
  }
  database.close();
}

/** The session of each hit, subagents included. */
export async function hitsOf(context: Context, query: string): Promise<readonly string[]> {
  const { sessions } = await search(context, { query, filters: { include_subagents: true } });
  return sessions.flatMap(({ session_id, matches }) => matches.map(() => session_id));
}

export async function idsOf(context: Context): Promise<readonly string[]> {
  const { sessions } = await listSessions(context, { include_subagents: true });
  return sessions.map(({ id }) => id).toSorted();
}

export function readRecords(log: string): Json[] {
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Json);
}

function writeRecords(log: string, records: readonly Json[]): void {
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

const appendRecord = (log: string, record: Json): void => appendFileSync(log, `${JSON.stringify(record)}\n`);
