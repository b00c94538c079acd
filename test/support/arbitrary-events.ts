/** Arbitrary canonical sessions for properties: every role and part type, hostile ids, texts and options. */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/base/json/json.ts";
import type { Event, Message, Part, Session, Timestamp } from "../../src/model/index.ts";
import { isAllowed } from "../../src/model/events/index.ts";
import { messageId, partId, sessionId } from "../../src/model/index.ts";
import { sealExtracted, sealExtractedJson } from "../../src/model/extracted.ts";

/** Quotes, NUL, newlines, lone surrogates, CJK, emoji, SQL and JSON look-alikes. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "",
    "\0",
    "a'b\"c",
    "\ud83d",
    "\udc00x",
    "\u4f60\u597d\n",
    "'; --",
    "%_\\",
    '{"a":1}',
    "\r\n",
    "\u2028",
  ),
);

const idText = fc.oneof(
  fc.uuid(),
  fc.string({ unit: "binary", minLength: 1 }).filter((id) => id.isWellFormed()),
);

export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
    hostileText,
    fc
      .constantFrom("12345678901234567890", "0.1234567890123456789", "1e400", "-0")
      .map((raw) => rawNumber(raw)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(hostileText, fc.constant("__proto__")), tie("value")), { maxLength: 3 })
      .map(objectOf),
  ),
})).value;

export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .array(
    fc.tuple(fc.oneof(fc.constantFrom("source", "pond", "anthropic", "__proto__"), hostileText), jsonValue),
    { maxLength: 3 },
  )
  .map(objectOf);

const timestamp: fc.Arbitrary<Timestamp> = fc
  .integer({ min: -9_000_000_000_000, max: 8_640_000_000_000 })
  .chain((ms) => fc.integer({ min: 0, max: 999 }).map((us) => (ms * 1000 + us) as Timestamp));

const sealedText = hostileText.map((text) => sealExtracted(text));
const sealedBoolean = fc.boolean().map((value) => sealExtracted(value));
const sealedJson = jsonValue.map((value) => sealExtractedJson(value));

const fileData = fc.oneof(
  fc.record({ kind: fc.constant("string" as const), value: sealedText }),
  fc.record({
    kind: fc.constant("string" as const),
    value: fc.base64String().map((text) => sealExtracted(text)),
  }),
  fc.record({ kind: fc.constant("bytes" as const), value: fc.uint8Array({ maxLength: 64 }) }),
  fc.record({ kind: fc.constant("url" as const), value: sealedText }),
);

/** What differs between the seven types; the keys come from the message. */
const partBody = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: sealedText }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constant("reasoning" as const), text: sealedText }, { requiredKeys: ["type"] }),
  fc.record(
    { type: fc.constant("file" as const), media_type: sealedText, file_name: sealedText, data: fileData },
    { requiredKeys: ["type", "data"] },
  ),
  fc.record(
    {
      type: fc.constant("tool_call" as const),
      call_id: sealedText,
      name: sealedText,
      params: sealedJson,
      provider_executed: sealedBoolean,
    },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    {
      type: fc.constant("tool_result" as const),
      call_id: sealedText,
      name: sealedText,
      is_failure: sealedBoolean,
      result: sealedJson,
    },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("tool_approval_request" as const),
    approval_id: sealedText,
    tool_call_id: sealedText,
  }),
  fc.record(
    {
      type: fc.constant("tool_approval_response" as const),
      approval_id: sealedText,
      approved: sealedBoolean,
      reason: sealedText,
    },
    { requiredKeys: ["type", "approval_id"] },
  ),
);

interface MessageSeed {
  readonly role: Message["role"];
  readonly timestamp: Timestamp;
  readonly content: string;
  readonly options: JsonObject;
  readonly positioned: boolean;
  readonly parts: readonly {
    readonly body: Record<string, unknown>;
    readonly provenance: Part["provenance"];
    readonly options: JsonObject;
  }[];
}

const messageSeed: fc.Arbitrary<MessageSeed> = fc.record({
  role: fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
  timestamp,
  content: hostileText,
  options: jsonObject,
  positioned: fc.boolean(),
  parts: fc.array(
    fc.record({
      body: partBody,
      provenance: fc.constantFrom("conversational" as const, "injected" as const),
      options: jsonObject,
    }),
    { maxLength: 4 },
  ),
});

