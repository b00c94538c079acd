/**
 * A fork that a client makes of what pond restored into it is no stranger to the session it came from
 * (spec.md#sources-restored): it is linked to it, what was restored replays it, and no message is found twice.
 */
import { describe, expect, test, vi } from "vitest";
import { restore, sync, verify } from "../../src/handlers/index.ts";
import { sessionId } from "../../src/model/index.ts";
import {
  carryOn,
  carryOnOpencode,
  CODEX_ORIGIN,
  copyOf,
  FORK,
  forkOf,
  forkOpencode,
  hitsOf,
  idsOf,
  importIntoOpencode,
  LATER_SESSION,
  ORIGIN,
  readRecords,
  startOpencodeDatabase,
  SUBAGENT,
  WORDS,
  writeCodexOrigin,
  writeLaterSession,
  writeOrigin,
} from "../support/restored-story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

/** Where a session is restored from, so that the client is another one. */
function originFor(client: string, home: string): string {
  if (client !== "claude-code") {
    writeOrigin(home);
    return ORIGIN;
  }
  writeCodexOrigin(home);
  return CODEX_ORIGIN;
}

async function restored(temp: TempContext, client: string) {
  const { context, home } = temp;
  const origin = originFor(client, home);
  await sync(context, IMPORT);
  const { files, resume } = await restore(context, { session_id: origin, to: client });
  return { context, home, origin, copy: resume.id, log: files[0]?.path ?? "" };
}

async function expectOnce({ context }: TempContext, words: readonly string[] = WORDS): Promise<void> {
  for (const word of words) expect([word, await hitsOf(context, word)]).toEqual([word, [expect.anything()]]);
}

describe.each(["codex-cli", "pi", "claude-code"])("a fork of what was restored into %s", (client) => {
  test("resumes the origin, where nobody carried on the restored session itself", async () => {
    await using temp = await tempContext();
    const { context, home, origin, log } = await restored(temp, client);
    await sync(context, IMPORT);
    const fork = forkOf(client, log);
    carryOn(client, fork, "And the platypus?");
    await sync(context, IMPORT);
    expect(await idsOf(context)).toContain(FORK);
    const store = await context.store();
    expect(await store.session(FORK)).toMatchObject({ parent_session_id: origin, relation: "resume" });
    await expectOnce(temp);
    expect(await hitsOf(context, "platypus")).toEqual([FORK]);
    // Its own log comes back as it is, and names its parent as its client did.
    const back = await restore(context, { session_id: FORK, out: `${home}/out` });
    expect(readRecords(back.files[0]?.path ?? "")).toEqual(readRecords(fork));
    expect(back).toMatchObject({ fidelity: "native", unproven: [] });
    expect(await restore(context, { session_id: origin, out: `${home}/out2` })).toMatchObject({
      fidelity: "native",
    });
    for (const { unstored, unequal } of (await verify(context, {})).clients)
      expect({ unstored, unequal }).toEqual({ unstored: 0, unequal: 0 });
    // Read on, and read anew.
    carryOn(client, fork, "And the wombat there?");
    await sync(context, IMPORT);
    await sync(context, { ...IMPORT, verify: true });
    await expectOnce(temp, [...WORDS, "platypus", "wombat"]);
  });

  test("is a fork of the restored session once that is carried on, whichever is read first", async () => {
    for (const order of ["together", "fork last"]) {
      await using temp = await tempContext();
      const { context, origin, copy, log } = await restored(temp, client);
      carryOn(client, log, "And the platypus?");
      if (order === "fork last") await sync(context, IMPORT);
      const fork = forkOf(client, log);
      carryOn(client, fork, "And the wombat there?");
      await sync(context, IMPORT);
      const store = await context.store();
      expect(await store.session(copy)).toMatchObject({ parent_session_id: origin, relation: "resume" });
      expect(await store.session(FORK)).toMatchObject({ parent_session_id: copy, relation: "fork" });
      await expectOnce(temp, [...WORDS, "platypus", "wombat"]);
    }
  });
});

