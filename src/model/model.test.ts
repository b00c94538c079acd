import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { garbling, sessionEvents } from "../../test/support/arbitrary-events.ts";
import type { Event, Message, Timestamp } from "./index.ts";
import {
  compareInSession,
  formatTimestamp,
  isFormatOf,
  messageId,
  parseTimestamp,
  partId,
  sessionId,
  timestampFromMillis,
} from "./index.ts";
import { eventsOf, EventValidator, replay } from "./events/index.ts";
import { MAX_TEXT_BYTES } from "./bound-text.ts";
import { searchText } from "./derived/index.ts";
import { sealExtracted } from "./extracted.ts";
import { compareAcrossSessions } from "./order.ts";
import { canonicalJsonSchema, eventSchema } from "./events/schema.ts";

describe("timestamps", () => {
  test("every instant survives its RFC 3339 form", () => {
    const micros = fc
      .integer({ min: -9_000_000_000_000, max: 8_999_999_999_999 })
      .chain((ms) => fc.integer({ min: 0, max: 999 }).map((us) => (ms * 1000 + us) as Timestamp));
    fc.assert(fc.property(micros, (instant) => parseTimestamp(formatTimestamp(instant)) === instant));
  });

  test.each([
    ["2025-01-02T03:04:05.678Z", 1_735_787_045_678_000],
    ["2025-01-02T03:04:05.678123Z", 1_735_787_045_678_123],
    ["2025-01-02T03:04:05.678123999Z", 1_735_787_045_678_123],
    ["2025-01-02T04:04:05+01:00", 1_735_787_045_000_000],
    ["2024-02-29T00:00:00Z", 1_709_164_800_000_000],
  ])("%s is read", (text, micros) => expect(parseTimestamp(text)).toBe(micros));

  test("a spelling counts as the format only when printing gives it back", () => {
    const text = fc
      .tuple(
        fc.date({ min: new Date("0001-01-01"), max: new Date("2255-01-01"), noInvalidDate: true }),
        fc.constantFrom(
          (iso: string) => iso,
          (iso: string) => iso.replace("T", " "),
          (iso: string) => iso.slice(0, -5) + "Z",
        ),
      )
      .map(([date, spell]) => spell(date.toISOString()));
    fc.assert(
      fc.property(text, (spelled) => {
        const instant = parseTimestamp(spelled);
        if (instant === undefined) return;
        expect(isFormatOf(spelled, instant)).toBe(formatTimestamp(instant) === spelled);
      }),
    );
  });

  test.each([
    "",
    "2025-01-02T03:04:60.000Z",
    "2025-02-29T03:04:05.000Z",
    "2025-01-02",
    "2025-02-30T00:00:00Z",
    "2025-13-01T00:00:00Z",
    "1735787045",
    "2025-01-02T03:04:05",
  ])("%j is no instant", (text) => expect(parseTimestamp(text)).toBeUndefined());

  test("a millisecond count with a fraction keeps its microseconds", () => {
    expect(timestampFromMillis(1_735_787_045_678.123)).toBe(1_735_787_045_678_123);
    expect(timestampFromMillis(Number.NaN)).toBeUndefined();
    expect(timestampFromMillis(1e300)).toBeUndefined();
  });
});

