/** Whatever a record looks like, and in whatever container: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../base/json.ts";
import { firstDifference, isJsonObject, parseJson, stringifyJson } from "../../base/json.ts";
import type { Event, Session, Timestamp } from "../../model/index.ts";
import { EventValidator, replay, sessionId } from "../../model/index.ts";
import { extractFromPath, SessionLog } from "../seam/index.ts";
import { messageEntry } from "./messages.ts";
import { nativeSession } from "./native.ts";
import type { MessageRecord, SourceRecord } from "./record.ts";
import type { ContainerKind } from "./source.ts";

const SESSION = "ses_1";

/** JSON of any shape, exact numbers and odd keys included. */
const anyJson: fc.Arbitrary<JsonValue> = fc
  .oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom(
      '{"__proto__":{"a":1}}',
      "12345678901234567890",
      "1e400",
      '"\\ud83d"',
      "-0",
      "[]",
      "{}",
      '""',
    ),
  )
  .map((text) => parseJson(text));

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "<system-reminder>x", "Called the Read tool"),
);
const id = fc.constantFrom("prt_1", "prt_2", "prt_3", "0", "");

/** Each field is as the client writes it, absent, or anything at all. */
function shape(fields: Readonly<Record<string, fc.Arbitrary<JsonValue>>>): fc.Arbitrary<JsonValue> {
  const loose = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: anyJson }),
    ]),
  );
  return fc.record({ ...loose, extra: anyJson }, { requiredKeys: [] }) as fc.Arbitrary<JsonValue>;
}

const url = fc.constantFrom("data:image/png;base64,AAAA", "data:,x", "data:broken", "file:///a", "");
const file = shape({ type: fc.constant("file"), mime: text, filename: text, url, id });
const state = shape({
  status: fc.constantFrom("completed", "error", "running", "pending", "success"),
  input: anyJson,
  output: text,
  error: text,
  title: text,
  metadata: shape({ exit: fc.constantFrom<JsonValue>(0, 1, null) }),
  time: anyJson,
  attachments: fc.array(fc.oneof(file, anyJson), { maxLength: 3 }),
});
const ids = {
  id,
  sessionID: fc.constantFrom(SESSION, "ses_2"),
  messageID: fc.constantFrom("msg_1", "msg_2"),
};
const part = fc.oneof(
  shape({ ...ids, type: fc.constant("text"), text, synthetic: fc.boolean(), ignored: fc.boolean() }),
  shape({ ...ids, type: fc.constant("reasoning"), text, metadata: anyJson }),
  shape({ ...ids, type: fc.constant("file"), mime: text, filename: text, url }),
  shape({
    ...ids,
    type: fc.constant("tool"),
    tool: text,
    callID: text,
    state,
    metadata: shape({ providerExecuted: fc.boolean() }),
  }),
  shape({
    ...ids,
    type: fc.constantFrom("step-start", "step-finish", "patch", "subtask", "new"),
    prompt: text,
  }),
  anyJson,
);
const info = fc.oneof(
  {
    weight: 6,
    arbitrary: shape({
      id: fc.constantFrom("msg_1", "msg_2", "msg_3"),
      sessionID: ids.sessionID,
      role: fc.constantFrom("user", "assistant", "system"),
      time: shape({ created: fc.constantFrom<JsonValue>(1000, 0, -5, 1e300, "never") }),
      providerID: fc.constantFrom("anthropic", "pond", "source", "__proto__", "a b"),
      modelID: text,
      summary: fc.constantFrom<JsonValue>(true, { diffs: [] }),
    }),
  },
  { weight: 1, arbitrary: anyJson },
);

interface Case {
  readonly kind: ContainerKind;
  readonly messages: readonly MessageRecord[];
}

const at = { at: 1, bytes: 100 };

/** A record in a container: with the names of files in a tree, with columns in a database, plain in an export. */
function record(kind: ContainerKind, value: JsonValue, name: string): SourceRecord {
  if (kind === "tree") return { value: { json: value }, stem: name, ...at };
  if (kind === "database")
    return {
      value: { json: value },
      columns: { id: name, session_id: SESSION, message_id: "msg_1", time_updated: 5 },
      ...at,
    };
  return { value: { json: value }, ...at };
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    kind: fc.constantFrom<ContainerKind>("tree", "database", "export"),
    messages: fc.array(fc.tuple(info, fc.array(part, { maxLength: 5 })), { maxLength: 4 }),
  })
  .map(({ kind, messages }) => ({
    kind,
    messages: messages.map(([value, parts], index) => ({
      ...record(kind, value, `msg_${index + 1}`),
      parts: parts.map((one, position) => record(kind, one, `prt_${position + 1}`)),
    })),
  }));

function throughPond({ kind, messages }: Case) {
  const session: Session = {
    id: sessionId(SESSION),
    source_agent: "opencode",
    created_at: 1 as Timestamp,
    project: extractFromPath("/p"),
    options: { source: { path: "key", kind } },
  };
  const log = new SessionLog(session, { adapter: "opencode", path: "/p" });
  let previous: string | null = null;
  for (const message of messages) {
    const entry: ReturnType<typeof messageEntry> = messageEntry(message, { log, session: SESSION, previous });
    log.add(entry);
    previous = entry.id.text;
  }
  const events = log.drain().filter((item): item is Event => item.kind !== "issue");
  const validator = new EventValidator();
  expect(events.flatMap((event) => validator.check(event)?.message ?? [])).toEqual([]);
  const keys = events.map((event) =>
    event.kind === "part"
      ? `${event.part.message_id} ${event.part.id}`
      : event.kind === "message"
        ? event.message.id
        : "",
  );
  expect(new Set(keys).size).toBe(keys.length);
  const [restored] = replay(events);
  return nativeSession(restored!);
}

/** What of a record must come back; the name of a file only where there is one. */
function plain({ value, columns, stem }: Omit<SourceRecord, "at" | "bytes">, kind: ContainerKind): JsonValue {
  return [
    "json" in value ? value.json : { ...value },
    columns ?? null,
    kind === "tree" ? (stem ?? null) : null,
  ];
}

test("every message and part comes back equal, in order", () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { messages } = throughPond(one);
      const values = (list: readonly { readonly parts: readonly Omit<SourceRecord, "at" | "bytes">[] }[]) =>
        (list as readonly MessageRecord[]).map((message) => [
          plain(message, one.kind),
          message.parts.map((part_) => plain(part_, one.kind)),
        ]);
      const difference = firstDifference(values(one.messages), values(messages));
      expect(
        difference && [
          difference.path,
          stringifyJson(difference.left ?? null),
          stringifyJson(difference.right ?? null),
        ],
      ).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});

test("the cases are not all of one kind", () => {
  const seen = fc.sample(cases, 300).flatMap(({ messages }) => messages);
  const roles = seen.map(({ value }) =>
    "json" in value && isJsonObject(value.json) ? value.json["role"] : undefined,
  );
  for (const role of ["user", "assistant", "system", undefined]) expect(roles).toContain(role);
});
