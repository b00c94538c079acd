/** Whatever a record looks like: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../base/json.ts";
import { firstDifference, parseJson, stringifyJson } from "../../base/json.ts";
import type { Event, Session } from "../../model/index.ts";
import { EventValidator, parseTimestamp, replay, sessionId } from "../../model/index.ts";
import { extractFromPath, SessionLog } from "../seam/index.ts";
import { recordsOf } from "./native.ts";
import { RecordMapper } from "./records.ts";

const SESSION: Session = {
  id: sessionId("s"),
  source_agent: "claude-code",
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
    "<system-reminder>x</system-reminder>\n\ntyped",
    "<command-name>/a</command-name>\n<command-args>b</command-args>",
    "Implement the following plan:\n\nplan",
    "[Request interrupted by user]",
  ),
);
const id = fc.constantFrom("u1", "u2", "u3", "");
const instant = fc.oneof(
  fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456Z", "never"),
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
  shape({ type: fc.constant("text"), text, citations: anyJson }),
  shape({
    type: fc.constantFrom("thinking", "redacted_thinking"),
    thinking: text,
    signature: text,
    data: text,
  }),
  shape({
    type: fc.constantFrom("tool_use", "server_tool_use", "mcp_tool_use"),
    id,
    name: text,
    input: anyJson,
  }),
  shape({
    type: fc.constantFrom("tool_result", "web_search_tool_result"),
    tool_use_id: id,
    content: anyJson,
    is_error: fc.boolean(),
  }),
  shape({
    type: fc.constantFrom("image", "document"),
    source: shape({
      type: fc.constantFrom("base64", "url", "file"),
      media_type: text,
      data: text,
      url: text,
    }),
  }),
  anyJson,
);
const content = fc.oneof(text, fc.array(block, { maxLength: 5 }));
const message = shape({
  role: fc.constantFrom("user", "assistant"),
  content,
  id,
  model: fc.constantFrom("m", "<synthetic>"),
  usage: anyJson,
});
const record = fc.oneof(
  {
    weight: 8,
    arbitrary: shape({
      type: fc.constantFrom(
        "user",
        "assistant",
        "system",
        "attachment",
        "summary",
        "custom-title",
        "queue-operation",
        "other",
      ),
      subtype: fc.constantFrom("compact_boundary", "microcompact_boundary", "x"),
      uuid: id,
      parentUuid: fc.oneof(id, fc.constant(null)),
      logicalParentUuid: id,
      timestamp: instant,
      message,
      content: text,
      attachment: shape({
        type: fc.constant("queued_command"),
        prompt: content,
        commandMode: fc.constant("prompt"),
      }),
      forkedFrom: shape({ sessionId: id, messageUuid: id }),
      isMeta: fc.boolean(),
      isSidechain: fc.boolean(),
      isCompactSummary: fc.boolean(),
      leafUuid: id,
      customTitle: text,
      cwd: text,
    }),
  },
  { weight: 1, arbitrary: anyJson },
);

describe("any log", () => {
  test("comes back equal, record by record, from events that are all valid", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), fc.boolean(), (generated, isChild) => {
        const records = generated.map((value) => parseJson(stringifyJson(value)));
        const events = eventsOf(records, isChild);
        const validator = new EventValidator();
        expect(events.flatMap((event) => validator.check(event) ?? [])).toEqual([]);
        const [state] = replay(events);
        const restored = recordsOf(state!, (path) => path) as JsonValue[];
        expect(restored.length).toBe(records.length);
        for (const [index, value] of records.entries())
          expect([index, firstDifference(value, restored[index]!)]).toEqual([index, undefined]);
      }),
      { numRuns: 1500 },
    );
  });
});

function eventsOf(records: readonly JsonValue[], isChild: boolean): Event[] {
  const log = new SessionLog(SESSION, { adapter: "claude-code", path: "f" });
  const mapper = new RecordMapper(log, isChild);
  for (const value of records) log.add(mapper.map(value, 100));
  return log
    .drain()
    .filter((item) => item.kind === "session" || item.kind === "message" || item.kind === "part");
}
