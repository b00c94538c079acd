/**
 * What pond restored is no new session (spec.md#sources-restored): untouched it is not stored again, carried on by its
 * client it resumes its origin, and no message is found twice.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { PondError } from "../../src/base/errors.ts";
import type { Context } from "../../src/handlers/index.ts";
import { get, listSessions, restore, search, sync, verify } from "../../src/handlers/index.ts";
import { sessionId } from "../../src/model/index.ts";
import { carryOn } from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "aaaaaaaa-1111-4111-8111-111111111111";

const record = (at: number, type: string, content: unknown): object => ({
  type,
  uuid: `u${at}`,
  parentUuid: at === 0 ? null : `u${at - 1}`,
  sessionId: ID,
  cwd: "/srv/app",
  version: "2.1.197",
  timestamp: new Date(Date.UTC(2026, 4, 1, 10, 0, at)).toISOString(),
  message: { role: type, ...(type === "assistant" ? { id: `m${at}`, model: "opus" } : {}), content },
});

const RECORDS = [
  record(0, "user", "How does the zebrafish retry?"),
  record(1, "assistant", [{ type: "text", text: "With jitter, like the quokka." }]),
  record(2, "assistant", [{ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } }]),
  record(3, "user", [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.txt" }]),
  record(4, "assistant", [{ type: "text", text: "Ask the narwhal." }]),
];

async function storedSession(context: Context, home: string): Promise<void> {
  const path = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, RECORDS.map((each) => `${JSON.stringify(each)}\n`).join(""));
  await sync(context, IMPORT);
}

/** What the client of a restored log writes next. */
const NEXT: Readonly<Record<string, (last: { readonly id?: string }) => readonly object[]>> = {
  "codex-cli": () => [
    codex("user", "input_text", "And the platypus?"),
    codex("assistant", "output_text", "Thrice."),
    {
      timestamp: "2026-06-01T10:00:02.000Z",
      type: "event_msg",
      payload: { type: "token_count", info: null },
    },
  ],
  pi: ({ id = null }) => [
    {
      type: "message",
      id: "ffff0001",
      parentId: id,
      timestamp: "2026-06-01T10:00:00.000Z",
      message: { role: "user", content: "And the platypus?", timestamp: 1780308000000 },
    },
  ],
};

const codex = (role: string, type: string, text: string): object => ({
  timestamp: "2026-06-01T10:00:00.000Z",
  type: "response_item",
  payload: { type: "message", role, content: [{ type, text }] },
});

const hitsOf = async (context: Context, query: string): Promise<readonly string[]> =>
  (await search(context, { query })).sessions.flatMap(({ session_id, matches }) =>
    matches.map(() => session_id),
  );

const idsOf = async (context: Context): Promise<readonly string[]> =>
  (await listSessions(context, { include_subagents: true })).sessions.map(({ id }) => id);

/** Restored, carried on and deleted; restored again, and carried on in another way. */
async function goneTwoWays(context: Context, home: string, client: string) {
  await storedSession(context, home);
  const { resume, files, out } = await restore(context, { session_id: ID, to: client });
  const log = files[0]?.path ?? "";
  carryOn(client, log, "And the platypus?");
  await sync(context, {});
  rmSync(log);
  // By itself it is refused: the session went on there.
  await restore(context, { session_id: ID, to: client, out });
  carryOn(client, log, "And what of the wombat then?");
  await sync(context, {});
  return { session: resume.id, log };
}

const endsOf = async (context: Context, session: string): Promise<number | undefined> =>
  (await listSessions(context, {})).sessions.find(({ id }) => id === session)?.ends;

