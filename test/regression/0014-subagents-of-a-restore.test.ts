/**
 * What was restored together is stored together (spec.md#sources-restored): once a client carries on a restored session or
 * one of its subagents, all of them are stored, so that none is hidden and restoring it gives them all.
 */
import { renameSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listSessions, restore, sync, verify } from "../../src/handlers/index.ts";
import {
  carryOn,
  carryOnOpencode,
  CODEX_ORIGIN,
  CODEX_SUBAGENT,
  hitsOf,
  idsOf,
  importIntoOpencode,
  ORIGIN,
  readRecords,
  startOpencodeDatabase,
  SUBAGENT,
  SUBAGENT_WORDS,
  WORDS,
  writeCodexOrigin,
  writeOrigin,
} from "../support/restored-story.ts";
import { story } from "../support/story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";
import { worded } from "../../src/cli/terminal/next-step.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

async function restored({ context, home }: TempContext, kind: string) {
  const [client = "", form] = kind.split(", ");
  if (form === "database") startOpencodeDatabase(home);
  const isClaude = client === "claude-code";
  const [origin, subagent] = isClaude ? [CODEX_ORIGIN, CODEX_SUBAGENT] : [ORIGIN, SUBAGENT];
  if (isClaude) writeCodexOrigin(home);
  else writeOrigin(home);
  await sync(context, IMPORT);
  const { files } = await restore(context, { session_id: origin, to: client });
  const logs = files.map(({ path }) => path).filter((path) => !path.endsWith(".meta.json"));
  if (client === "opencode") for (const log of logs) importIntoOpencode(home, log);
  const store = await context.store();
  const target = async (from: string): Promise<string> =>
    (await store.restoresOf([from])).map(({ session }) => session)[0] ?? "";
  const copy = await target(origin);
  const agent = await target(subagent);
  const say = (session: string, text: string): void => {
    if (client === "opencode") return carryOnOpencode(home, session, text);
    carryOn(client, logs[session === copy ? 0 : 1] ?? "", text);
  };
  return { origin, subagent, copy, agent, logs, say };
}

async function expectOnce({ context }: TempContext, words: readonly string[]): Promise<void> {
  for (const word of words) expect([word, await hitsOf(context, word)]).toEqual([word, [expect.anything()]]);
}

/** By its label, also where its client links no subagents. */
async function expectListed(
  { context }: TempContext,
  { main, subagents }: { readonly main: readonly string[]; readonly subagents: readonly string[] },
): Promise<void> {
  const listed = (await listSessions(context, {})).sessions.map(({ id }) => id);
  expect(listed.toSorted()).toEqual(main.toSorted());
  const all = (await listSessions(context, { include_subagents: true })).sessions;
  const labels = all.filter(({ id }) => subagents.includes(id)).map(({ source_agent }) => source_agent);
  expect(labels).toHaveLength(subagents.length);
  for (const label of labels) expect(label).toMatch(/^[a-z-]+\/[a-z]+$/);
}

describe.each(["codex-cli", "pi", "claude-code", "opencode", "opencode, database"])(
  "what was restored into %s",
  (client) => {
    for (const order of ["after a sync", "before any sync"])
      test(`is stored with its subagents once it is carried on, ${order}`, async () => {
        await using temp = await tempContext();
        const { context, home } = temp;
        const { origin, subagent, copy, agent, logs, say } = await restored(temp, client);
        if (order === "after a sync") {
          await sync(context, IMPORT);
          expect(await idsOf(context)).toEqual([origin, subagent]);
        }
        say(copy, "And the platypus?");
        await sync(context, IMPORT);
        expect(await idsOf(context)).toEqual([origin, subagent, copy, agent].toSorted());
        const store = await context.store();
        expect(await store.session(copy)).toMatchObject({ parent_session_id: origin, relation: "resume" });
        expect(await store.session(agent)).toMatchObject({ parent_session_id: copy, relation: "spawn" });
        await expectListed(temp, { main: [origin, copy], subagents: [subagent, agent] });
        await expectOnce(temp, [...WORDS, ...SUBAGENT_WORDS, "platypus"]);
        const back = await restore(context, { session_id: copy, out: `${home}/out` });
        expect(back).toMatchObject({ fidelity: "native", sessions: 2, unproven: [] });
        if (!client.startsWith("opencode"))
          for (const log of logs) {
            const name = log.slice(log.lastIndexOf("/"));
            const again = back.files.find(({ path }) => path.endsWith(name))?.path ?? "";
            expect(readRecords(again)).toEqual(readRecords(log));
          }
        for (const { unstored, unequal } of (await verify(context, {})).clients)
          expect({ unstored, unequal }).toEqual({ unstored: 0, unequal: 0 });
        // Nothing is left to do, and nothing is read again.
        const read = (await sync(context, IMPORT)).clients.map((each) => each.read);
        expect(read.every((count) => count === 0)).toBe(true);
      });

    test("is stored and linked where a subagent alone is carried on", async () => {
      await using temp = await tempContext();
      const { context, home } = temp;
      const { origin, subagent, copy, agent, say } = await restored(temp, client);
      await sync(context, IMPORT);
      say(agent, "And the platypus?");
      await sync(context, IMPORT);
      expect(await hitsOf(context, "platypus")).toEqual([agent]);
      const store = await context.store();
      expect(await store.session(agent)).toMatchObject({
        parent_session_id: copy,
        relation: "spawn",
        options: { pond: { restored: { session_id: subagent } } },
      });
      expect(await store.session(copy)).toMatchObject({ parent_session_id: origin, relation: "resume" });
      await expectOnce(temp, [...WORDS, ...SUBAGENT_WORDS]);
      const back = await restore(context, { session_id: copy, out: `${home}/out` });
      expect(back).toMatchObject({ fidelity: "native", sessions: 2, unproven: [] });
    });
  },
);

