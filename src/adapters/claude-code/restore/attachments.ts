/**
 * What Claude Code put before its model in records of their own: what hooks added, files that were named or changed, what
 * background agents reported, what local commands printed, what an editor shows, and reminders. They are stored as records; to
 * another client they are turns that nobody typed. Which types the client sends was tried in the real one, type by type.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, FileData, Message, Part } from "../../../model/index.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { partId } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import {
  arrayField,
  extractCompact,
  extractItem,
  extractName,
  extractString,
  isEmpty,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";

type Texts = readonly (Extracted<string> | undefined)[];

/** What an attachment says, in parts that have no place yet. */
type SentContent = readonly (Extracted<string> | undefined | Picture)[];

interface Picture {
  readonly data: FileData;
  readonly media_type?: Extracted<string>;
}

/** What the conversation leans on: its kind, and where the texts are. */
const CARRIED: ReadonlyMap<
  string,
  { readonly kind: string; readonly texts: (record: JsonObject) => SentContent }
> = new Map<string, { readonly kind: string; readonly texts: (record: JsonObject) => SentContent }>([
  ["hook_additional_context", { kind: "hook", texts: (record) => itemsOf(record, "content") }],
  ["hook_success", { kind: "hook", texts: (record) => spokenBy(record) }],
  [
    "hook_blocking_error",
    { kind: "hook", texts: (record) => stringsOf(objectField(record, "blockingError"), "blockingError") },
  ],
  ["hook_stopped_continuation", { kind: "hook", texts: (record) => stringsOf(record, "message") }],
  [
    "async_hook_response",
    {
      kind: "hook",
      texts: (record) =>
        stringsOf(
          objectField(objectField(record, "response") ?? {}, "hookSpecificOutput"),
          "additionalContext",
        ),
    },
  ],
  [
    "file",
    {
      kind: "file",
      texts: (record) => {
        const picture = pictureOf(fileOf(record));
        if (picture !== undefined) return [...stringsOf(record, "filename"), picture];
        const texts = [...stringsOf(fileOf(record), "content"), ...cellsOf(fileOf(record))];
        return [...stringsOf(record, "filename"), ...texts];
      },
    },
  ],
  ["directory", { kind: "file", texts: (record) => stringsOf(record, "content") }],
  [
    "mcp_resource",
    {
      kind: "file",
      texts: (record) => itemsOf(objectField(record, "content") ?? {}, "contents"),
    },
  ],
  [
    "selected_lines_in_ide",
    {
      kind: "ide",
      texts: (record) => [...stringsOf(record, "filename"), linesOf(record), ...stringsOf(record, "content")],
    },
  ],
  ["opened_file_in_ide", { kind: "ide", texts: (record) => stringsOf(record, "filename") }],
  ["agent_mention", { kind: "agent", texts: (record) => stringsOf(record, "agentType") }],
  ["at_mention_reference", { kind: "file", texts: (record) => itemsOf(record, "mentions") }],
  ["edited_text_file", { kind: "file", texts: (record) => stringsOf(record, "filename", "snippet") }],
  ["queued_command", { kind: "task-notification", texts: (record) => itemsOf(record, "prompt") }],
  [
    "task_status",
    {
      kind: "task-notification",
      texts: (record) => stringsOf(record, "description", "status", "deltaSummary"),
    },
  ],
  [
    "invoked_skills",
    {
      kind: "skill",
      texts: (record) =>
        (arrayField(record, "skills") ?? []).flatMap((skill) =>
          isJsonObject(skill) ? stringsOf(skill, "content") : [],
        ),
    },
  ],
  ["plan_file_reference", { kind: "plan", texts: (record) => stringsOf(record, "planContent") }],
]);

/** What each client tells its own model of its tools, its modes and its instructions, under the kinds of such notes in turns. */
const NOTES: ReadonlyMap<string, string> = new Map([
  ["agent_listing_delta", "reminder"],
  ["auto_mode", "reminder"],
  ["auto_mode_exit", "reminder"],
  ["budget_usd", "reminder"],
  ["compact_file_reference", "reminder"],
  ["critical_system_reminder", "reminder"],
  ["date_change", "environment-context"],
  ["deferred_tools_delta", "reminder"],
  ["diagnostics", "reminder"],
  ["mcp_instructions_delta", "reminder"],
  ["nested_memory", "instructions"],
  ["output_style", "reminder"],
  ["pdf_reference", "reminder"],
  ["plan_mode", "reminder"],
  ["plan_mode_exit", "reminder"],
  ["plan_mode_reentry", "reminder"],
  ["read_truncation_notice", "reminder"],
  ["relevant_memories", "instructions"],
  ["silent_turn_reminder", "reminder"],
  ["skill_listing", "reminder"],
  ["task_reminder", "reminder"],
  ["todo_reminder", "reminder"],
  ["total_tokens_reminder", "reminder"],
  ["ultra_effort_enter", "reminder"],
  ["ultra_effort_exit", "reminder"],
]);