test.each(["the prompt first", "nothing beside"])(
  "a copy of a restored session under another id resumes the origin (%s)",
  async (kind) => {
    await using temp = await tempContext();
    const { context, origin, log } = await restored(temp, "claude-code");
    const copy = copyOf(log);
    if (kind === "the prompt first") {
      const { readFileSync, writeFileSync } = await import("node:fs");
      const queued = { type: "queue-operation", operation: "enqueue", timestamp: "2026-12-24T09:00:00.000Z" };
      writeFileSync(copy, `${JSON.stringify({ ...queued, sessionId: FORK })}\n${readFileSync(copy, "utf8")}`);
    }
    carryOn("claude-code", copy, "And the platypus?");
    await sync(context, IMPORT);
    const store = await context.store();
    expect(await store.session(FORK)).toMatchObject({ parent_session_id: origin, relation: "resume" });
    await expectOnce(temp, [...WORDS, "platypus"]);
    const back = await restore(context, { session_id: FORK, out: `${temp.home}/out` });
    expect(readRecords(back.files[0]?.path ?? "")).toEqual(readRecords(copy));
  },
);

test.each(["tree", "database"])(
  "a fork that opencode makes of what was restored into its %s resumes the origin",
  async (form) => {
    await using temp = await tempContext();
    if (form === "database") startOpencodeDatabase(temp.home);
    const { context, home, origin, log } = await restored(temp, "opencode");
    importIntoOpencode(home, log);
    await sync(context, IMPORT);
    expect(await idsOf(context)).toEqual([ORIGIN, SUBAGENT]);
    const fork = forkOpencode(home, log);
    carryOnOpencode(home, fork, "And the platypus?");
    await sync(context, IMPORT);
    expect(await idsOf(context)).toEqual([ORIGIN, SUBAGENT, fork]);
    const store = await context.store();
    expect(await store.session(fork)).toMatchObject({ parent_session_id: origin, relation: "resume" });
    await expectOnce(temp, [...WORDS, "platypus"]);
  },
);

test("a session that only says the same words is not taken for a fork", async () => {
  await using temp = await tempContext();
  const { context, home, log } = await restored(temp, "codex-cli");
  const fork = forkOf("codex-cli", log);
  // The same turns, in a thread of its own: the ids that pond makes of their values are the same.
  const { rmSync, writeFileSync, mkdirSync } = await import("node:fs");
  const [, , ...turns] = readRecords(fork);
  rmSync(fork);
  const meta = { id: FORK, timestamp: "2026-12-24T10:00:00.000Z", cwd: "/srv/app", source: "cli" };
  mkdirSync(`${home}/.codex/sessions/2026/12/24`, { recursive: true });
  writeFileSync(
    `${home}/.codex/sessions/2026/12/24/rollout-2026-12-24T10-00-00-${FORK}.jsonl`,
    [{ timestamp: meta.timestamp, type: "session_meta", payload: meta }, ...turns]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(""),
  );
  await sync(context, IMPORT);
  const store = await context.store();
  const session = await store.session(FORK);
  expect(session).toMatchObject({ id: FORK });
  expect(session).not.toHaveProperty("parent_session_id");
  const state = await store.state(sessionId(FORK));
  expect(JSON.stringify(state?.messages.map(({ message }) => message.options))).not.toContain("restored");
});

test.each(["codex-cli", "claude-code"])(
  "what was written of a restored session is not asked for where no source of %s can be it",
  async (client) => {
    await using temp = await tempContext();
    const { context, home } = await restored(temp, client);
    await sync(context, IMPORT);
    const store = await context.store();
    const asked = vi.spyOn(store, "restoreRecords");
    // A session that began after the restore.
    const year = new Date(Date.now() + 30 * 86_400_000).getUTCFullYear() + 1;
    writeLaterSession(client, home, `${year}-01-01T10:00:00.000Z`);
    await sync(context, IMPORT);
    expect(await idsOf(context)).toContain(LATER_SESSION);
    expect(asked).not.toHaveBeenCalled();
  },
);
