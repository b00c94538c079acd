/** What a program without types hands over: what the model does not hold is refused, never stored (spec.md#session-ingest). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { garbling, sessionEvents } from "../../test/support/arbitrary-events.ts";
import { conversation, ingestInto, rename, SMALL } from "../../test/support/ingested.ts";
import { tempStore, type TempStore } from "../../test/support/temp-store.ts";
import { systemClock } from "../base/clock.ts";
import type { Event, Message, Part, Session } from "../model/index.ts";
import type { Violation } from "../model/events/index.ts";
import { replay } from "../model/events/index.ts";
import { sessionId } from "../model/index.ts";

describe("events of a program without types", () => {
  /** One of a session's events, its entity with these fields. */
  const broken = (event: Event | undefined, fields: Readonly<Record<string, unknown>>): Event => {
    if (event?.kind === "session")
      return { kind: "session", session: { ...event.session, ...fields } as Session };
    if (event?.kind === "message")
      return { kind: "message", message: { ...event.message, ...fields } as Message };
    if (event?.kind === "part") return { kind: "part", part: { ...event.part, ...fields } as Part };
    throw new Error("there is such an event");
  };

  async function refusals(store: TempStore, events: Iterable<Event>) {
    const violations: Violation[] = [];
    const writer = store.sessions.ingest({
      clock: systemClock,
      onViolation: (each) => violations.push(each),
    });
    await writer.add(events);
    return { violations, summary: await writer.flush() };
  }

  test.each<[string, 1 | 2, Record<string, unknown>, string]>([
    ["a text that is a number", 2, { text: 5 }, "text"],
    ["an unknown role", 1, { role: "robot" }, "role"],
    ["an unknown provenance", 2, { provenance: "maybe" }, "provenance"],
    ["an unknown type", 2, { type: "video" }, "type"],
    ["NaN in options", 1, { options: { usage: { cost: Number.NaN } } }, "options"],
    ["a date in options", 2, { options: { at: new Date(0) } }, "options"],
    ["a bigint in options", 1, { options: { count: 1n } }, "options"],
    ["a timestamp with a fraction", 1, { timestamp: 0.5 }, "timestamp"],
    ["a timestamp out of range", 1, { timestamp: 1e300 }, "timestamp"],
    ["an ordinal that no column holds", 2, { ordinal: 2 ** 40 }, "ordinal"],
    ["a field of another type of part", 2, { params: {} }, "params"],
  ])("%s refuses its message, the others are stored", async (_, at, fields, field) => {
    await using store = await tempStore();
    const events = conversation("s", 3);
    const at1 = at + 2;
    const { violations, summary } = await refusals(store, events.with(at1, broken(events[at1], fields)));
    expect(violations[0]).toMatchObject({ rule: "model-field-types", field });
    expect(violations[0]?.message).toContain(field);
    expect(summary).toMatchObject({ rejected: 2, messages: { inserted: 2 } });
    const state = await store.sessions.state(sessionId("s"));
    expect(state?.messages.map(({ message, parts }) => [message.id, parts.length])).toEqual([
      ["m0", 1],
      ["m2", 1],
    ]);
  });

  test("a part that is refused takes its message along, also the parts behind it", async () => {
    await using store = await tempStore();
    const [session, message, part] = conversation("s", 1);
    const more = [1, 2].map((ordinal) => broken(part, { id: String(ordinal), ordinal }));
    const { violations, summary } = await refusals(store, [
      session!,
      message!,
      part!,
      broken(more[0], { text: 5 }),
      more[1]!,
    ]);
    expect(violations.map(({ alsoRefused }) => alsoRefused)).toEqual([
      { session_id: "s", id: "m0" },
      undefined,
    ]);
    expect(summary).toMatchObject({ rejected: 3, messages: { inserted: 0 } });
    expect((await ingestInto(store, [session!, message!, part!, ...more])).messages.inserted).toBe(1);
    expect((await store.sessions.state(sessionId("s")))?.messages[0]?.parts).toHaveLength(3);
  });

  test("what is no event at all is refused, and the run goes on", async () => {
    await using store = await tempStore();
    const nothing = [
      null,
      undefined,
      5,
      "part",
      [],
      {},
      { kind: "robot" },
      { kind: "part" },
      { kind: "part", part: 5 },
    ];
    const { violations, summary } = await refusals(store, [
      ...(nothing as unknown as Event[]),
      ...conversation("s", 2),
    ]);
    expect(violations.map(({ rule }) => rule)).toEqual(nothing.map(() => "model-field-types"));
    expect(summary).toMatchObject({ rejected: nothing.length, messages: { inserted: 2 } });
  });

  test("an approval without an answer stays without one", async () => {
    await using store = await tempStore();
    const [session, message] = conversation("s", 1);
    const part = {
      id: "0",
      session_id: "s",
      message_id: "m0",
      ordinal: 0,
      provenance: "injected",
      options: {},
      type: "tool_approval_response",
      approval_id: "a",
    } as unknown as Part;
    await ingestInto(store, [session!, broken(message, { role: "tool" }), { kind: "part", part }]);
    const state = await store.sessions.state(sessionId("s"));
    expect(state?.messages[0]?.parts).toStrictEqual([part]);
  });

  test("what is stored of them reads back as it was given", async () => {
    await using store = await tempStore();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sessionEvents, garbling, async (events, garble) => {
        const garbled = garble(rename(events, `run-${run++}`));
        const refused = new Set<Event>();
        const halves = new Set<string>();
        const writer = store.sessions.ingest({
          clock: systemClock,
          limits: SMALL,
          onViolation: ({ alsoRefused }, event) => {
            refused.add(event);
            if (alsoRefused !== undefined) halves.add(alsoRefused.id);
          },
        });
        await writer.add(garbled);
        await writer.flush();
        const expected = replay(garbled.filter((event) => !refused.has(event)));
        for (const { session, messages } of expected)
          expect(await store.sessions.state(session.id)).toEqual({
            session,
            messages: messages.filter(({ message }) => !halves.has(message.id)),
          });
      }),
      { numRuns: 100 },
    );
  });
});