describe.each(["codex-cli", "pi"])("a session that was restored into %s", (client) => {
  test("is no other session as long as nobody touches it, by whatever machine it is read", async () => {
    await using temp = await tempContext();
    const { context, home } = temp;
    await storedSession(context, home);
    const { resume, files } = await restore(context, { session_id: ID, to: client });
    expect((await sync(context, IMPORT)).clients.find(({ adapter }) => adapter === client)).toMatchObject({
      read: 1,
    });
    // Another machine, or one that lost what it remembered beside the store.
    rmSync(context.config.paths.state, { recursive: true });
    await sync(context, IMPORT);
    expect(await idsOf(context)).toEqual([ID]);
    expect(await hitsOf(context, "quokka")).toEqual([ID]);
    const verified = (await verify(context, {})).clients.find(({ adapter }) => adapter === client);
    expect(verified).toMatchObject({ restored: 1, unstored: 0, proven: true });
    const [line] = (await listSessions(context, {})).sessions;
    expect(line?.restored_to).toMatchObject([{ client, session_id: resume.id, path: files[0]?.path }]);
  });

  test("resumes its origin once its client carries it on, and shows no message twice", async () => {
    await using temp = await tempContext();
    const { context, home } = temp;
    await storedSession(context, home);
    const { resume, files } = await restore(context, { session_id: ID, to: client });
    await sync(context, IMPORT);
    const log = files[0]?.path ?? "";
    const last = JSON.parse(readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "") as { id?: string };
    for (const next of NEXT[client]?.(last) ?? []) appendFileSync(log, `${JSON.stringify(next)}\n`);
    await sync(context, IMPORT);
    expect((await idsOf(context)).toSorted()).toEqual([ID, resume.id].toSorted());
    const store = await context.store();
    expect(await store.session(sessionId(resume.id))).toMatchObject({
      parent_session_id: ID,
      parent_message_id: "u4",
      relation: "resume",
    });
    for (const word of ["zebrafish", "quokka", "narwhal"])
      expect(await hitsOf(context, word)).toHaveLength(1);
    expect(await hitsOf(context, "platypus")).toEqual([resume.id]);
    // Its own log comes back as it is, and its origin without it.
    const out = join(home, "out");
    const back = await restore(context, { session_id: resume.id, out });
    const values = (path: string): unknown[] =>
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
    expect(values(back.files[0]?.path ?? "")).toEqual(values(log));
    expect(await restore(context, { session_id: ID, out })).toMatchObject({
      sessions: 1,
      fidelity: "native",
    });
    expect((await verify(context, {})).clients.map(({ unstored }) => unstored)).toEqual([0, 0]);
    // One more turn is read on from where the last sync stopped.
    const [, ...more] = NEXT[client]?.({ id: "ffff0001" }) ?? [];
    for (const next of more) appendFileSync(log, `${JSON.stringify(next)}\n`);
    await sync(context, IMPORT);
    expect(await hitsOf(context, "quokka")).toHaveLength(1);
  });

  test("goes two ways where its copy is deleted, restored again and carried on otherwise", async () => {
    await using temp = await tempContext();
    const { context, home } = temp;
    const { session } = await goneTwoWays(context, home, client);
    expect(await endsOf(context, session)).toBe(2);
    const states: string[] = [];
    for (const query of ["platypus", "wombat"])
      for (const { matches } of (await search(context, { query })).sessions)
        states.push(...matches.map(({ state }) => state ?? "shown"));
    expect(states.toSorted()).toEqual(["other_end", "shown"]);
    const ways: string[] = [];
    for (const end of [1, 2]) {
      const back = await restore(context, { session_id: session, end, out: join(home, `end-${end}`) });
      expect(back).toMatchObject({ fidelity: "native", unproven: [] });
      ways.push(readFileSync(back.files[0]?.path ?? "", "utf8"));
    }
    const words = ways.map((way) => ["platypus", "wombat"].filter((word) => way.includes(word)).join(" "));
    expect(words.toSorted()).toEqual(["platypus", "wombat"]);
  });

  test("is not restored a second time", async () => {
    await using temp = await tempContext();
    const { context, home } = temp;
    await storedSession(context, home);
    const { files } = await restore(context, { session_id: ID, to: client });
    await expect(restore(context, { session_id: ID, to: client })).rejects.toMatchObject({
      reason: "exists",
      data: { path: files[0]?.path },
    });
    rmSync(files[0]?.path ?? "");
    await restore(context, { session_id: ID, to: client });
    expect(existsSync(files[0]?.path ?? "")).toBe(true);
  });
});

test("an earlier state that is restored to where the log was hides no later turn, also when it is carried on", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const log = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  appendFileSync(log, `${JSON.stringify(record(5, "user", "And the platypus?"))}\n`);
  await sync(context, IMPORT);
  const shown = async (query: string): Promise<readonly string[]> =>
    (await search(context, { query })).sessions.flatMap(({ matches }) =>
      matches.map(({ state }) => state ?? "shown"),
    );
  rmSync(log);
  await restore(context, { session_id: ID, state: 1 });
  await sync(context, IMPORT);
  expect(await shown("platypus")).toEqual(["shown"]);
  expect(await endsOf(context, ID)).toBeUndefined();
  appendFileSync(log, `${JSON.stringify(record(6, "user", "And what of the wombat then?"))}\n`);
  await sync(context, IMPORT);
  expect(await endsOf(context, ID)).toBe(2);
  expect([...(await shown("platypus")), ...(await shown("wombat"))].toSorted()).toEqual([
    "other_end",
    "shown",
  ]);
});

test("a native restore that its client carries on continues the same session", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const log = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  rmSync(join(home, ".claude"), { recursive: true });
  await restore(context, { session_id: ID });
  await sync(context, IMPORT);
  expect(await idsOf(context)).toEqual([ID]);
  appendFileSync(log, `${JSON.stringify(record(5, "user", "And the platypus?"))}\n`);
  await sync(context, IMPORT);
  expect(await idsOf(context)).toEqual([ID]);
  const [line] = (await listSessions(context, {})).sessions;
  expect(line).toMatchObject({
    messages: { total: 6 },
    restored_to: [{ client: "claude-code", session_id: ID }],
  });
  expect(line?.ends).toBeUndefined();
});

