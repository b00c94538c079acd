/**
 * Whether a tool call failed, where the log says so: in an event with the call's id before its output, or in the
 * head or tail that the harness prints around the output. Elsewhere the flag stays absent (spec.md#model-schema-honesty).
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Extracted } from "../../../model/index.ts";
import {
  extractBoolean,
  extractFailureByStatus,
  extractPresence,
  extractPrintedFailure,
  field,
  objectField,
} from "../../kit/extract/index.ts";
import type { RolloutRecord } from "./record.ts";

/** What the harness prints before the output of a command; both shapes start the text. */
const PRINTED_HEADS = [
  /^(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\nProcess exited with code (-?\d+)\n/,
  /^Exit code: (-?\d+)\nWall time: /,
];
/** Until 2025 the output was JSON in a string, with the status at its end. */
const PRINTED_TAIL = /"metadata":\{"exit_code":(-?\d+),"duration_seconds":[\d.e+-]+\}\}$/;

export function printedFailure(output: string): Extracted<boolean> | undefined {
  if (output.startsWith('{"output":')) return extractPrintedFailure(output.slice(-200), PRINTED_TAIL);
  const head = output.slice(0, 400);
  for (const pattern of PRINTED_HEADS) {
    const failure = extractPrintedFailure(head, pattern);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** The outcome of a call as an event records it. */
export interface Outcome {
  readonly callId: string;
  readonly failure: Extracted<boolean>;
}

export function recordedOutcome(view: RolloutRecord): Outcome | undefined {
  const event = view.kind === "event_msg/item_completed" ? objectField(view.item, "item") : view.item;
  const callId = event === undefined ? undefined : (field(event, "call_id") ?? field(event, "id"));
  if (event === undefined || typeof callId !== "string") return undefined;
  const failure = outcomeOf(event);
  return failure === undefined ? undefined : { callId, failure };
}

function outcomeOf(event: JsonObject): Extracted<boolean> | undefined {
  const type = field(event, "type");
  if (type === "exec_command_end" || type === "CommandExecution")
    return extractFailureByStatus(event, "exit_code");
  if (type === "patch_apply_end" || type === "dynamic_tool_call_response")
    return extractFailureByStatus(event, "success");
  return type === "mcp_tool_call_end" ? mcpFailure(objectField(event, "result")) : undefined;
}

function mcpFailure(result: JsonObject | undefined): Extracted<boolean> | undefined {
  if (result === undefined) return undefined;
  const answer = objectField(result, "Ok");
  const declared =
    answer === undefined
      ? undefined
      : (extractBoolean(answer, "isError") ?? extractBoolean(answer, "is_error"));
  return declared ?? extractPresence(result, "Err");
}