/** A record with an attachment as the turn that the model had; any other message as it is. */
export function attachmentTurn(entry: MessageWithParts): MessageWithParts {
  const { message } = entry;
  if (message.role !== "system") return entry;
  const record = objectField(objectField(message.options, "source") ?? {}, "record") ?? {};
  // Of all records of the system the only one that the client sends, as a turn of the user.
  if (extractName(record, "subtype") === "local_command")
    return message.content === "" ? entry : injectedTurn(message, [message.content], "command");
  const attachment = objectField(record, "attachment");
  const type = attachment === undefined ? undefined : extractName(attachment, "type");
  if (attachment === undefined || type === undefined) return entry;
  const carried = CARRIED.get(type);
  const note = NOTES.get(type);
  const texts = carried?.texts(attachment) ?? (note === undefined ? [] : [extractCompact(attachment)]);
  const content = texts.filter(
    (text) => text !== undefined && (typeof text !== "string" || text.trim() !== ""),
  );
  return content.length === 0 ? entry : injectedTurn(message, content, carried?.kind ?? note ?? type);
}

function injectedTurn(message: Message, content: SentContent, kind: string): MessageWithParts {
  const { id, session_id, seq, timestamp, options } = message;
  const parts = content.map((one, ordinal): Part => {
    const place = { id: partId(`attachment-${ordinal}`), session_id, message_id: id, ordinal };
    const facts = { provenance: "injected", options: withFacts({}, { injected: kind }) } as const;
    if (typeof one === "object") return { ...place, ...facts, type: "file", ...one };
    return { ...place, ...facts, type: "text", ...optional("text", one) };
  });
  const position = seq === undefined ? {} : { seq };
  return { message: { id, session_id, ...position, timestamp, role: "user", options }, parts };
}

/** What a hook printed is put before the model when a session starts and with a prompt; else it is only shown. */
function spokenBy(record: JsonObject): Texts {
  const event = extractName(record, "hookEvent");
  const isSent = event === "SessionStart" || event === "UserPromptSubmit";
  return isSent ? stringsOf(record, "content") : [];
}

function stringsOf(record: JsonObject | undefined, ...names: readonly string[]): Texts {
  return names.map((name) => (record === undefined ? undefined : extractString(record, name)));
}

/** A text, or a list of texts or of blocks with text. */
function itemsOf(record: JsonObject, name: string): Texts {
  const items = arrayField(record, name);
  if (items === undefined) return stringsOf(record, name);
  return items.map((item, index) =>
    isJsonObject(item) ? extractString(item, "text") : extractItem(items, index),
  );
}

/** Of a notebook the source of each cell; what the cells gave stays in the record. */
function cellsOf(file: JsonObject | undefined): Texts {
  return (arrayField(file ?? {}, "cells") ?? []).map((cell) =>
    isJsonObject(cell) ? extractString(cell, "source") : undefined,
  );
}

/** Which lines of a file were selected. */
function linesOf(record: JsonObject): Extracted<string> | undefined {
  const others = Object.keys(record).filter((name) => name !== "lineStart" && name !== "lineEnd");
  const lines = without(record, new Set(others));
  return isEmpty(lines) ? undefined : extractCompact(lines);
}

/** A picture that was named is sent behind its name, a document by its name alone. */
function pictureOf(file: JsonObject | undefined): Picture | undefined {
  if (file === undefined) return undefined;
  const media_type = extractName(file, "type");
  const value = extractString(file, "base64");
  if (value === undefined || media_type?.startsWith("image/") !== true) return undefined;
  return { data: { kind: "string", value }, media_type };
}

function fileOf(record: JsonObject): JsonObject | undefined {
  const content = objectField(record, "content");
  return content === undefined ? undefined : objectField(content, "file");
}