test("a native restore with mapped paths is not another end of its session as long as nobody touches it", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  rmSync(join(home, ".claude"), { recursive: true });
  const map_paths = [`/srv/app=${join(home, "elsewhere")}`];
  const { files } = await restore(context, { session_id: ID, map_paths });
  rmSync(context.config.paths.state, { recursive: true });
  await sync(context, IMPORT);
  const [line, ...others] = (await listSessions(context, {})).sessions;
  expect(others).toEqual([]);
  expect(line).toMatchObject({ project: "/srv/app", messages: { total: RECORDS.length } });
  expect(line?.ends).toBeUndefined();
  expect((await verify(context, {})).clients).toMatchObject([{ restored: 1, unstored: 0, changed: 0 }]);
  appendFileSync(files[0]?.path ?? "", `${JSON.stringify(record(5, "user", "And the platypus?"))}\n`);
  await sync(context, IMPORT);
  expect(await hitsOf(context, "platypus")).toEqual([ID]);
  expect((await verify(context, {})).clients).toMatchObject([{ unstored: 0 }]);
  // Carried on it is one, and each says which it is.
  const got = await get(context, { session_id: ID });
  expect(got).toMatchObject({ ends: [{ end: 1, mapped_paths: true }, { end: 2 }] });
  expect((await restore(context, { session_id: ID, dry_run: true })).state).toMatchObject({
    ends: 2,
    mapped_paths: true,
  });
});

test("a restore that cannot be recorded says so", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const store = await context.store();
  const refused = vi
    .spyOn(store, "recordRestores")
    .mockRejectedValue(new PondError("storage_unavailable", "the store is read-only"));
  expect(await restore(context, { session_id: ID, to: "pi" })).toMatchObject({ is_unrecorded: true });
  refused.mockRestore();
});

test("a restored session that was only opened is no session of its own", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const { files } = await restore(context, { session_id: ID, to: "pi" });
  const change = { type: "thinking_level_change", id: "ffff0009", parentId: null, thinkingLevel: "off" };
  const timestamp = "2026-06-01T10:00:00.000Z";
  appendFileSync(files[0]?.path ?? "", `${JSON.stringify({ ...change, timestamp })}\n`);
  await sync(context, IMPORT);
  expect(await idsOf(context)).toEqual([ID]);
});

test("a copy that is older than its origin says how to hand over the rest", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const { files, resume } = await restore(context, { session_id: ID, to: "pi" });
  const log = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  appendFileSync(log, `${JSON.stringify(record(5, "user", "And the platypus?"))}\n`);
  await sync(context, IMPORT);
  for (const reuse of [false, true])
    await expect(restore(context, { session_id: ID, to: "pi", reuse })).rejects.toMatchObject({
      reason: "exists",
      hint: expect.stringContaining("which has not changed since, and run this again"),
    });
  // By its own id it is the same session.
  await expect(restore(context, { session_id: resume.id })).rejects.toMatchObject({
    reason: "exists",
    data: { session: resume.id },
  });
  rmSync(files[0]?.path ?? "");
  await restore(context, { session_id: ID, to: "pi" });
});

test("a log that only lacks its last newline is the session that a restore would write", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const log = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  writeFileSync(log, readFileSync(log, "utf8").trimEnd());
  await sync(context, IMPORT);
  const { files } = await restore(context, { session_id: ID, dry_run: true });
  expect(files).toMatchObject([{ kept: true }]);
});

