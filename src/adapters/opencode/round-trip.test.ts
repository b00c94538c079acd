/** Whatever a record looks like, and in whatever container: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyJson, shape, textLike } from "../../../test/support/arbitrary-records.ts";
import { emptyLog, SESSION, validEvents } from "../../../test/support/record-log.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { firstDifference, isJsonObject, stringifyJson } from "../../base/json/json.ts";
import { replay } from "../../model/events/index.ts";
import { messageEntry } from "./records/records.ts";
import { nativeSession } from "./restore/native.ts";
import type { MessageRecord, SourceRecord } from "./records/record.ts";
import type { ContainerKind } from "./records/source.ts";

const text = textLike("", "<system-reminder>x", "Called the Read tool");
const id = fc.constantFrom("prt_1", "prt_2", "prt_3", "0", "");

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
  const log = emptyLog("opencode", { source: { path: "key", kind } });
  let previous: string | null = null;
  for (const message of messages) {
    const entry: ReturnType<typeof messageEntry> = messageEntry(message, { log, session: SESSION, previous });
    log.add(entry);
    previous = entry.id.text;
  }
  const events = validEvents(log);
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
