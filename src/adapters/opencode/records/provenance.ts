/**
 * What of a message a person or the model said, and what opencode put there (spec.md#model-part-provenance). Every
 * pattern is in docs/adapters/opencode.md#provenance, with its evidence.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { arrayField, extractString, field, objectField } from "../../kit/extract/index.ts";

/** Texts that opencode writes into user messages, by how they begin; `synthetic` says that it wrote them. */
const OPENINGS: readonly (readonly [string, string])[] = [
  ["<system-reminder>", "system-reminder"],
  ["Called the ", "file"],
  ["<path>", "file"],
  ["<file>", "file"],
  ["Read tool failed to read ", "file"],
  ["Reading MCP resource: ", "file"],
  ["The following tool was executed by the user", "shell"],
  ["Summarize the task tool output above and continue with your task.", "command"],
  ["Continue if you have next steps", "continuation"],
  ["The previous request exceeded the provider's size limit", "continuation"],
  ["<task id=", "task-notification"],
  ["<task_result>", "task-notification"],
  [" Use the above message and context to generate a prompt and call the task tool", "agent"],
  ["Use the above message and context to generate a prompt and call the task tool", "agent"],
];

const SUMMARY = "compaction-summary";

/** The kind of a message that is no turn of the conversation as a whole. */
export function wholeKind(info: JsonObject): string | undefined {
  return field(info, "role") === "assistant" && field(info, "summary") === true ? SUMMARY : undefined;
}

/** True for what is injected and yet written by a model (spec.md#model-part-author). */
export function isByModel(kind: string): boolean {
  return kind === SUMMARY;
}

/**
 * True for a session in which the model may put no questions: `opencode run` makes them so, for programs and for
 * single commands. Who writes its prompts is not told.
 */
export function isUnattended(session: JsonObject): boolean {
  const rules = arrayField(session, "permission") ?? [];
  return rules.some(
    (rule) =>
      isJsonObject(rule) && field(rule, "permission") === "question" && field(rule, "action") === "deny",
  );
}

/** The kind of a text, reasoning or file part that the harness put there; undefined for conversation. */
export function injectedKind(
  record: JsonObject,
  context: { readonly whole: string | undefined },
): string | undefined {
  if (field(record, "synthetic") === true) return syntheticKind(record);
  if (field(record, "ignored") === true) return "ignored";
  return context.whole;
}

function syntheticKind(record: JsonObject): string {
  const metadata = objectField(record, "metadata");
  if (metadata !== undefined && field(metadata, "compaction_continue") === true) return "continuation";
  const text = extractString(record, "text") ?? "";
  return OPENINGS.find(([opening]) => text.startsWith(opening))?.[1] ?? "synthetic";
}
