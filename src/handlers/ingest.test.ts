/** `ingest`: every row answered for itself, once in the store however often and by how many it is given. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { conversation } from "../../test/support/ingested.ts";
import { tempContext } from "../../test/support/temp-context.ts";
import type { JsonObject } from "../base/json/json.ts";
import type { Event } from "../model/index.ts";
import {
  createMessage,
  createSession,
  eventsOf,
  filePart,
  textPart,
  toolResult,
} from "../model/events/index.ts";
import { sessionId } from "../model/index.ts";
import { eventSchema } from "../model/events/schema.ts";
import type { IngestResponse } from "../wire/index.ts";
import { MAX_TEXT_BYTES } from "../model/bound-text.ts";
import { createContext, get, ingest, search } from "./index.ts";

const statuses = ({ results }: IngestResponse): string => results.map(({ status }) => status[0]).join("");

/** One row broken by a program without types. */
function broken(
  events: readonly Event[],
  at: number,
  fields: Readonly<Record<string, unknown>>,
): JsonObject[] {
  return wire(events).map((event, index) => {
    const kind = events[index]?.kind ?? "part";
    return index === at
      ? { ...event, [kind]: { ...(event[kind] as JsonObject), ...fields } as never }
      : event;
  });
}

const wire = (events: readonly Event[]): JsonObject[] =>
  events.map((event) => z.encode(eventSchema, event) as unknown as JsonObject);

