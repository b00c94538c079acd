/** Pages of hits put together are one large page, whatever ties there are (spec.md#wire-search). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { story } from "../../../test/support/story.ts";
import { tempContext, type TempContext } from "../../../test/support/temp-context.ts";
import type { HitSession, SearchRequest } from "../../wire/index.ts";
import { search } from "../index.ts";

async function allPages(temp: TempContext, request: SearchRequest, limit: number): Promise<HitSession[]> {
  const sessions: HitSession[] = [];
  for (let cursor: { cursor?: string } = {}; ;) {
    const page = await search(temp.context, { ...request, ...cursor, limit });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    for (const { matches } of page.sessions) expect(matches.length).toBeLessThanOrEqual(3);
    sessions.push(...page.sessions);
    if (page.next_cursor === undefined) {
      expect(page.has_more).toBe(false);
      return sessions;
    }
    cursor = { cursor: page.next_cursor };
  }
}

/** Few texts in many sessions: most scores are equal, and so are most times. */
const texts = fc.constantFrom("needle", "needle hay", "a needle in the hay", "hay", "needle needle needle");
const sessions = fc.array(
  fc.record({ texts: fc.array(texts, { minLength: 1, maxLength: 5 }), hour: fc.nat(2) }),
  {
    minLength: 5,
    maxLength: 40,
  },
);

test("of words and of exact text, with ties", async () => {
  await fc.assert(
    fc.asyncProperty(sessions, fc.integer({ min: 1, max: 9 }), async (stored, limit) => {
      await using temp = await tempContext();
      const events = stored.flatMap(({ texts: said, hour }, at) => {
        const own = story(`s${(at * 7919) % 1000}`, { at: `2026-05-01T0${hour}:00:00Z` });
        for (const text of said) own.user(text);
        return own.events();
      });
      await temp.ingest(events);
      for (const mode of ["words", "exact"] as const) {
        const whole = await search(temp.context, { query: "needle", mode, limit: 200 });
        expect([whole.has_more, whole.matched_total_exact]).toEqual([false, true]);
        expect(await allPages(temp, { query: "needle", mode }, limit)).toEqual(whole.sessions);
      }
    }),
    { numRuns: 6 },
  );
});

test("of words that more messages have than are ranked for one page", async () => {
  await using temp = await tempContext();
  const events = [];
  for (let at = 0; at < 150; at++) {
    const own = story(`s${(at * 7919) % 1000}`);
    for (let i = 0; i < 16; i++)
      own.user(
        `${"needle ".repeat(1 + ((at + i) % 4))}${"hay ".repeat((at * i) % 7)}${at % 5 === 0 ? "pin" : ""}`,
      );
    events.push(...own.events());
  }
  await temp.ingest(events);
  const request = { query: "needle pin" };
  const whole = await allPages(temp, request, 200);
  const paged = await allPages(temp, request, 9);
  const named = (all: readonly HitSession[]): string[] => all.map(({ session_id }) => session_id);
  expect(new Set(named(paged)).size).toBe(150);
  expect(named(paged)).toEqual(named(whole));
  expect(paged.map(({ matches }) => matches[0]?.message_id)).toEqual(
    whole.map(({ matches }) => matches[0]?.message_id),
  );
});
