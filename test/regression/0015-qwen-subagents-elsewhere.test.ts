/**
 * The log of a Qwen Code subagent that did not stand below `subagents/<session>/` was joined with the session that started
 * it, or with another subagent of it; one that named no directory went to a project called `subagents`
 * (spec.md#adapter-lineage, docs/adapters/qwen-code.md#identity).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json/json.ts";
import type { Session } from "../../src/model/index.ts";
import { listSessions, restore, sync } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";
import { writeLog } from "../support/aged-files.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;
const PROJECTS = ".qwen/projects";

interface Turn {
  readonly id: string;
  readonly session?: string;
  readonly cwd?: string;
  readonly fields?: JsonObject;
}

function writeTurn(folder: string, key: string, { id, session, cwd, fields = {} }: Turn): void {
  const record = {
    uuid: id,
    parentUuid: null,
    ...(session === undefined ? {} : { sessionId: session }),
    timestamp: "2020-01-02T03:04:05.000Z",
    type: "user",
    ...(cwd === undefined ? {} : { cwd }),
    ...fields,
    message: { role: "user", parts: [{ text: `text of ${id}` }] },
  };
  writeLog(join(folder, key), [record]);
}

const AGENT = { agentId: "explore-1", agentName: "explore", isSidechain: true };

type Temp = Awaited<ReturnType<typeof tempContext>>;

async function stored({ context }: Temp): Promise<Record<string, Session>> {
  const { sessions } = await listSessions(context, { include_subagents: true });
  const store = await context.store();
  return Object.fromEntries(await store.sessions(new Set(sessions.map(({ id }) => id))));
}

/** The files of a restore by their paths below it. */
async function restored({ context, home }: Temp, id: string): Promise<Record<string, string>> {
  const out = join(home, `out-${id.replaceAll("/", "-")}`);
  await restore(context, { session_id: id, out });
  const names = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(out, name), "utf8")]));
}

test.each<[string, string, JsonObject]>([
  ["by the id of its agent", "backup/agent-explore-1.jsonl", AGENT],
  ["under another name", "backup/saved.jsonl", AGENT],
  ["by its name alone", "backup/agent-explore-1.jsonl", { agentName: "explore" }],
  ["as a side chain", "backup/agent-explore-1.jsonl", { isSidechain: true }],
])("a copy of a subagent's log is a session below the one that started it: %s", async (_, key, fields) => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const cwd = "/srv/x";
  writeTurn(join(home, PROJECTS), "-srv-x/chats/S1.jsonl", { id: "a", session: "S1", cwd });
  writeTurn(join(home, PROJECTS), key, { id: "b", session: "S1", cwd, fields });
  await sync(context, IMPORT);
  expect(await stored(temp)).toMatchObject({
    S1: { source_agent: "qwen-code" },
    "S1/agent-explore-1": { parent_session_id: "S1", relation: "spawn", project: cwd },
  });
  const files = await restored(temp, "S1");
  expect(Object.keys(files)).toEqual(["-srv-x/chats/S1.jsonl", "-srv-x/subagents/S1/agent-explore-1.jsonl"]);
  expect(files["-srv-x/chats/S1.jsonl"]).not.toContain("text of b");
});

test.each(["-srv-x", "-srv-x/subagents", "-srv-x/subagents/S1", "-srv-x/subagents/S1/agent-a.jsonl"])(
  "the log of a subagent is the same session by the path %s of a copy of its project",
  async (path) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    const key = "-srv-x/subagents/S1/agent-a.jsonl";
    writeTurn(join(home, "copy"), key, { id: "b", session: "S1", fields: { agentName: "explore" } });
    await sync(context, { ...IMPORT, adapters: ["qwen-code"], paths: [join(home, "copy", path)] });
    expect(await stored(temp)).toMatchObject({ "S1/agent-a": { project: "-srv-x" } });
    expect(Object.keys(await restored(temp, "S1/agent-a"))).toEqual([key]);
  },
);

test("subagents without a directory belong to the project of their session, and are restored into it", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const fields = { agentName: "explore" };
  const logs: Record<string, Turn> = {
    "-srv-x/chats/S2.jsonl": { id: "a", session: "S2" },
    "-srv-x/subagents/S2/agent-b.jsonl": { id: "b", session: "S2", fields },
    "-srv-x/subagents/S2/deep/agent-c.jsonl": { id: "c", session: "S2", fields },
    "-srv-x/subagents/S2/agent-d.jsonl": { id: "d", session: "S2", fields, cwd: "/srv/other" },
  };
  for (const [key, turn] of Object.entries(logs)) writeTurn(join(home, PROJECTS), key, turn);
  writeTurn(join(home, PROJECTS), "-srv-x/subagents/S9/agent-e.jsonl", { id: "e", fields });
  await sync(context, IMPORT);
  const found = await stored(temp);
  const projects = Object.values(found).map(({ project }) => project as string);
  expect(projects.toSorted()).toEqual(["-srv-x", "-srv-x", "-srv-x", "-srv-x", "/srv/other"]);
  expect(Object.keys(await restored(temp, "S2"))).toEqual(Object.keys(logs).toSorted());
  const nameless = Object.keys(found).find((id) => id.startsWith("agent-e@")) ?? "";
  expect(Object.keys(await restored(temp, nameless))).toEqual(["-srv-x/subagents/S9/agent-e.jsonl"]);
});

test("a subagent in its session's folder and one of that name beside the folder are two", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const [session, cwd] = ["S3", "/srv/x"];
  const logs: Record<string, Turn> = {
    "-srv-x/chats/S3.jsonl": { id: "a", session, cwd },
    "-srv-x/subagents/S3/agent-t.jsonl": { id: "b", session, cwd, fields: { agentName: "explore" } },
    "-srv-x/subagents/agent-t.jsonl": { id: "c", session, cwd, fields: { agentName: "other" } },
  };
  for (const [key, turn] of Object.entries(logs)) writeTurn(join(home, PROJECTS), key, turn);
  await sync(context, IMPORT);
  const ids = Object.keys(await stored(temp)).toSorted();
  expect(ids).toEqual(["S3", "S3/agent-t", expect.stringMatching(/^S3\/agent-t@[0-9a-f]{8}$/)]);
  const files = await restored(temp, "S3");
  expect(Object.keys(files)).toEqual(Object.keys(logs).toSorted());
  for (const [key, { id }] of Object.entries(logs)) expect(files[key]).toContain(`text of ${id}`);
});

test("a session that has its own name stays a session, whatever its first record says of an agent", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const turn = { id: "a", session: "S4", cwd: "/srv/x", fields: AGENT };
  writeTurn(join(home, PROJECTS), "-srv-x/chats/S4.jsonl", turn);
  await sync(context, IMPORT);
  expect(await stored(temp)).toMatchObject({ S4: { source_agent: "qwen-code" } });
});
