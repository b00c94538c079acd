/**
 * A session that was handed on from client to client is found once (spec.md#search-shown-once), in whatever order its copies
 * were stored, by whichever machine, and whichever of them a search is about.
 */
import { appendFileSync, rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { restore, search, sync } from "../../src/handlers/index.ts";
import {
  carryOn,
  CODEX_ORIGIN,
  FORK,
  forkOf,
  hitsOf,
  ORIGIN,
  readRecords,
  WORDS,
  writeCodexOrigin,
  writeOrigin,
} from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";

/** Restored into the next client each time, and carried on there. */
async function handOn(context: Context, clients: readonly string[]): Promise<readonly string[]> {
  const sessions = [ORIGIN];
  for (const [round, client] of clients.entries()) {
    const { files, resume } = await restore(context, { session_id: sessions.at(-1) ?? "", to: client });
    carryOn(client, files[0]?.path ?? "", `And the ${["platypus", "wombat", "numbat", "echidna"][round]}?`);
    await sync(context, {});
    sessions.push(resume.id);
  }
  return sessions;
}

const wordsHits = async (context: Context, query: string, mode: "words" | "exact", agent?: string) => {
  const filters = agent === undefined ? {} : { source_agent: agent };
  const { sessions } = await search(context, { query, mode, filters });
  return sessions.flatMap(({ session_id, matches }) => matches.map(() => session_id));
};

const ROUTES = [
  ["codex-cli", "pi"],
  ["codex-cli", "claude-code"],
  ["pi", "claude-code", "codex-cli"],
  ["pi", "codex-cli", "pi", "claude-code"],
];

test.each(ROUTES)(
  "each message is found once after %s, %s %s %s",
  async (...route: (string | undefined)[]) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    writeOrigin(home);
    await sync(context, {});
    const clients = route.filter((client) => client !== undefined);
    await handOn(context, clients);
    for (const mode of ["words", "exact"] as const)
      for (const word of WORDS)
        expect([word, mode, await wordsHits(context, word, mode)]).toHaveProperty("2.length", 1);
    expect(await hitsOf(context, "platypus")).toHaveLength(1);
  },
);

test("a copy of a copy is found with its origin where the one between them is left out", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeOrigin(home);
  await sync(context, {});
  await handOn(context, ["codex-cli", "claude-code"]);
  for (const mode of ["words", "exact"] as const)
    for (const word of WORDS)
      expect([word, mode, await wordsHits(context, word, mode, "claude-code")]).toHaveProperty("2.length", 1);
});

test("a machine that reads all copies at once gives the same", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeOrigin(home);
  await sync(context, {});
  const sessions = await handOn(context, ["codex-cli", "pi", "claude-code"]);
  rmSync(context.config.paths.state, { recursive: true });
  await sync(context, { verify: true });
  expect(new Set(sessions).size).toBe(4);
  for (const word of [...WORDS, "platypus", "wombat"]) expect(await hitsOf(context, word)).toHaveLength(1);
});

test("a fork that an older pond stored without its link is found with the origin", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeOrigin(home);
  await sync(context, {});
  const { files, resume } = await restore(context, { session_id: ORIGIN, to: "pi" });
  const store = await context.store();
  // As the commit before stored it: what it copies is of a session that nobody stored.
  const records = vi.spyOn(store, "restoresInto").mockResolvedValue([]);
  const fork = forkOf("pi", files[0]?.path ?? "");
  rmSync(files[0]?.path ?? "");
  carryOn("pi", fork, "And the platypus?");
  await sync(context, {});
  records.mockRestore();
  expect(await store.session(FORK)).toMatchObject({ parent_session_id: resume.id, relation: "fork" });
  for (const word of [...WORDS, "platypus"]) expect(await hitsOf(context, word)).toHaveLength(1);
});

test("turns that a client joins are found once", async () => {
  for (const client of ["pi", "claude-code", "codex-cli"]) {
    await using temp = await tempContext();
    const { context, home } = temp;
    const isClaude = client === "claude-code";
    const log = isClaude ? writeCodexOrigin(home) : writeOrigin(home);
    const [last] = readRecords(log).slice(-1);
    const text = JSON.stringify(last).replace("Ask the narwhal.", "Or rather the axolotl.");
    appendFileSync(log, `${text.replace('"u4"', '"u5"').replace('"u3"', '"u4"')}\n`);
    await sync(context, {});
    const { files } = await restore(context, { session_id: isClaude ? CODEX_ORIGIN : ORIGIN, to: client });
    carryOn(client, files[0]?.path ?? "", "And the platypus?");
    await sync(context, {});
    for (const mode of ["words", "exact"] as const)
      for (const word of [...WORDS, "axolotl"])
        expect([client, word, mode, await wordsHits(context, word, mode)]).toHaveProperty("3.length", 1);
    // Whoever asks for both gets them from one session: the message that says both, or both.
    const both = await search(context, { query: "narwhal axolotl" });
    expect(both.sessions).toHaveLength(1);
  }
});
