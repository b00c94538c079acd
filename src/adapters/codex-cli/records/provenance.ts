/**
 * Which stretch of a user-side text a person wrote and which the harness put there (spec.md#model-part-provenance).
 * In this order: what the record itself declares (since 0.160 or so), what its twin says was submitted, then the
 * client's own marks of what it injects. On doubt a text counts as written: indexing noise costs less than losing
 * what somebody said.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { RecordedAuthor } from "../../../model/derived/index.ts";
import type { TextSpan } from "../../kit/session/index.ts";
import { arrayField, extractString, field, objectField } from "../../kit/extract/index.ts";

/** Texts that Codex wraps whole in a mark: how it starts, how it ends, what it is. */
const WRAPPED: readonly (readonly [start: string, end: string, kind: string])[] = [
  ["# AGENTS.md instructions", "</INSTRUCTIONS>", "instructions"],
  ["<user_instructions>", "</user_instructions>", "instructions"],
  ["<INSTRUCTIONS>", "</INSTRUCTIONS>", "instructions"],
  ["<environment_context>", "</environment_context>", "environment-context"],
  ["<environments_instructions>", "</environments_instructions>", "environment-context"],
  ["<skill>", "</skill>", "skill"],
  ["<skills_instructions>", "</skills_instructions>", "skill"],
  ["<user_shell_command>", "</user_shell_command>", "shell"],
  ["<turn_aborted>", "</turn_aborted>", "interruption"],
  ["<subagent_notification>", "</subagent_notification>", "subagent-notification"],
  ["<recommended_plugins>", "</recommended_plugins>", "plugins"],
  ["<plugins_instructions>", "</plugins_instructions>", "plugins"],
  ["<goal_context>", "</goal_context>", "goal"],
  ["<codex_internal_context", "</codex_internal_context>", "goal"],
  ["<hook_prompt", "</hook_prompt>", "hook"],
  ["<permissions instructions>", "</permissions instructions>", "permissions"],
  ["<collaboration_mode>", "</collaboration_mode>", "collaboration-mode"],
  ["<user_action>", "</user_action>", "review"],
  ["<realtime_delegation>", "</realtime_delegation>", "realtime"],
  ["<guardian_sync_review>", "</guardian_sync_review>", "guardian"],
  ["<node_repl_review_evidence>", "</node_repl_review_evidence>", "guardian"],
  ["<image_resize_notice>", "</image_resize_notice>", "image-label"],
  ["<external_", ">", "external-context"],
  ["Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command.", "warning"],
  ["Warning: The maximum number of unified exec processes you can keep open is", "", "warning"],
  ["Warning: Your account was flagged for potentially high-risk cyber activity", "", "warning"],
  ["Another language model started to solve this problem and produced a summary", "", "compaction-summary"],
];

/** Prompts that the client itself submits for a command, as a whole: how it starts, how it ends, what it is. */
const TEMPLATES: typeof WRAPPED = [
  [
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\n",
    "Architecture Overview, or Agent-Specific Instructions.",
    "command",
  ],
];

/** Injected, but written by a model. */
const BY_MODELS: ReadonlySet<string> = new Set(["agent-message", "compaction-summary", "unshown"]);

/** Ways to start the client in which a program hands the prompts in: `source`, before that `originator`. */
const UNATTENDED: ReadonlySet<string> = new Set(["exec", "mcp", "codex_exec"]);

/** The IDE, the desktop app and the terminal put their context before this line, the request after the last one. */
const REQUEST_MARK = "## My request for Codex:";

const MEDIA_LABEL = /^(?:<(?:image|audio)(?: name=[^\n]*)?>|<\/(?:image|audio)>)$/;

/** The kind of a text that the client itself would take for injected, else undefined. */
export function injectedKind(text: string): string | undefined {
  const first = firstVisible(text);
  // Every mark starts with one of these; nearly every text is told apart by one look.
  if (first !== "<" && first !== "#" && first !== "W" && first !== "A") return undefined;
  return kindIn(WRAPPED, text);
}

/** The kind of a text that the client submitted for a command, though the log says that it was typed. */
export function templateKind(text: string): string | undefined {
  return firstVisible(text) === "G" ? kindIn(TEMPLATES, text) : undefined;
}

function kindIn(table: typeof WRAPPED, text: string): string | undefined {
  const trimmed = text.trim();
  return table.find(([start, end]) => trimmed.startsWith(start) && trimmed.endsWith(end))?.[2];
}

/** True for a session that a program runs: its header does not tell who writes the prompts. */
export function isUnattended(meta: JsonObject): boolean {
  const by = extractString(meta, "source") ?? extractString(meta, "originator");
  return by !== undefined && UNATTENDED.has(by);
}

/** The spans with their authors, where their place does not say them; `author` is whose the conversation is. */
export function authored(spans: readonly TextSpan[], author?: RecordedAuthor): readonly TextSpan[] {
  return spans.map((span) => {
    const { injected } = span;
    const recorded = injected === undefined ? author : BY_MODELS.has(injected) ? "model" : undefined;
    return recorded === undefined ? span : { ...span, author: recorded };
  });
}

/** `<image name=...>` before and `</image>` after a picture: labels for the model. */
export function isMediaLabel(text: string): boolean {
  return text.length < 4096 && MEDIA_LABEL.test(text);
}

/** What a submitted text consists of: context that a front end put before the request, and the request. */
export function submittedSpans(text: string, start = 0, end = text.length): readonly TextSpan[] {
  const mark = text.lastIndexOf(REQUEST_MARK, end - REQUEST_MARK.length);
  if (mark < start || !isFrontEndContext(text, start)) return [{ start, end }];
  let request = mark + REQUEST_MARK.length;
  while (request < end && isSpace(text.charCodeAt(request))) request += 1;
  const context: TextSpan = { start, end: request, injected: "ide" };
  return request === end ? [context] : [context, { start: request, end }];
}

/** The context is Markdown that begins with a heading; a text that only mentions the mark is left alone. */
function isFrontEndContext(text: string, start: number): boolean {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return text.startsWith("# ", at) || text.startsWith(REQUEST_MARK, at);
}

/** The kind that the record itself declares for the block at `index`: `user` when it was submitted. */
export function declaredKind(item: JsonObject, index: number): string | undefined {
  const facts = objectField(item, "internal_chat_message_metadata_passthrough");
  if (facts === undefined) return undefined;
  const metadata = arrayField(facts, "content_item_metadata")?.[index];
  const provenance = isJsonObject(metadata) ? objectField(metadata, "provenance") : undefined;
  const author = provenance === undefined ? undefined : field(provenance, "type");
  if (author === "user") return "user";
  const kind = arrayField(facts, "content_item_kinds")?.[index];
  if (typeof kind === "string" && kind !== "unknown" && kind !== "")
    return kind.startsWith("user.") ? "user" : kind;
  return typeof author === "string" && author !== "unknown" ? author : undefined;
}

function firstVisible(text: string): string | undefined {
  let at = 0;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return text[at];
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