describe("ingest", () => {
  test("what is new is inserted, the same again is matched, in canonical and in JSON form", async () => {
    await using temp = await tempContext();
    const events = conversation("s", 2);
    const first = await ingest(temp.context, { events });
    expect(first).toMatchObject({ inserted: 5, matched: 0, errors: 0 });
    expect(first.results.slice(0, 3)).toEqual([
      { kind: "session", session_id: "s", status: "inserted" },
      { kind: "message", session_id: "s", message_id: "m0", status: "inserted" },
      { kind: "part", session_id: "s", message_id: "m0", part_id: expect.any(String), status: "inserted" },
    ]);
    expect(await ingest(temp.context, { events: wire(events) })).toMatchObject({ inserted: 0, matched: 5 });
    const more = conversation("s", 3);
    expect(statuses(await ingest(temp.context, { events: more }))).toBe("mmmmmii");
    const found = await search(temp.context, { query: "message" });
    expect(found.sessions.map(({ session_id }) => session_id)).toEqual(["s"]);
  });

  test("a part that breaks a rule takes its message along; every other session and message is stored", async () => {
    await using temp = await tempContext();
    const events = [...conversation("a", 2), ...conversation("b", 1)];
    const answer = await ingest(temp.context, { events: broken(events, 2, { text: 5 }) });
    expect(statuses(answer)).toBe("ieeiiiii");
    const { rule, field } = answer.results[2]?.error ?? {};
    expect({ rule, field }).toEqual({ rule: "model-field-types", field: "text" });
    expect(answer.results[1]?.error?.rule).toBe("model-field-types");
    const state = await (await temp.context.store()).state(sessionId("a"));
    expect(state?.messages.map(({ message }) => message.id)).toEqual(["m1"]);
  });

  test("holes and what is no object are refused alone, wherever they are", async () => {
    await using temp = await tempContext();
    const events: unknown[] = [...conversation("s", 1)];
    const given: unknown[] = [undefined, events[0], null, events[1], events[2], "x", [events[2]], undefined];
    given[9] = 5;
    const answer = await ingest(temp.context, { events: given as never });
    expect(statuses(answer)).toBe("eieiieeeee");
    for (const { error } of answer.results.filter(({ status }) => status === "error"))
      expect(error).toEqual({
        rule: "model-field-types",
        message: expect.stringContaining("an event must be an object, not"),
      });
    const holes: unknown[] = [];
    holes.length = 3;
    expect(statuses(await ingest(temp.context, { events: holes as never }))).toBe("eee");
    expect((await get(temp.context, { session_id: "s" })).scope).toBe("session");
  });

  test("an object that is no event refuses the message that is open, and what names a record is refused", async () => {
    await using temp = await tempContext();
    const [session, message, part, ...rest] = conversation("s", 2);
    const named = {
      kind: "message",
      message: { ...(wire([message!])[0]?.["message"] as JsonObject) },
      record: { id: "m0", hash: "0", piece: 0 },
    };
    const answer = await ingest(temp.context, {
      events: [session!, named, message!, part!, { kind: "parts" } as never, ...rest],
    });
    expect(statuses(answer)).toBe("ieeeeii");
    expect(answer.results[1]?.error).toMatchObject({ rule: "model-field-types", field: "record" });
  });

  test("messages of a session that is refused are refused too, and not those of the next", async () => {
    await using temp = await tempContext();
    const events = [...conversation("a", 1), ...conversation("b", 1)];
    const answer = await ingest(temp.context, { events: broken(events, 0, { project: "" }) });
    expect(statuses(answer)).toBe("eeeiii");
    expect(answer.results.map(({ error }) => error?.rule)).toEqual([
      "model-project-non-empty",
      "adapter-integrity-event-ordering",
      "adapter-integrity-event-ordering",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("labels never change: the session row is refused, its messages go under the stored ones", async () => {
    await using temp = await tempContext();
    await ingest(temp.context, { events: conversation("s", 1) });
    const answer = await ingest(temp.context, { events: broken(conversation("s", 2), 0, { project: "/b" }) });
    expect(statuses(answer)).toBe("emmii");
    expect(answer.results[0]?.error).toMatchObject({ rule: "session-labels-immutable", field: "project" });
    const store = await temp.context.store();
    expect((await store.session("s"))?.project).toBe("/project");
    expect((await store.summaries()).get("s")?.messages.user).toBe(2);
  });

  test("another value under a stored id is a version of it, and the answer says under which id", async () => {
    await using temp = await tempContext();
    const events = conversation("s", 1);
    await ingest(temp.context, { events });
    const changed = broken(events, 2, { text: "another" });
    const answer = await ingest(temp.context, { events: changed });
    expect(statuses(answer)).toBe("mii");
    expect(answer.results[1]?.stored_as).toMatch(/^m0@[0-9a-f]+$/);
    expect(statuses(await ingest(temp.context, { events: changed }))).toBe("mmm");
  });

  test("of versions that a program gave one after another the last is the newest, whatever their values", async () => {
    await using temp = await tempContext();
    const session = createSession({ id: "s", source_agent: "mine", project: "/p", created_at: new Date(0) });
    const say = (text: string) =>
      eventsOf({
        session,
        messages: [
          createMessage(session, { id: "m", role: "user", timestamp: new Date(1) }, [textPart(text)]),
        ],
      });
    for (let version = 0; version < 6; version++) {
      await ingest(temp.context, { events: [...say(`version ${version}`)] });
      const page = await get(temp.context, { session_id: "s" });
      expect(page.scope === "session" && page.messages.map(({ text }) => text)).toEqual([
        `version ${version}`,
      ]);
      const again = await ingest(temp.context, { events: [...say(`version ${version}`)] });
      expect(statuses(again)).toBe("mmm");
    }
    const found = await search(temp.context, { query: "version" });
    expect(found.sessions[0]?.matches.map(({ text }) => text)).toEqual(["version 5"]);
  });

  test("a text above the bound is refused with its rule, wherever it is", async () => {
    await using temp = await tempContext();
    const session = createSession({ id: "s", source_agent: "mine", project: "/p", created_at: new Date(0) });
    const long = "x".repeat(MAX_TEXT_BYTES + 1);
    const messages = [
      createMessage(session, { id: "a", role: "user", timestamp: new Date(1) }, [textPart(long.slice(1))]),
    ];
    const events = wire([...eventsOf({ session, messages })]);
    const part = events[2]?.["part"] as JsonObject;
    const answer = await ingest(temp.context, {
      events: [...events.slice(0, 2), { kind: "part", part: { ...part, text: long } }],
    });
    expect(statuses(answer)).toBe("iee");
    expect(answer.results[2]?.error).toMatchObject({ rule: "adapter-bounded-values", field: "text" });
    const result = { call_id: "c", result: { nested: [long] } };
    expect(() =>
      createMessage(session, { id: "b", role: "tool", timestamp: new Date(1) }, [toolResult(result)]),
    ).toThrow(/give it as a file/);
  });

  test("two parts with one id refuse their message with both of them named; it is stored once they differ", async () => {
    await using temp = await tempContext();
    const [session, message, part, ...rest] = wire(conversation("s", 2)) as [
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    const second = (id: string): JsonObject => ({
      kind: "part",
      part: { ...(part["part"] as JsonObject), id, ordinal: 1, text: "another" },
    });
    const answer = await ingest(temp.context, { events: [session, message, part, second("0"), ...rest] });
    expect(statuses(answer)).toBe("ieeeii");
    for (const { error } of answer.results.slice(1, 4))
      expect(error).toEqual({
        rule: "model-identity",
        field: "id",
        message: expect.stringContaining('have the id "0", those with the ordinals 0 and 1'),
      });
    const again = await ingest(temp.context, { events: [session, message, part, second("1"), ...rest] });
    expect(statuses(again)).toBe("miiimm");
    const state = await (await temp.context.store()).state(sessionId("s"));
    expect(state?.messages.map(({ parts }) => parts.length)).toEqual([2, 1]);
  });

  test("a message that comes again with one part of another value, or one more, keeps all of both versions", async () => {
    await using temp = await tempContext();
    const [session, message, part] = wire(conversation("s", 1)) as [JsonObject, JsonObject, JsonObject];
    const partWith = (fields: JsonObject): JsonObject => ({
      kind: "part",
      part: { ...(part["part"] as JsonObject), ...fields },
    });
    await ingest(temp.context, { events: [session, message, part] });
    const more = partWith({ id: "1", ordinal: 1, text: "more" });
    const answers = [
      await ingest(temp.context, { events: [session, message, partWith({ text: "another" })] }),
      await ingest(temp.context, { events: [session, message, part, more] }),
    ];
    expect(answers.map(statuses)).toEqual(["mii", "miii"]);
    const store = await temp.context.store();
    for (const [at, parts] of [1, 2].entries()) {
      const id = answers[at]?.results[1]?.stored_as ?? "";
      const views = await store.views(sessionId("s"));
      const held = views?.everything().state.messages.find((each) => each.message.id === id);
      expect(held?.parts).toHaveLength(parts);
    }
  });

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ["another time", { created_at: "2026-01-02T03:04:05Z" }, "created_at"],
    ["other options", { options: { mine: 1 } }, "options"],
    ["a parent", { parent_session_id: "p" }, "parent_session_id"],
  ])(
    "a stored session that comes again with %s is no match; its messages are stored",
    async (_, fields, field) => {
      await using temp = await tempContext();
      await ingest(temp.context, { events: conversation("s", 1) });
      const answer = await ingest(temp.context, { events: broken(conversation("s", 2), 0, fields) });
      expect(statuses(answer)).toBe("emmii");
      expect(answer.results[0]?.error).toMatchObject({ rule: "adapter-integrity-additive-sync", field });
    },
  );

  test("a stored message that comes again at another position is no match", async () => {
    await using temp = await tempContext();
    const events = conversation("s", 1);
    await ingest(temp.context, { events });
    const answer = await ingest(temp.context, { events: broken(events, 1, { seq: 7 }) });
    expect(statuses(answer)).toBe("mem");
    const { rule, field } = answer.results[1]?.error ?? {};
    expect({ rule, field }).toEqual({ rule: "adapter-integrity-additive-sync", field: "seq" });
  });

  test.each<[string, number, Readonly<Record<string, unknown>>, string, string]>([
    ["milliseconds for microseconds", 1, { timestamp: 1_767_323_045_000 }, "timestamp", "ieeiiiii"],
    ["a fact that pond does not know", 2, { options: { pond: { mine: 1 } } }, "options", "ieeiiiii"],
    ["its own parent", 0, { parent_session_id: "a" }, "parent_session_id", "eeeeeiii"],
    ["a word for a time", 1, { timestamp: "yesterday" }, "timestamp", "ieeiiiii"],
  ])("%s is refused with its field", async (_, at, fields, field, expected) => {
    await using temp = await tempContext();
    const events = [...conversation("a", 2), ...conversation("b", 1)];
    const answer = await ingest(temp.context, { events: broken(events, at, fields) });
    expect(statuses(answer)).toBe(expected);
    expect(answer.results[at]?.error).toMatchObject({ field });
  });

  test("the same row twice in one request is stored once", async () => {
    await using temp = await tempContext();
    const events = conversation("s", 1);
    expect(statuses(await ingest(temp.context, { events: [...events, ...events] }))).toBe("iiimmm");
  });

  test("several clients at once store each row once, and one of them is told so", async () => {
    await using temp = await tempContext();
    await temp.context.store();
    const { context } = temp;
    const clients = [1, 2, 3, 4].map(() =>
      createContext({ config: context.config, machine: context.machine, signal: context.signal }),
    );
    const events = conversation("s", 20);
    const answers = await Promise.all(clients.map((client) => ingest(client, { events })));
    for (const [at] of events.entries())
      expect(answers.filter(({ results }) => results[at]?.status === "inserted")).toHaveLength(1);
    const state = await (await context.store()).state(sessionId("s"));
    expect(state?.messages.map(({ parts }) => parts.length)).toEqual(events.slice(0, 20).map(() => 1));
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  test("clients that bring other values under one id at once all have theirs stored", async () => {
    await using temp = await tempContext();
    await temp.context.store();
    const { context } = temp;
    const clients = [1, 2, 3].map(() =>
      createContext({ config: context.config, machine: context.machine, signal: context.signal }),
    );
    const answers = await Promise.all(
      clients.map((client, at) =>
        ingest(client, { events: broken(conversation("s", 1), 2, { text: `value ${at}` }) }),
      ),
    );
    expect(answers.map(({ errors }) => errors)).toEqual([0, 0, 0]);
    expect(new Set(answers.map(({ results }) => results[1]?.stored_as)).size).toBe(3);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  test("a payload that no row can hold is an error of its message alone", async () => {
    await using temp = await tempContext();
    const session = createSession({ id: "s", source_agent: "mine", project: "/p", created_at: new Date(0) });
    // Never touched, so that it takes no memory.
    const value = new Uint8Array(1_000_000_001);
    const messages = [
      createMessage(session, { id: "a", role: "user", timestamp: new Date(1) }, [
        textPart("look"),
        filePart({ data: { kind: "bytes", value } }),
        textPart("here"),
      ]),
      createMessage(session, { id: "b", role: "user", timestamp: new Date(2) }, [textPart("small")]),
    ];
    const answer = await ingest(temp.context, { events: [...eventsOf({ session, messages })] });
    expect(statuses(answer)).toBe("ieeeeii");
    expect(answer.results[1]?.error?.rule).toBe("adapter-bounded-values");
  });

  test("more events than a request may have, and what is no list, are refused whole", async () => {
    await using temp = await tempContext();
    await expect(ingest(temp.context, { events: conversation("s", 500) })).rejects.toMatchObject({
      code: "validation_failed",
      reason: "limit",
      data: { field: "events", value: 1001 },
    });
    await expect(ingest(temp.context, { events: "all" as never })).rejects.toMatchObject({
      code: "validation_failed",
      data: { field: "events" },
    });
  });
});
