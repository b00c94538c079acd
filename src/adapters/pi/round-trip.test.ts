/** Whatever a record looks like: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson, instant, logOf, shape, textLike } from "../../../test/support/arbitrary-records.ts";
import { CREATED_AT, emptyLog, expectEqualRecords, validEvents } from "../../../test/support/record-log.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import { stringifyJson } from "../../base/json/json.ts";
import type { Event } from "../../model/index.ts";
import { activeBranch } from "../../model/derived/index.ts";
import { replay } from "../../model/events/index.ts";
import { logLines } from "../kit/restore/index.ts";
import { RECORDS } from "./restore/native.ts";
import { RecordMapper } from "./parse/records.ts";

const text = textLike(
  '<skill name="a" location="/a">\nx\n</skill>\n\ntyped',
  '<file name="/a">\nx\n</file>\n<file name="/b"></file>\ntyped',
  "",
);
const id = fc.constantFrom("e1", "e2", "e3", "");
const time = fc.oneof(
  instant,
  fc.constantFrom<JsonValue>(1_767_225_600_000, 1_767_225_600_000.5, -1, 1e300, 0),
);

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
  timestamp: time,
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
  timestamp: time,
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
    const heads = fc.record({ parent: fc.constantFrom(undefined, "p"), isRestored: fc.boolean() });
    fc.assert(
      fc.property(logOf(record, { maxLength: 8 }), heads, (records, head) => {
        const [state] = replay(eventsOf(records, { ...head, instant: CREATED_AT }));
        expectEqualRecords(logLines(state!, RECORDS), records);
        activeBranch(state!.messages.map((one) => one.message));
      }),
      { numRuns: 400 },
    );
  });

  test("gives the same ids and values for any prefix", () => {
    fc.assert(
      fc.property(logOf(record, { maxLength: 8 }), fc.nat(8), (records, cut) => {
        const head = { parent: undefined, isRestored: false, instant: CREATED_AT };
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
  const out = emptyLog("pi");
  const mapper = new RecordMapper(out, head);
  for (const value of records)
    out.add(mapper.map(value, { bytes: stringifyJson(value).length, hash: valueHash(value) }));
  return validEvents(out);
}