describe("order", () => {
  const ordered = fc.record({
    id: fc.string({ minLength: 1, maxLength: 3 }).map(messageId),
    session_id: fc.constantFrom("a", "b").map(sessionId),
    timestamp: fc.integer({ min: 0, max: 3 }).map((us) => us as Timestamp),
  });
  const withSeq = fc
    .tuple(ordered, fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }))
    .map(([base, seq]) => (seq === undefined ? base : { ...base, seq }));

  test.each([
    ["in a session", compareInSession],
    ["across sessions", compareAcrossSessions],
  ])("is total and transitive %s", (_, compare) => {
    fc.assert(
      fc.property(withSeq, withSeq, withSeq, (a, b, c) => {
        expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) || 0);
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test("a record split over messages keeps its order past nine pieces", () => {
    const ids = ["r", ...Array.from({ length: 11 }, (_, index) => `r/${index + 1}`)].map((id) => ({
      id: messageId(id),
      seq: 4,
      timestamp: 0 as Timestamp,
    }));
    expect(ids.toReversed().toSorted(compareInSession)).toEqual(ids);
  });

  test("the position wins over timestamps that run backwards", () => {
    const early = { id: messageId("a"), seq: 0, timestamp: 9 as Timestamp };
    const late = { id: messageId("b"), seq: 1, timestamp: 1 as Timestamp };
    expect([late, early].toSorted(compareInSession)).toEqual([early, late]);
  });
});

describe("replay", () => {
  test("events of a state replay to that state", () => {
    fc.assert(
      fc.property(sessionEvents, (events) => {
        const [state] = replay(events);
        expect(replay(eventsOf(state!))).toEqual([state]);
      }),
    );
  });

  test("replaying a stream twice, or any prefix before the whole, changes nothing", () => {
    fc.assert(
      fc.property(sessionEvents, fc.nat(), (events, cut) => {
        const prefix = events.slice(0, cut % (events.length + 1));
        expect(replay([...prefix, ...events])).toEqual(replay(events));
        expect(replay([...events, ...events])).toEqual(replay(events));
      }),
    );
  });

  test("interleaved sessions come apart", () => {
    fc.assert(
      fc.property(sessionEvents, sessionEvents, (left, right) => {
        fc.pre(
          left[0]!.kind === "session" &&
            right[0]!.kind === "session" &&
            left[0]!.session.id !== right[0]!.session.id,
        );
        const mixed: Event[] = [];
        for (let i = 0; i < Math.max(left.length, right.length); i++)
          mixed.push(...left.slice(i, i + 1), ...right.slice(i, i + 1));
        expect(replay(mixed)).toEqual([...replay(left), ...replay(right)]);
      }),
    );
  });
});

describe("validation", () => {
  test("the validator accepts what the schemas accept, and the wire form decodes to the same events", () => {
    fc.assert(
      fc.property(sessionEvents, (events) => {
        const validator = new EventValidator();
        for (const event of events) {
          expect(validator.check(event)).toBeUndefined();
          expect(z.decode(eventSchema, z.encode(eventSchema, event))).toEqual(event);
        }
      }),
    );
  });

  test("the validator and the schemas refuse the same broken sessions", () => {
    fc.assert(
      fc.property(
        sessionEvents,
        fc.constantFrom("project", "id", "source_agent", "cut"),
        (events, broken) => {
          const [first] = events;
          if (first?.kind !== "session") throw new Error("a session comes first");
          const { parent_session_id: _, ...orphan } = first.session;
          const session = (
            broken === "cut"
              ? { ...orphan, parent_message_id: messageId("m") }
              : { ...first.session, [broken]: "" }
          ) as typeof first.session;
          expect(new EventValidator().check({ kind: "session", session })).toBeDefined();
          expect(
            eventSchema.safeDecode({
              kind: "session",
              session: { ...session, created_at: "2025-01-01T00:00:00Z" },
            } as never).success,
          ).toBe(false);
        },
      ),
    );
  });

  test("of whatever a program without types gives, the validator refuses what the schemas refuse", () => {
    fc.assert(
      fc.property(sessionEvents, garbling, (events, garble) => {
        const validator = new EventValidator();
        for (const event of garble(events)) {
          const violation = validator.check(event);
          // What an event is not by itself, but by those before it, the schemas cannot tell.
          const isPlace = violation?.rule === "adapter-integrity-event-ordering";
          const isTaken = violation?.message.startsWith("two parts of message ");
          if (isPlace || isTaken || violation?.rule === "model-role-allowlist") continue;
          expect([event, violation === undefined]).toEqual([event, isEncodable(event)]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  const session: Event = {
    kind: "session",
    session: {
      id: sessionId("s"),
      source_agent: "x",
      created_at: 0 as Timestamp,
      project: sealExtracted("/p"),
      options: {},
    },
  };
  const message = (role: "user" | "tool", id = "m"): Event => ({
    kind: "message",
    message: { id: messageId(id), session_id: sessionId("s"), timestamp: 0 as Timestamp, role, options: {} },
  });
  const part = (type: "text" | "tool_result", ordinal = 0, message_id = "m"): Event =>
    ({
      kind: "part",
      part: {
        id: `${ordinal}`,
        session_id: "s",
        message_id,
        ordinal,
        provenance: "conversational",
        type,
        options: {},
      },
    }) as unknown as Event;

  const named = (event: Event, id: string): Event =>
    event.kind === "part" ? { kind: "part", part: { ...event.part, id: partId(id) } } : event;

  test("the same id in the parts of another message is fine", () => {
    const validator = new EventValidator();
    const second = [message("user", "n"), part("text", 0, "n"), part("text", 1, "n")];
    const events = [session, message("user"), part("text", 0), part("text", 1), ...second];
    expect(events.map((event) => validator.check(event))).toEqual(events.map(() => undefined));
  });

  test.each<[string, Event[], string]>([
    ["a message before its session", [message("user")], "adapter-integrity-event-ordering"],
    ["a part before its message", [session, part("text")], "adapter-integrity-event-ordering"],
    [
      "a part after the next message",
      [session, message("user"), message("user", "n"), part("text")],
      "adapter-integrity-event-ordering",
    ],
    [
      "parts out of order",
      [session, message("user"), part("text", 1), part("text", 0)],
      "adapter-integrity-event-ordering",
    ],
    [
      "a tool result in a user message",
      [session, message("user"), part("tool_result")],
      "model-role-allowlist",
    ],
    [
      "a second part with the id of the first",
      [session, message("user"), part("text", 0), named(part("text", 1), "0")],
      "model-identity",
    ],
    [
      "a third part with the id of the second",
      [session, message("user"), part("text", 0), part("text", 1), named(part("text", 2), "1")],
      "model-identity",
    ],
    ["text in a tool message", [session, message("tool"), part("text")], "model-role-allowlist"],
  ])("%s is refused", (_, events, rule) => {
    const validator = new EventValidator();
    const faults = events.map((event) => validator.check(event)).filter((fault) => fault !== undefined);
    expect(faults.map((fault) => fault.rule)).toEqual([rule]);
  });
});

function isEncodable(event: Event): boolean {
  try {
    return z.safeEncode(eventSchema, event).success;
  } catch {
    return false;
  }
}

describe("search text", () => {
  const text = (value: string, provenance: "conversational" | "injected" = "conversational") =>
    ({ type: "text", provenance, text: sealExtracted(value) }) as never;

  test.each<[string, Message["role"], never[], string | undefined]>([
    ["conversational text is joined by lines", "user", [text("one"), text("two")], "one\ntwo"],
    ["injected text stays out", "user", [text("<system-reminder>", "injected"), text("typed")], "typed"],
    ["a message without conversation has none", "assistant", [text("  \n")], undefined],
    ["tool messages have none", "tool", [text("x")], undefined],
    ["system messages have none", "system", [text("x")], undefined],
    [
      "files count by name, type and address, never by payload",
      "user",
      [
        {
          type: "file",
          provenance: "conversational",
          file_name: sealExtracted("plan.png"),
          media_type: sealExtracted("image/png"),
          data: { kind: "string", value: sealExtracted("QUJD") },
        } as never,
        {
          type: "file",
          provenance: "conversational",
          data: { kind: "url", value: sealExtracted("data:image/png;base64,QUJD") },
        } as never,
        {
          type: "file",
          provenance: "conversational",
          data: { kind: "url", value: sealExtracted("https://example.test/a") },
        } as never,
      ],
      "plan.png\nimage/png\nhttps://example.test/a",
    ],
  ])("%s", (_, role, parts, expected) => expect(searchText({ role }, parts)).toBe(expected));

  test("it is held to the bound of one text, however many there are", () => {
    const long = text("x".repeat(MAX_TEXT_BYTES - 100));
    const found = searchText({ role: "user" }, [long, long]) ?? "";
    expect(found.length).toBe(MAX_TEXT_BYTES);
    expect(found.endsWith(`<pond:truncated ${2 * (MAX_TEXT_BYTES - 100) + 1} bytes>`)).toBe(true);
  });
});

test("the published JSON Schema names the four canonical shapes", () => {
  expect(Object.keys(canonicalJsonSchema()["$defs"] as object)).toEqual([
    "Session",
    "Message",
    "Part",
    "Event",
  ]);
});
