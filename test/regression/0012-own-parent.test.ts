/**
 * A session that names itself as its parent could not be restored, and listed itself as its own child. It is a root. Two
 * that name each other are no tree: that is told as what it is, with the sessions, and not as a fault of pond.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TempHome } from "../cli/pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const AT = "2026-01-02T03:04:05.000Z";
const MS = 1_700_000_000_000;

type Files = Readonly<Record<string, readonly unknown[]>>;

const pi = (id: string, parent: string): Files => ({
  [`.pi/agent/sessions/--srv-app--/2026-01-02T03-04-05-000Z_${id}.jsonl`]: [
    { type: "session", version: 3, id, timestamp: AT, cwd: "/srv/app", parentSession: parent },
    {
      type: "message",
      id: "a1",
      parentId: null,
      timestamp: AT,
      message: { role: "user", content: "a walk by the pond" },
    },
  ],
});

const codex = (id: string, parent: string): Files => ({
  [`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`]: [
    {
      timestamp: AT,
      type: "session_meta",
      payload: {
        id,
        timestamp: AT,
        cwd: "/srv/app",
        source: { subagent: { thread_spawn: { parent_thread_id: parent } } },
      },
    },
    {
      timestamp: AT,
      type: "response_item",
      payload: {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "a walk by the pond" }],
      },
    },
  ],
});

const opencode = (id: string, parent: string): Files => {
  const time = { created: MS, updated: MS };
  const storage = ".local/share/opencode/storage";
  return {
    [`${storage}/session/p/${id}.json`]: [
      { id, projectID: "p", directory: "/srv/app", parentID: parent, title: "walk", time },
    ],
    [`${storage}/message/${id}/msg_1.json`]: [{ id: "msg_1", sessionID: id, role: "user", time }],
    [`${storage}/part/msg_1/prt_1.json`]: [
      { id: "prt_1", sessionID: id, messageID: "msg_1", type: "text", text: "a walk by the pond" },
    ],
  };
};

async function homeWith(files: Files): Promise<TempHome> {
  const home = new TempHome();
  for (const [path, records] of Object.entries(files)) {
    mkdirSync(dirname(join(home.path, path)), { recursive: true });
    writeFileSync(join(home.path, path), records.map((each) => `${JSON.stringify(each)}\n`).join(""));
  }
  expect(await home.pond(["sync"])).toMatchObject({ code: 0 });
  return home;
}

describe.each([
  ["pi", pi],
  ["codex-cli", codex],
  ["opencode", opencode],
])("a session of %s that is its own parent", (_, make) => {
  test("is shown, found by the start of its id, and restored", async () => {
    const files = make(ID, ID);
    using home = await homeWith(files);
    const got = await home.pond(["get", ID.slice(0, 8), "--json"]);
    expect(JSON.parse(got.stdout)).toMatchObject({ session: { id: ID }, children: [] });
    const listed = await home.pond(["sessions", "--subagents", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ id: ID, children: 0 }] });
    const children = await home.pond(["sessions", "--parent", ID, "--json"]);
    expect(JSON.parse(children.stdout)).toMatchObject({ sessions: [] });
    const found = await home.pond(["search", "walk", "--subagents", "--json"]);
    expect(JSON.parse(found.stdout)).toMatchObject({ matched_total: 1 });
    expect(await home.pond(["verify"])).toMatchObject({ code: 0 });
    const out = join(home.path, "out");
    expect(await home.pond(["restore", ID, "--out", out])).toMatchObject({ code: 0, stderr: "" });
  });
});

test("a restored log that names itself is the log that was stored", async () => {
  const files = pi(ID, ID);
  using home = await homeWith(files);
  const [path = ""] = Object.keys(files);
  const values = (): unknown[] =>
    readFileSync(join(home.path, path), "utf8")
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  const before = values();
  rmSync(join(home.path, path));
  expect(await home.pond(["restore", ID])).toMatchObject({ code: 0 });
  expect(values()).toEqual(before);
});

test("sessions that are each other's parents are refused by name, each can be read", async () => {
  using home = await homeWith({ ...pi(ID, OTHER), ...pi(OTHER, ID) });
  const refused = await home.pond(["restore", ID, "--out", join(home.path, "out"), "--json"]);
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stderr)).toMatchObject({
    error: {
      code: "validation_failed",
      message: expect.stringContaining(`${ID} is a child of ${OTHER} is a child of ${ID}`),
      details: { reason: "corrupt", hint: expect.stringContaining("pond get") },
    },
  });
  for (const id of [ID, OTHER])
    expect(await home.pond(["get", id])).toMatchObject({ code: 0, stdout: expect.stringContaining("walk") });
  expect(await home.pond(["verify"])).toMatchObject({ code: 0 });
});
