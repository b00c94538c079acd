/** Whatever a record looks like: taken apart and put together again it is the same value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyJson, instant, logOf, shape, textLike } from "../../../test/support/arbitrary-records.ts";
import { CREATED_AT, emptyLog, expectEqualRecords, validEvents } from "../../../test/support/record-log.ts";
import type { JsonValue } from "../../base/json/json.ts";
import type { Event } from "../../model/index.ts";
import { replay } from "../../model/events/index.ts";
import { recordsOf } from "./restore/native.ts";
import type { Setting } from "./records/records.ts";
import { readRecord, RecordMapper } from "./records/records.ts";
import { Replays } from "./records/replays.ts";

const text = textLike(
  "hello",
  "",
  "<environment_context>x</environment_context>",
  "# Context from my IDE setup:\n## My request for Codex:\nhello",
  "before hello after",
  "<image name=[Image #1]>",
  "data:image/png;base64,AAAA",
  "data:,x",
  '{"a":1}',
  '{"a": 1}',
  '{"n":1.0}',
  "Exit code: 1\nWall time: 1 seconds\n",
);
const id = fc.constantFrom("i1", "i2", "a/b", "ordinal:1", "");

const block = fc.oneof(
  shape({
    type: fc.constantFrom("input_text", "output_text", "text", "Text", "summary_text", "reasoning"),
    text,
  }),
  shape({ type: fc.constantFrom("input_image", "input_audio"), image_url: text, audio_url: text }),
  anyJson,
);
const content = fc.oneof(fc.array(block, { maxLength: 4 }), text);
const item = shape({
  type: fc.constantFrom(
    "message",
    "message",
    "message",
    "agent_message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "compaction",
    "constructor",
  ),
  id,
  role: fc.constantFrom("user", "assistant", "developer", "system", "other"),
  content,
  summary: fc.array(block, { maxLength: 3 }),
  encrypted_content: text,
  name: text,
  call_id: id,
  arguments: text,
  input: text,
  action: anyJson,
  output: fc.oneof(text, anyJson),
  tools: anyJson,
  revised_prompt: text,
  result: text,
});
const event = shape({
  type: fc.constantFrom(
    "user_message",
    "agent_message",
    "item_completed",
    "exec_command_end",
    "thread_name_updated",
    "task_started",
    "mcp_tool_call_end",
  ),
  message: text,
  kind: fc.constantFrom("plain", "environment_context"),
  item: shape({
    type: fc.constantFrom("UserMessage", "AgentMessage", "Plan", "CommandExecution"),
    id,
    content,
  }),
  call_id: id,
  turn_id: id,
  exit_code: fc.nat(),
  thread_name: text,
  result: shape({ Ok: anyJson, Err: anyJson }),
});
const payload = fc.oneof(
  item,
  event,
  shape({ message: text, replacement_history: anyJson }),
  shape({ content: text, author: text }),
  shape({ id, cwd: text, subagent_history_start_ordinal: fc.nat() }),
);
const record = fc.oneof(
  {
    weight: 8,
    arbitrary: shape({
      timestamp: instant,
      ordinal: fc.nat(5),
      type: fc.constantFrom(
        "response_item",
        "response_item",
        "event_msg",
        "event_msg",
        "compacted",
        "inter_agent_communication",
        "session_meta",
        "turn_context",
        "later",
      ),
      payload,
    }),
  },
  { weight: 4, arbitrary: fc.oneof(item, shape({ id, timestamp: instant, instructions: text })) },
  { weight: 1, arbitrary: anyJson },
);

describe("any log", () => {
  test("comes back equal, record by record, from events that are all valid and all kept", () => {
    fc.assert(
      fc.property(
        logOf(record, { maxLength: 7 }),
        fc.record({ isHarness: fc.boolean(), isChild: fc.boolean(), isUnattended: fc.boolean() }),
        (records, setting) => {
          const [state] = replay(eventsOf(records, setting));
          expectEqualRecords(recordsOf(state!), records);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("gives each record the same messages whatever comes two records later", () => {
    fc.assert(
      fc.property(logOf(record, { minLength: 3, maxLength: 6 }), (records) => {
        const setting = { isHarness: false, isChild: false, isUnattended: false };
        const whole = eventsOf(records, setting);
        // All but the last record of a prefix are settled: the last one may still wait for its twin.
        const prefix = eventsOf(records.slice(0, -1), setting).filter(
          (one) => seqOf(one) < records.length - 2,
        );
        expect(prefix.map(textOf)).toEqual(whole.slice(0, prefix.length).map(textOf));
      }),
      { numRuns: 300 },
    );
  });
});

function eventsOf(records: readonly JsonValue[], setting: Omit<Setting, "replays">): Event[] {
  const log = emptyLog("codex-cli");
  const replays = new Replays(undefined, { createdAt: CREATED_AT });
  const mapper = new RecordMapper(log, { ...setting, replays });
  const entries = records.map((value) => readRecord(value, { bytes: 10, source: undefined }));
  for (const [index, entry] of entries.entries()) mapper.place(entry, entries[index + 1]);
  return validEvents(log);
}

let position = -1;
/** The position of the record that an event belongs to; parts follow their message. */
function seqOf(one: Event): number {
  if (one.kind === "session") position = -1;
  if (one.kind === "message") position = one.message.seq ?? -1;
  return position;
}

function textOf(one: Event): string {
  return JSON.stringify(one);
}