test("a subagent that was restored alone resumes the one that it was restored from", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeOrigin(home);
  await sync(context, IMPORT);
  const { files, resume } = await restore(context, { session_id: SUBAGENT, to: "codex-cli" });
  carryOn("codex-cli", files[0]?.path ?? "", "And the platypus?");
  await sync(context, IMPORT);
  const store = await context.store();
  expect(await store.session(resume.id)).toMatchObject({ parent_session_id: SUBAGENT, relation: "resume" });
  expect((await listSessions(context, {})).sessions.map(({ id }) => id)).toContain(resume.id);
});

test("a store that has the session without its subagents gets them with its next turn", async () => {
  await using temp = await tempContext();
  const { context } = temp;
  const { copy, agent, logs, say } = await restored(temp, "codex-cli");
  const { readFileSync, writeFileSync } = await import("node:fs");
  const kept = readFileSync(logs[1] ?? "");
  rmSync(logs[1] ?? "");
  say(copy, "And the platypus?");
  await sync(context, IMPORT);
  expect(await idsOf(context)).not.toContain(agent);
  writeFileSync(logs[1] ?? "", kept);
  say(copy, "And the wombat there?");
  await sync(context, IMPORT);
  expect(await idsOf(context)).toContain(agent);
});

test("a sync that was killed before it read the subagents is completed by the next one", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const { copy, agent, logs, say } = await restored(temp, "codex-cli");
  const [, log = ""] = logs;
  await sync(context, IMPORT);
  // Away while the session is stored, and back as it was: no sync finds it changed.
  renameSync(log, `${home}/away`);
  say(copy, "And the platypus?");
  await sync(context, IMPORT);
  expect(await idsOf(context)).not.toContain(agent);
  renameSync(`${home}/away`, log);
  writeCodexOrigin(home);
  await sync(context, IMPORT);
  expect(await idsOf(context)).toContain(agent);
});

test("a subagent that an older pond stored as a session of its own keeps its label", async () => {
  await using temp = await tempContext();
  const { context } = temp;
  const { agent, say } = await restored(temp, "pi");
  await temp.ingest(story(agent, { agent: "pi", project: "/srv/app" }).events());
  say(agent, "And the platypus?");
  const { clients } = await sync(context, {});
  expect(clients.find(({ adapter }) => adapter === "pi")).toMatchObject({
    read: 2,
    stored: { relabelled: 0 },
  });
  expect(await hitsOf(context, "platypus")).toEqual([agent]);
  const store = await context.store();
  expect(await store.session(agent)).toMatchObject({ source_agent: "pi" });
});

test("a subagent that its client opens only with its session is refused with the command that opens that", async () => {
  await using own = await tempContext();
  writeOrigin(own.home);
  await sync(own.context, IMPORT);
  const resumed = restore(own.context, { session_id: SUBAGENT, reuse: true, dry_run: true });
  expect((await resumed).refused).toMatchObject({
    reason: "unsupported",
    hint: ["open that one with ", { do: "resume", session_id: ORIGIN }],
  });
  await using at = await tempContext();
  const { subagent, copy } = await restored(at, "claude-code");
  const again = restore(at.context, { session_id: subagent, to: "claude-code", dry_run: true });
  const hint = worded((await again).refused?.hint ?? "");
  expect(hint).toContain(`open the session that it belongs to with pond resume ${copy}; `);
  expect(hint).not.toContain("move that file away");
});
