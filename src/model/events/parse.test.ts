/** Values of programs outside: what the schemas accept is accepted and comes out equal, everything else is refused. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { garbling, sessionEvents } from "../../../test/support/arbitrary-events.ts";
import { isPondError } from "../../base/errors.ts";
import {
  createMessage,
  createSession,
  filePart,
  reasoningPart,
  textPart,
  toolCall,
  toolResult,
} from "./build.ts";
import { openJson } from "../extracted.ts";
import { outsideMessageFault, outsidePartFault, outsideSessionFault } from "./outside.ts";
import { parseEvent, parseMessage, parsePart, parseSession } from "./parse.ts";
import { eventsOf } from "./replay.ts";
import { eventSchema } from "./schema.ts";
import type { Event } from "../types.ts";
import type { Violation } from "./validate.ts";
import { formatTimestamp, parseTimestamp } from "../timestamp.ts";

const isAccepted = (act: () => unknown): boolean => {
  try {
    act();
    return true;
  } catch (error) {
    if (isPondError(error) && error.code === "validation_failed") return false;
    throw error;
  }
};

describe("parsers", () => {
  test("an event is the same from its JSON form and from its canonical one", () => {
    fc.assert(
      fc.property(sessionEvents, (events) => {
        for (const event of events) {
          if (outsideFault(event) !== undefined) continue;
          expect(parseEvent(z.encode(eventSchema, event))).toEqual(event);
          expect(parseEvent(event)).toEqual(event);
        }
      }),
    );
  });

  test("they refuse what the schemas refuse, what only programs outside are held to, and nothing else", () => {
    let refused = 0;
    fc.assert(
      fc.property(sessionEvents, garbling, (events, garble) => {
        for (const event of garble(events)) {
          const canonical = isEncodable(event) ? event : decoded(event);
          const isValid = canonical !== undefined && outsideFault(canonical) === undefined;
          if (!isValid) refused += 1;
          expect(isAccepted(() => parseEvent(event))).toBe(isValid);
        }
      }),
    );
    expect(refused).toBeGreaterThan(0);
  });

  test.each<[string, () => unknown, string, string | undefined]>([
    [
      "a session without a project",
      () => parseSession({ ...SESSION, project: "" }),
      "model-project-non-empty",
      "project",
    ],
    [
      "an instant that is none",
      () => parseSession({ ...SESSION, created_at: "soon" }),
      "model-field-types",
      "created_at",
    ],
    [
      "a field that there is not",
      () => parseSession({ ...SESSION, titel: "x" }),
      "model-field-types",
      "titel",
    ],
    [
      "a role that there is not",
      () => parseMessage({ ...MESSAGE, role: "robot" }),
      "model-field-types",
      "role",
    ],
    ["an empty id", () => parseMessage({ ...MESSAGE, id: "" }), "model-identity", "id"],
    ["bytes that are not base64", () => parsePart(fileWith("%")), "model-field-types", "data"],
    ["what is no object", () => parsePart(5), "model-field-types", "part"],
    [
      "what only readers of sources add",
      () => parseEvent({ kind: "message", message: MESSAGE, record: { id: "m", hash: "", piece: 0 } }),
      "model-field-types",
      "record",
    ],
  ])("%s is refused with its rule and field", (_, act, rule, field) => {
    expect(act).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        data: field === undefined ? { rule } : { rule, field },
      }),
    );
  });

  test("bytes are decoded from base64", () => {
    expect(parsePart(fileWith("AP8="))).toMatchObject({ data: { value: new Uint8Array([0, 255]) } });
  });
});

describe("constructors", () => {
  const session = createSession({ id: "s", source_agent: "mine", project: "/p", created_at: new Date(5) });

  test("plain values become a session that every parser accepts", () => {
    const messages = [
      createMessage(session, { id: "u", role: "user", timestamp: "2026-01-02T03:04:05Z" }, [
        textPart("run it"),
        filePart({ file_name: "a.png", data: { kind: "bytes", value: new Uint8Array([1]) } }),
      ]),
      createMessage(session, { id: "a", role: "assistant", timestamp: new Date(7), seq: 1 }, [
        reasoningPart("hm"),
        toolCall({ call_id: "c", name: "bash", params: { command: "ls" } }),
      ]),
      createMessage(
        session,
        { id: "t", role: "tool", timestamp: parseTimestamp("2026-01-02T03:04:06+01:00")! },
        [toolResult({ call_id: "c", is_failure: false, result: null, provenance: "injected" })],
      ),
      createMessage(session, { id: "y", role: "system", timestamp: new Date(9), content: "be brief" }),
    ];
    const events = [...eventsOf({ session, messages })];
    expect(events.map((event) => parseEvent(z.encode(eventSchema, event)))).toEqual(events);
    expect(formatTimestamp(session.created_at)).toBe("1970-01-01T00:00:00.005Z");
    const [, call] = messages[1]?.parts ?? [];
    expect(call).toMatchObject({
      id: "1",
      ordinal: 1,
      provenance: "conversational",
      session_id: "s",
      message_id: "a",
    });
    expect(call?.type === "tool_call" && call.params && openJson(call.params)).toEqual({ command: "ls" });
  });

  test("a part that its role may not have is refused at once", () => {
    const user = { id: "u", role: "user", timestamp: new Date(1) } as const;
    expect(() => createMessage(session, user, [toolResult({})])).toThrow(
      expect.objectContaining({ data: { rule: "model-role-allowlist" } }),
    );
  });

  test("a value that JSON cannot hold is refused at once", () => {
    const assistant = { id: "a", role: "assistant", timestamp: new Date(1) } as const;
    const call = toolCall({ params: { at: new Date(0) } as never });
    expect(() => createMessage(session, assistant, [call])).toThrow(
      expect.objectContaining({ data: { rule: "model-field-types", field: "params" } }),
    );
  });
});

const SESSION = {
  id: "s",
  source_agent: "mine",
  project: "/p",
  created_at: "2026-01-02T03:04:05Z",
  options: {},
};
const MESSAGE = { id: "m", session_id: "s", role: "user", timestamp: "2026-01-02T03:04:05Z", options: {} };
const fileWith = (value: string): unknown => ({
  id: "p",
  session_id: "s",
  message_id: "m",
  ordinal: 0,
  provenance: "conversational",
  options: {},
  type: "file",
  data: { kind: "bytes", value },
});

function isEncodable(event: Event): boolean {
  try {
    return z.safeEncode(eventSchema, event).success;
  } catch {
    return false;
  }
}

/** From its JSON form, in which a Date may stand for its text. */
function decoded(event: unknown): Event | undefined {
  try {
    return eventSchema.safeParse(withDatesAsText(event)).data;
  } catch {
    return undefined;
  }
}

function withDatesAsText(event: unknown): unknown {
  const { kind } = event as { readonly kind: unknown };
  if (kind !== "session" && kind !== "message") return event;
  const field = kind === "session" ? "created_at" : "timestamp";
  const entity = (event as Record<string, Record<string, unknown>>)[kind];
  const instant = entity?.[field];
  return instant instanceof Date
    ? { ...(event as object), [kind]: { ...entity, [field]: instant.toISOString() } }
    : event;
}

function outsideFault(event: Event): Violation | undefined {
  if (event.kind === "session") return outsideSessionFault(event.session);
  return event.kind === "message" ? outsideMessageFault(event.message) : outsidePartFault(event.part);
}
