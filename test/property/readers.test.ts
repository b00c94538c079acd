/**
 * Whatever happened to the sources of a session, readers agree with each other: the history is every stored row, what is
 * not marked in it is what `get` shows and summaries count, a message has the same mark wherever it is read, and search
 * shows nothing superseded unless asked, and then everything.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { get, listSessions, search } from "../../src/handlers/index.ts";
import { sessionId } from "../../src/model/index.ts";
import type { GetRequest, SessionLine, SessionResult } from "../../src/wire/index.ts";
import { MODELS } from "../support/histories/index.ts";
import { histories } from "../support/histories/operations.ts";
import { EVERYTHING } from "../support/histories/scope.ts";
import { World } from "../support/histories/world.ts";

const RUNS = Number(process.env["HISTORY_RUNS"] ?? 10);
const SEED = Number(process.env["HISTORY_SEED"] ?? 7);

async function read(context: Context, session_id: string, more: GetRequest): Promise<SessionResult> {
  const response = await get(context, { session_id, response_mode: "complete", limit: 1000, ...more });
  if (response.scope !== "session") throw new Error("a session was asked for");
  return response;
}

const idsOf = ({ messages }: SessionResult): string[] => messages.map(({ id }) => id);

async function expectAgreement(context: Context, line: SessionLine): Promise<void> {
  const store = await context.store();
  const all = (await store.everything(sessionId(line.id)))?.messages.map(({ message }) => message.id);
  const past = await read(context, line.id, { history: true });
  expect(idsOf(past).toSorted()).toEqual(all?.toSorted());
  const now = await read(context, line.id, { branch: "all" });
  const unmarked = past.messages.filter(({ state }) => state === undefined);
  expect(unmarked.map(({ id }) => id)).toEqual(idsOf(now));
  const summary = (await store.summaries()).get(line.id);
  expect([line.messages.total, line.ends ?? 1, summary?.replaced]).toEqual([
    now.messages.length,
    now.ends?.length ?? 1,
    now.replaced ?? 0,
  ]);
  for (const { id, state } of past.messages) {
    const one = await get(context, { session_id: line.id, message_id: id });
    expect([id, one.scope === "message" ? one.target.state : "none"]).toEqual([id, state]);
  }
}

async function expectFound(context: Context, query: string): Promise<void> {
  const request = { query, mode: "exact", filters: { include_subagents: true } } as const;
  const all = await search(context, { ...request, include_superseded: true });
  const shown = await search(context, request);
  const marks = shown.sessions.flatMap(({ matches }) => matches.map(({ state }) => state));
  expect([query, all.matched_total > 0, marks.includes("superseded")]).toEqual([query, true, false]);
  expect(shown.matched_total).toBeLessThanOrEqual(all.matched_total);
}

describe("after any history", () => {
  test.each(MODELS)("readers of $label agree", { timeout: 300_000 }, async (model) => {
    await fc.assert(
      fc.asyncProperty(histories(EVERYTHING), async (history) => {
        await using world = await World.start(model);
        for (const operation of history) await world.run(operation);
        if (world.sources.every(({ read: known }) => known === undefined)) return;
        const { context } = await world.machine(0);
        const { sessions } = await listSessions(context, { include_subagents: true });
        for (const line of sessions) await expectAgreement(context, line);
        for (const word of world.words) await expectFound(context, word);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