/** One session with its messages and parts, in ingest order, valid by every rule. */
export const sessionEvents: fc.Arbitrary<readonly Event[]> = fc
  .record({
    id: idText,
    parent: fc.option(idText, { nil: undefined }),
    relation: fc.option(
      fc.constantFrom("spawn" as const, "fork" as const, "resume" as const, "compact" as const),
      { nil: undefined },
    ),
    cut: fc.boolean(),
    agent: fc.constantFrom("claude-code", "codex-cli/review"),
    project: hostileText.filter((text) => text !== ""),
    created_at: timestamp,
    options: jsonObject,
    messages: fc.uniqueArray(fc.tuple(idText, messageSeed), { selector: ([id]) => id, maxLength: 6 }),
  })
  .map((seed) => {
    const id = sessionId(seed.id);
    const session: Session = {
      id,
      ...(seed.parent === undefined ? {} : { parent_session_id: sessionId(seed.parent) }),
      ...(seed.parent === undefined || !seed.cut ? {} : { parent_message_id: messageId("cut") }),
      ...(seed.relation === undefined ? {} : { relation: seed.relation }),
      source_agent: seed.agent,
      created_at: seed.created_at,
      project: sealExtracted(seed.project),
      options: seed.options,
    };
    return [
      { kind: "session" as const, session },
      ...seed.messages.flatMap(([name, message], index) => messageEvents(id, name, { ...message, index })),
    ];
  });

function messageEvents(
  session_id: Session["id"],
  name: string,
  seed: MessageSeed & { readonly index: number },
): Event[] {
  const id = messageId(name);
  const base = {
    id,
    session_id,
    ...(seed.positioned ? { seq: seed.index } : {}),
    timestamp: seed.timestamp,
    options: seed.options,
  };
  const message: Message =
    seed.role === "system"
      ? { ...base, role: "system", content: sealExtracted(seed.content) }
      : { ...base, role: seed.role };
  const parts = seed.parts
    .filter(({ body }) => isAllowed(seed.role, body["type"] as Part["type"]))
    .map(({ body, provenance, options }, ordinal) => ({
      kind: "part" as const,
      part: {
        id: partId(String(ordinal)),
        session_id,
        message_id: id,
        ordinal,
        provenance,
        options,
        ...body,
      } as unknown as Part,
    }));
  return [{ kind: "message", message }, ...parts];
}

/** What a program without types may put anywhere: values of no JSON, of the wrong kind, and some that are right. */
const garbage: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    withBoxedValues: true,
    maxDepth: 2,
  }),
  jsonValue,
  fc.constantFrom<unknown>(
    undefined,
    null,
    "",
    "robot",
    "\ud83d",
    5,
    -0,
    0.5,
    Number.NaN,
    Infinity,
    2 ** 31,
    2 ** 53,
    1e300,
    () => 5,
    Symbol("s"),
    new (class Money {
      readonly amount = 5;
    })(),
    [undefined],
    { at: undefined },
    { kind: "string", value: 5 },
    { kind: "bytes", value: "QUJD" },
    { kind: "url" },
    { kind: "tape", value: "x" },
    { kind: "string", value: "x", more: 1 },
    { deep: { at: [1, { of: Number.NaN }] } },
    selfContaining(),
    rawNumber('"text"'),
    rawNumber("1e400"),
  ),
);

const FIELDS =
  "id session_id message_id parent_session_id parent_message_id relation source_agent created_at project seq timestamp role content ordinal provenance type text media_type file_name data call_id name params provider_executed is_failure result approval_id tool_call_id approved reason options more".split(
    " ",
  );

/** Spoils one event of a stream: a field of it is replaced, added or taken out, or all of it is something else. */
export const garbling: fc.Arbitrary<(events: readonly Event[]) => Event[]> = fc
  .record({
    at: fc.nat(),
    field: fc.oneof(fc.nat(), fc.constantFrom(...FIELDS)),
    value: garbage,
    how: fc.constantFrom("replace", "replace", "replace", "remove", "envelope", "whole"),
  })
  .map(({ at, field, value, how }) => (events: readonly Event[]): Event[] => {
    const index = at % events.length;
    return events.with(index, garbled(events[index], { field, value, how }));
  });

function garbled(
  event: Event | undefined,
  { field, value, how }: { readonly field: number | string; readonly value: unknown; readonly how: string },
): Event {
  if (event === undefined || how === "whole") return value as Event;
  if (how === "envelope")
    return { ...event, [typeof field === "string" ? field : event.kind]: value } as Event;
  const entity = { ...(event as unknown as Record<string, Record<string, unknown>>)[event.kind] };
  const names = Object.keys(entity);
  const name = typeof field === "string" ? field : names[field % names.length]!;
  if (how === "remove") delete entity[name];
  else entity[name] = value;
  return { kind: event.kind, [event.kind]: entity } as unknown as Event;
}

function selfContaining(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [name, value] of entries)
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

function rawNumber(text: string): JsonValue {
  return (JSON as unknown as { rawJSON(text: string): JsonValue }).rawJSON(text);
}