test("what a client injected is not what a person typed in the session that was restored from it", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const path = join(home, ".claude/projects/-srv-app", `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const note =
    "<task-notification>\n<status>completed</status>\n<result>The axolotl is fine.</result>\n</task-notification>";
  const records = [
    record(0, "user", note),
    record(1, "user", "How does the zebrafish retry?"),
    record(2, "assistant", [{ type: "text", text: "With jitter." }]),
  ];
  writeFileSync(path, records.map((each) => `${JSON.stringify(each)}\n`).join(""));
  await sync(context, IMPORT);
  const origin = (await listSessions(context, {})).sessions[0];
  const { files, resume } = await restore(context, { session_id: ID, to: "codex-cli" });
  for (const next of NEXT["codex-cli"]?.({}) ?? [])
    appendFileSync(files[0]?.path ?? "", `${JSON.stringify(next)}\n`);
  await sync(context, IMPORT);
  const copy = (await listSessions(context, {})).sessions.find(({ id }) => id === resume.id);
  expect(copy?.title).toBe(origin?.title);
  expect(await hitsOf(context, "axolotl")).toEqual(
    await hitsOf(context, "axolotl").then((hits) => hits.filter((id) => id === ID)),
  );
  const back = await restore(context, { session_id: resume.id, out: join(home, "out") });
  expect(back).toMatchObject({ fidelity: "native", unproven: [] });
});

test("a second restore that nobody touched takes nothing from the session that was carried on", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const { files, resume } = await restore(context, { session_id: ID, to: "codex-cli" });
  const log = files[0]?.path ?? "";
  for (const next of NEXT["codex-cli"]?.({}) ?? []) appendFileSync(log, `${JSON.stringify(next)}\n`);
  await sync(context, IMPORT);
  rmSync(log);
  await restore(context, { session_id: ID, to: "codex-cli", out: join(home, ".codex") });
  await sync(context, IMPORT);
  const { sessions } = await search(context, { query: "platypus" });
  expect(sessions.map(({ session_id }) => session_id)).toEqual([resume.id]);
  const back = await restore(context, { session_id: resume.id, out: join(home, "out") });
  expect(readFileSync(back.files[0]?.path ?? "", "utf8")).toContain("platypus");
});

test("a restored message that somebody changed is stored", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const { files, resume } = await restore(context, { session_id: ID, to: "pi" });
  const log = files[0]?.path ?? "";
  writeFileSync(log, readFileSync(log, "utf8").replace("quokka", "kiwi"));
  await sync(context, IMPORT);
  expect(await hitsOf(context, "kiwi")).toEqual([resume.id]);
  expect((await verify(context, {})).clients.every(({ unstored }) => unstored === 0)).toBe(true);
});

test("a restore that is killed once its file is in place is known to the store", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const store = await context.store();
  let log = "";
  vi.spyOn(store, "recordRestores").mockImplementation((records) => {
    log = records[0]?.path ?? "";
    expect(existsSync(log)).toBe(false);
    return Promise.reject(new Error("killed"));
  });
  await expect(restore(context, { session_id: ID, to: "pi" })).rejects.toThrow("killed");
  expect(log).not.toBe("");
  expect(existsSync(log)).toBe(false);
});

test("a resume with other paths makes no second copy beside the first, and a dry run says so", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const elsewhere = join(home, "elsewhere");
  mkdirSync(elsewhere);
  const { files } = await restore(context, {
    session_id: ID,
    to: "pi",
    map_paths: [`/srv/app=${elsewhere}`],
  });
  const mapped = { session_id: ID, to: "pi", reuse: true, map_paths: [`/srv/app=${home}`] };
  await expect(restore(context, mapped)).rejects.toMatchObject({ data: { path: files[0]?.path } });
  const planned = await restore(context, { ...mapped, dry_run: true });
  expect(planned.refused).toMatchObject({ reason: "exists", path: files[0]?.path });
  expect(await restore(context, { session_id: ID, to: "pi", reuse: true })).toMatchObject({
    files: [{ kept: true }],
  });
});

test("a prompt that Codex has not shown yet is waited for, and verify does not ask for a sync that leaves it", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  await storedSession(context, home);
  const { files, resume } = await restore(context, { session_id: ID, to: "codex-cli" });
  const log = files[0]?.path ?? "";
  // A run that was interrupted before the event for the screen, the twin of the prompt, was written.
  appendFileSync(log, `${JSON.stringify(codex("user", "input_text", "And the platypus?"))}\n`);
  await sync(context, {});
  expect(await idsOf(context)).toEqual([ID]);
  const verified = async () =>
    (await verify(context, {})).clients.find(({ adapter }) => adapter === "codex-cli");
  expect(await verified()).toMatchObject({ unstored: 0, waiting: 1, proven: true });
  // Nothing came for an hour: now it is a turn, and a sync helps.
  const then = new Date(Date.now() - 3_700_000);
  utimesSync(log, then, then);
  expect(await verified()).toMatchObject({ unstored: 1, waiting: 0, proven: false });
  await sync(context, {});
  expect(await hitsOf(context, "platypus")).toEqual([resume.id]);
  expect(await verified()).toMatchObject({ unstored: 0, waiting: 0, proven: true });
});

test("a copy that was restored again, goes on and is trimmed is no third way", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const { session, log } = await goneTwoWays(context, home, "pi");
  expect((await verify(context, {})).clients.every(({ proven, gone }) => proven && gone === 0)).toBe(true);
  const before = readFileSync(log, "utf8");
  carryOn("pi", log, "And the echidna, is it well?");
  await sync(context, {});
  expect(await endsOf(context, session)).toBe(2);
  writeFileSync(log, before);
  await sync(context, {});
  expect(await endsOf(context, session)).toBe(2);
  const { sessions } = await search(context, { query: "echidna" });
  expect(sessions).toMatchObject([{ matches: [{ state: "removed" }] }]);
});
