/** Programs without types: what they get wrong is refused where they give it, with the field and what is expected. */
import { describe, expect, test } from "vitest";
import { createMessage, createSession, filePart, textPart, toolCall } from "./build.ts";
import { parseEvent, parseSession } from "./parse.ts";
import { eventsOf } from "./replay.ts";

const AT = "2026-01-02T03:04:05Z";
const SESSION = { id: "x1", source_agent: "mine", project: "/p", created_at: AT };
const session = createSession(SESSION);
const USER = { id: "m", role: "user", timestamp: AT } as const;
const INSTANT = "must be an RFC 3339 time with a zone, such as 2026-01-02T03:04:05Z, or a valid Date; got";

/** As a program without types calls it. */
const untyped = (fields: object): never => ({ ...SESSION, ...fields }) as never;
const message = (fields: object, parts?: unknown): unknown =>
  createMessage(session, { ...USER, ...fields } as never, parts as never);

describe("refused with the field and what is expected", () => {
  test.each<[string, () => unknown, string, string]>([
    [
      "a word for a time",
      () => createSession(untyped({ created_at: "yesterday" })),
      "created_at",
      `session x1: created_at ${INSTANT} "yesterday"`,
    ],
    [
      "a day",
      () => createSession(untyped({ created_at: "2026-01-01" })),
      "created_at",
      `${INSTANT} "2026-01-01"`,
    ],
    [
      "a time without a zone",
      () => message({ timestamp: "2026-01-01T10:00:00" }),
      "timestamp",
      `message m: timestamp ${INSTANT} "2026-01-01T10:00:00"`,
    ],
    [
      "an invalid Date",
      () => createSession(untyped({ created_at: new Date("x") })),
      "created_at",
      `${INSTANT} an invalid Date`,
    ],
    [
      "a time finer than a microsecond",
      () => createSession(untyped({ created_at: "2026-01-02T03:04:05.123456789Z" })),
      "created_at",
      'session x1: created_at "2026-01-02T03:04:05.123456789Z" is finer than a microsecond',
    ],
    [
      "a finer time of an event",
      () =>
        parseEvent({ kind: "session", session: { ...session, created_at: "2026-01-02T03:04:05.0000001Z" } }),
      "created_at",
      "is finer than a microsecond",
    ],
    ...["9999-12-31T23:59:59.999999Z", "0000-01-01T00:00:00Z"].map(
      (text): [string, () => unknown, string, string] => [
        `a time out of range, ${text}`,
        () => message({ timestamp: text }),
        "timestamp",
        `message m: timestamp "${text}" is outside of 1684-07-28T00:12:25.259009Z to 2255-06-05T23:47:34.740991Z`,
      ],
    ),
    [
      "a leap second",
      () => message({ timestamp: "2016-12-31T23:59:60Z" }),
      "timestamp",
      'timestamp "2016-12-31T23:59:60Z" is a leap second, which no Timestamp has',
    ],
    [
      "a property of an array",
      () => createSession(untyped({ options: { a: Object.assign([1], { foo: 2 }) } })),
      "options",
      "session x1: options holds a property of an array at /a/foo, which is no JSON value",
    ],
    [
      "a symbol in options of a message",
      () => message({ options: { a: { [Symbol("x")]: 1 } } }),
      "options",
      "message m: options holds a property named by a symbol at /a",
    ],
    [
      "a hidden property in the params of a call",
      () =>
        message({ role: "assistant" }, [
          toolCall({ params: Object.defineProperty({}, "h", { value: 1 }) as never }),
        ]),
      "params",
      "params holds a property that is not enumerable at /h",
    ],
    [
      "a hole for a part",
      () => message({}, Object.assign([textPart("a")], { 2: textPart("b") })),
      "parts",
      "part 1 must be one of",
    ],
    [
      "milliseconds",
      () => createSession(untyped({ created_at: 1_767_323_045_000 })),
      "created_at",
      "milliseconds are new Date(1767323045000)",
    ],
    [
      "milliseconds of a message",
      () => message({ timestamp: 1_767_323_045_000 }),
      "timestamp",
      "milliseconds are new Date(1767323045000)",
    ],
    [
      "a small number",
      () => createSession(untyped({ created_at: 5 })),
      "created_at",
      `${INSTANT} the number 5`,
    ],
    [
      "seconds in canonical form",
      () => parseSession({ ...SESSION, options: {}, created_at: 1_767_323_045 }),
      "created_at",
      "the number 1767323045",
    ],
    [
      "an undefined time",
      () => createSession(untyped({ created_at: undefined })),
      "created_at",
      "session x1: created_at is required",
    ],
    [
      "no time",
      () => parseSession({ id: "x1", source_agent: "mine", project: "/p", options: {} }),
      "created_at",
      "session x1: created_at is required",
    ],
    [
      "no session at all",
      () => createSession(undefined as never),
      "session",
      "session must be an object, { id, source_agent, project, created_at }, not undefined",
    ],
    ["null for a session", () => createSession(null as never), "session", "not null"],
    [
      "a message of no session",
      () => createMessage(undefined as never, USER),
      "session",
      "session must be an object, one that createSession made, not undefined",
    ],
    [
      "a message of half a session",
      () => createMessage({ id: "q" } as never, USER),
      "source_agent",
      "session q: source_agent is required",
    ],
    [
      "no message",
      () => createMessage(session, undefined as never),
      "message",
      "message must be an object, { id, role, timestamp }, not undefined",
    ],
    [
      "parts that are a text",
      () => message({}, "hello"),
      "parts",
      'message m: parts must be an array, not "hello"',
    ],
    [
      "a part that is a text",
      () => message({}, ["hello"]),
      "parts",
      "message m: part 0 must be one of textPart",
    ],
    [
      "a file that is a text",
      () => message({}, [filePart({ data: "hello" as never })]),
      "data",
      'part 0 of message m: data must be { kind: "string" | "url" | "bytes", value }, not "hello"',
    ],
    [
      "two parts with one id",
      () => message({}, [textPart("a", { id: "p" }), textPart("b"), textPart("c", { id: "p" })]),
      "id",
      'two parts of message m have the id "p", those with the ordinals 0 and 2',
    ],
    [
      "its own parent",
      () => createSession(untyped({ parent_session_id: "x1" })),
      "parent_session_id",
      "must be the id of another session",
    ],
    [
      "a relation without a parent",
      () => createSession(untyped({ relation: "fork" })),
      "relation",
      "relation fork needs parent_session_id",
    ],
    [
      "an agent of nobody",
      () => createSession(untyped({ source_agent: "/x" })),
      "source_agent",
      "must be the name of a program, or program/agent",
    ],
    [
      "an empty agent",
      () => createSession(untyped({ source_agent: "" })),
      "source_agent",
      "must be a text that is not empty",
    ],
    [
      "a fact that pond does not know",
      () => createSession(untyped({ options: { pond: { mine: 1 } } })),
      "options",
      "options.pond.mine is none of pond's facts",
    ],
    [
      "a fact of another shape",
      () => message({ options: { pond: { parent: 5 } } }),
      "options",
      "options.pond.parent is not of its shape",
    ],
    [
      "a text for pond's facts",
      () => message({}, [textPart("a", { options: { pond: "x" } })]),
      "options",
      "part 0 of message m: options.pond must be an object",
    ],
    [
      "events of nothing",
      () => eventsOf(undefined as never),
      "state",
      "eventsOf: state must be { session, messages }, not undefined",
    ],
    [
      "events without messages",
      () => eventsOf({ session } as never),
      "messages",
      "eventsOf: messages must be an array of what createMessage made, not undefined",
    ],
    [
      "events of what is no message",
      () => eventsOf({ session, messages: [{ id: "m" }] } as never),
      "messages",
      "must be an array of what createMessage made",
    ],
    [
      "a message id that is there twice",
      () => eventsOf({ session, messages: [createMessage(session, USER), createMessage(session, USER)] }),
      "messages",
      'has the message id "m" twice',
    ],
  ])("%s", (_, act, field, words) => {
    expect(act).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        message: expect.stringContaining(words),
        data: { rule: expect.any(String), field },
      }),
    );
  });
});

describe("accepted", () => {
  test("facts that pond knows come back through the parsers", () => {
    const options = { pond: { parent: null, restored: { session_id: "s" } }, mine: { any: "thing" } };
    expect(createMessage(session, { ...USER, options }).message.options).toEqual(options);
  });

  test("a Date in an event of a program without types is its instant", () => {
    const event = { kind: "session", session: { ...SESSION, options: {}, created_at: new Date(AT) } };
    expect(parseEvent(event)).toEqual({ kind: "session", session });
  });
});
