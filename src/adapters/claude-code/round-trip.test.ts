/** Whatever a record looks like: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { describe, test } from "vitest";
import { anyJson, instant, logOf, shape, textLike } from "../../../test/support/arbitrary-records.ts";
import { emptyLog, expectEqualRecords, validEvents } from "../../../test/support/record-log.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import type { Event } from "../../model/index.ts";
import { replay } from "../../model/events/index.ts";
import { logLines } from "../kit/restore/index.ts";
import { RECORDS } from "./restore/native.ts";
import { RecordMapper } from "./parse/records.ts";

const text = textLike(
  "<system-reminder>x</system-reminder>\n\ntyped",
  "<command-name>/a</command-name>\n<command-args>b</command-args>",
  "Implement the following plan:\n\nplan",
  "Implement the following plan:\n\nplan\n\nUser feedback on this plan: more",
  "<task-notification>t</task-notification>\nFull transcript available at: /t\n\nand?",
  '<teammate-message teammate_id="a">\nx\n</teammate-message>',
  "The coordinator sent a message while you were working:\nx\n\nAddress this before completing your current task.",
  "[Request interrupted by user]",
);
const id = fc.constantFrom("u1", "u2", "u3", "");

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
      planContent: fc.constantFrom("plan", ""),
      entrypoint: fc.constantFrom("cli", "sdk-cli"),
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
      fc.property(logOf(record, { maxLength: 6 }), fc.boolean(), (records, isChild) => {
        const [state] = replay(eventsOf(records, isChild));
        expectEqualRecords(logLines(state!, RECORDS), records);
      }),
      { numRuns: 1500 },
    );
  });
});

function eventsOf(records: readonly JsonValue[], isChild: boolean): Event[] {
  const log = emptyLog("claude-code");
  const mapper = new RecordMapper(log, { isChild, source_agent: "claude-code" });
  for (const value of records) log.add(mapper.map(value, { bytes: 100, hash: valueHash(value) }));
  return validEvents(log);
}
