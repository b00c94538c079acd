/** What is left of sessions and messages that are gone: kept beside its session, and restored where it was. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import {
  compareAll,
  LATER,
  listUnits,
  readFolder,
  readUnit,
  restoreNative,
} from "../../../test/support/adapter-run.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { replay } from "../../model/events/index.ts";
import { opencode } from "./index.ts";

const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, directory TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE todo (session_id TEXT, content TEXT, position INTEGER, time_updated INTEGER);
  CREATE TABLE session_input (id TEXT, session_id TEXT, data TEXT, time_updated INTEGER);
  INSERT INTO session VALUES ('ses_1', 'p', '/w', 1000, 1000);
  INSERT INTO message VALUES ('msg_1', 'ses_1', 1000, 1000, '{"role":"user","time":{"created":1000}}');
  INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1000, 1000, '{"type":"text","text":"here"}');`;

function database(root: string, sql: string): void {
  mkdirSync(root, { recursive: true });
  using db = new DatabaseSync(join(root, "opencode.db"));
  db.exec(SCHEMA);
  db.exec(sql);
}

async function readAll(root: string) {
  const { issues } = await listUnits(opencode, root);
  const runs = await readFolder(opencode, root);
  const events = runs.flatMap((run) => run.events);
  const files = await restoreNative(opencode, events);
  const comparisons = await compareAll(files, root);
  return {
    states: replay(events),
    issues: [...issues, ...runs.flatMap((run) => run.issues)],
    unequal: comparisons.filter(({ difference }) => difference !== undefined),
    records: comparisons.reduce((sum, { records }) => sum + records, 0),
    paths: files.map(({ path }) => path).toSorted(),
    superseded: runs.flatMap((run) => run.superseded),
  };
}

describe("a database", () => {
  test("a part whose message is gone stands in a carrier of its session", async () => {
    await using box = await tempDir();
    const data = `'{"type":"text","text":"left over"}'`;
    database(box.path, `INSERT INTO part VALUES ('prt_2', 'msg_gone', 'ses_1', 1000, 1000, ${data})`);
    const { states, issues, unequal, records } = await readAll(box.path);
    expect([issues, unequal, records, states.length]).toEqual([[], [], 4, 1]);
    expect(states[0]?.messages.map(({ message }) => message.id)).toContain("part:prt_2");
    expect(JSON.stringify(states)).toContain("left over");
  });

  test.each([
    ["a part", `INSERT INTO part VALUES ('prt_2', 'msg_gone', 'ses_gone', 1000, 5000, '{"type":"text"}')`],
    ["a todo", "INSERT INTO todo VALUES ('ses_gone', 'water', 0, 5000)"],
    ["an input", "INSERT INTO session_input VALUES ('inp_1', 'ses_gone', '{}', 5000)"],
  ])("%s whose session is gone makes one, of an id of its own", async (_what, sql) => {
    await using box = await tempDir();
    database(join(box.path, "data"), sql);
    const { states, issues, unequal, records } = await readAll(box.path);
    expect([issues, unequal, records]).toEqual([[], [], 4]);
    const [left] = states.filter(({ session }) => session.id !== "ses_1");
    expect(left?.session).toMatchObject({
      id: expect.stringMatching(/^ses_gone@[0-9a-f]{8}$/),
      project: "data",
      created_at: 5_000_000,
      options: { source: { session_id: "ses_gone" } },
    });
    expect(left?.messages).toHaveLength(1);
  });

  test("a message whose session is gone keeps the session's id, in the folder's name where it tells no directory", async () => {
    await using box = await tempDir();
    database(box.path, `INSERT INTO message VALUES ('msg_2', 'ses_gone', 1000, 1000, '{"role":"user"}')`);
    const { states, unequal, issues } = await readAll(box.path);
    expect([issues, unequal]).toEqual([[], []]);
    expect(states.map(({ session }) => [session.id, session.project])).toEqual([
      ["ses_1", "/w"],
      ["ses_gone", basename(box.path)],
    ]);
  });

  test("rows of no session are no session", async () => {
    await using box = await tempDir();
    database(box.path, "INSERT INTO todo VALUES (NULL, 'nobody', 0, 5000)");
    expect((await readAll(box.path)).states).toHaveLength(1);
  });

  test("a part is held back while its message may still come", async () => {
    await using box = await tempDir();
    database(box.path, "INSERT INTO part VALUES ('prt_2', 'msg_gone', 'ses_1', 1000, 500000, '{}')");
    const { units } = await listUnits(opencode, box.path);
    const young = await readUnit(opencode, units[0]!, { root: box.path, now: 600_000 });
    expect([JSON.stringify(young.events).includes("prt_2"), young.cursor?.files]).toEqual([false, {}]);
    const old = await readUnit(opencode, units[0]!, { root: box.path, now: LATER, cursor: young.cursor });
    expect(JSON.stringify(old.events)).toContain("prt_2");
  });
});

function tree(root: string, files: Readonly<Record<string, object>>): void {
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(value));
  }
}

const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => relative(root, join(root, path)))
    .toSorted();

const INFO = { id: "ses_1", projectID: "p", directory: "/w", time: { created: 1000 } };
const LEFT = { id: "prt_2", messageID: "msg_gone", sessionID: "ses_1", type: "text", text: "left over" };

describe("a tree", () => {
  test("parts of a message that is not there stand in carriers of the session that they name", async () => {
    await using box = await tempDir();
    tree(box.path, {
      "storage/session/p/ses_1.json": INFO,
      "storage/message/ses_1/msg_1.json": { id: "msg_1", sessionID: "ses_1", role: "user" },
      "storage/part/msg_gone/prt_2.json": LEFT,
      "storage/part/msg_gone/prt_3.json": { id: "prt_3" },
    });
    const { states, issues, unequal, paths } = await readAll(box.path);
    expect([issues, unequal, paths]).toEqual([[], [], filesBelow(box.path)]);
    expect(states).toHaveLength(1);
    expect(JSON.stringify(states)).toContain("left over");
  });

  test("parts of a message by the id that it tells, whatever its file is called, are its parts", async () => {
    await using box = await tempDir();
    tree(box.path, {
      "storage/session/p/ses_1.json": INFO,
      "storage/message/ses_1/other-name.json": { id: "msg_1", sessionID: "ses_1", role: "user" },
      "storage/part/msg_1/prt_1.json": { ...LEFT, id: "prt_1", messageID: "msg_1", text: "its own" },
      "storage/part/other-name/prt_2.json": LEFT,
    });
    const { states, unequal, paths } = await readAll(box.path);
    expect([unequal, paths]).toEqual([[], filesBelow(box.path)]);
    const said = states[0]?.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    );
    expect(said).toEqual(["its own"]);
  });

  test("parts of which nothing else is left make a session: the one that they name, else their message's", async () => {
    await using box = await tempDir();
    tree(box.path, {
      "data/storage/part/msg_gone/prt_2.json": { ...LEFT, sessionID: "ses_gone" },
      "data/storage/part/msg_lost/prt_3.json": { id: "prt_3" },
    });
    const { states, issues, unequal, paths } = await readAll(box.path);
    expect([issues, unequal, paths]).toEqual([[], [], filesBelow(box.path)]);
    expect(states.map(({ session }) => [session.id.split("@")[0], session.project])).toEqual([
      ["ses_gone", "data"],
      ["msg_lost", "data"],
    ]);
  });

  test("before mid-2025 too", async () => {
    await using box = await tempDir();
    const base = "project/srv-demo/storage/session";
    tree(box.path, {
      [`${base}/info/ses_1.json`]: INFO,
      [`${base}/part/ses_1/msg_gone/prt_2.json`]: LEFT,
      [`${base}/part/ses_gone/msg_gone/prt_2.json`]: LEFT,
    });
    const { states, issues, unequal, paths } = await readAll(box.path);
    expect([issues, unequal, paths]).toEqual([[], [], filesBelow(box.path)]);
    expect(states.map(({ session }) => session.project)).toEqual(["/w", "srv-demo"]);
  });

  test("parts that are left of a session in the database are kept, and are not taken for the session", async () => {
    await using box = await tempDir();
    database(box.path, "");
    tree(box.path, { "storage/part/msg_gone/prt_2.json": LEFT });
    const { states, unequal, superseded } = await readAll(box.path);
    expect([unequal, superseded]).toEqual([[], []]);
    expect(states.map(({ session }) => session.id.split("@").length)).toEqual([1, 2]);
  });
});
