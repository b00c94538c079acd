/** Whatever a record looks like: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../base/json.ts";
import { firstDifference, parseJson, stringifyJson } from "../../base/json.ts";
import type { Event, Session } from "../../model/index.ts";
import { activeBranch, EventValidator, parseTimestamp, replay, sessionId } from "../../model/index.ts";
import { extractFromPath, SessionLog } from "../seam/index.ts";
import { recordsOf } from "./native.ts";
import { RecordMapper } from "./records.ts";

const SESSION: Session = {
  id: sessionId("s"),
  source_agent: "pi",
  created_at: parseTimestamp("2026-01-01T00:00:00.000Z")!,
  project: extractFromPath("/w"),
  options: {},
};

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
  fc.constantFrom(
    '<skill name="a" location="/a">\nx\n</skill>\n\ntyped',
    '<file name="/a">\nx\n</file>\n<file name="/b"></file>\ntyped',
    "",
  ),
);
const id = fc.constantFrom("e1", "e2", "e3", "");
const instant = fc.oneof(
  fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z", "2025-01-01T00:00:00.123456Z", "never"),
  fc.constantFrom<JsonValue>(1_767_225_600_000, 1_767_225_600_000.5, -1, 1e300, 0),
  anyJson,
);

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

const block = fc.oneof(
  shape({ type: fc.constant("text"), text, textSignature: text }),
  shape({ type: fc.constant("thinking"), thinking: text, thinkingSignature: text, redacted: fc.boolean() }),
  shape({ type: fc.constant("toolCall"), id, name: text, arguments: anyJson, thoughtSignature: text }),
  shape({ type: fc.constant("image"), data: text, mimeType: text }),
  anyJson,
);
const content = fc.oneof(text, fc.array(block, { maxLength: 5 }));
const message = shape({
  role: fc.constantFrom(
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "hookMessage",
    "branchSummary",
    "compactionSummary",
    "other",
  ),
  content,
  toolCallId: id,
  toolName: text,
  isError: fc.boolean(),
  command: text,
  output: text,
  summary: text,
  timestamp: instant,
});
const entry = shape({
  kind: fc.constantFrom("entry", "record", "lane", "fact", "value", "header"),
  lane: fc.constantFrom("main", "side"),
  leafId: fc.oneof(id, fc.constant(null)),
  namespace: fc.constantFrom("pi.branch.tip", "pi.session.name"),
  key: fc.constantFrom("main", ""),
  value: id,
  type: fc.constantFrom(
    "message",
    "message",
    "message",
    "custom_message",
    "branch_summary",
    "compaction",
    "leaf",
    "label",
    "session",
    "session_info",
    "other",
  ),
  id,
  parentId: fc.oneof(id, fc.constant(null)),
  targetId: fc.oneof(id, fc.constant(null)),
  timestamp: instant,
  message,
  content,
  summary: text,
  name: text,
});
const record = fc.oneof(
  { weight: 8, arbitrary: entry },
  { weight: 1, arbitrary: fc.array(entry, { maxLength: 3 }) },
  { weight: 1, arbitrary: anyJson },
);

describe("any log", () => {
  test("gives valid events, a branch that ends, and its own records again", () => {
    const log = fc.array(record, { maxLength: 8 });
    const heads = fc.record({ parent: fc.constantFrom(undefined, "p"), isRestored: fc.boolean() });
    fc.assert(
      fc.property(log, heads, (records, head) => {
        const events = eventsOf(records, { ...head, instant: SESSION.created_at });
        const validator = new EventValidator();
        expect(events.flatMap((event) => validator.check(event) ?? [])).toEqual([]);
        const [state] = replay(events);
        const restored = recordsOf(state!);
        expect(restored.length).toBe(records.length);
        for (const [index, source] of records.entries())
          expect([index, firstDifference(source, restored[index] as JsonValue)]).toEqual([index, undefined]);
        activeBranch(state!.messages.map((one) => one.message));
      }),
      { numRuns: 400 },
    );
  });

  test("gives the same ids and values for any prefix", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), fc.nat(8), (records, cut) => {
        const head = { parent: undefined, isRestored: false, instant: SESSION.created_at };
        const part = eventsOf(records.slice(0, cut), head);
        expect(eventsOf(records, head).slice(0, part.length)).toEqual(part);
      }),
    );
  });
});

function eventsOf(
  records: readonly JsonValue[],
  head: ConstructorParameters<typeof RecordMapper>[1],
): readonly Event[] {
  const out = new SessionLog(SESSION, { adapter: "pi", path: "x" });
  const mapper = new RecordMapper(out, head);
  for (const value of records) out.add(mapper.map(value, stringifyJson(value).length));
  return out
    .drain()
    .flatMap((item) =>
      item.kind === "message" || item.kind === "part" || item.kind === "session" ? [item] : [],
    );
}
