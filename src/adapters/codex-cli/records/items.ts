/**
 * Items that the model saw or made (`response_item`, or bare in old logs) as messages with parts. The table of calls
 * and results is shared with the way back (restore/native.ts), so that both sides move the same fields.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { stringifyJson, tryParseJson } from "../../../base/json/json.ts";
import type { Extracted } from "../../../model/index.ts";
import type { RecordedAuthor } from "../../../model/derived/index.ts";
import type { MessageDraft, PartDraft, TextSpan } from "../../kit/session/index.ts";
import {
  arrayField,
  extractJson,
  extractString,
  extractWhole,
  field,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { partsOf } from "./blocks.ts";

/** Which fields of a call become the part's; `name: undefined` means that the item's type is the tool. */
export const CALLS: ReadonlyMap<string, CallFields> = new Map<string, CallFields>([
  ["function_call", { name: "name", params: "arguments" }],
  ["custom_tool_call", { name: "name", params: "input" }],
  ["local_shell_call", { params: "action" }],
  ["web_search_call", { params: "action" }],
  ["tool_search_call", { params: "arguments" }],
  ["image_generation_call", { params: "revised_prompt" }],
]);

export interface CallFields {
  readonly name?: string;
  readonly params: string;
}

/** Which field of an output is the result. */
export const RESULTS: ReadonlyMap<string, string> = new Map([
  ["function_call_output", "output"],
  ["custom_tool_call_output", "output"],
  ["tool_search_output", "tools"],
]);

export const TEXT_TYPES = { user: "input_text", assistant: "output_text" } as const;

/** An item without what its drafts say; the caller puts the rest of the record around it. */
export interface PlacedItem {
  readonly rest: JsonObject;
  readonly drafts: readonly DraftBody[];
}

/** A draft whose options still lack the record. */
export type DraftBody = Omit<MessageDraft, "options"> & { readonly options?: JsonObject };

export interface ItemContext {
  /** Who wrote the user's conversation, where the session does not imply it. */
  readonly author?: RecordedAuthor | undefined;
  /** How the text of a user's block divides. */
  readonly spans: (text: string, index: number) => readonly TextSpan[];
  /** The same for the agent's: all of it, unless it was never put on the screen. */
  readonly agentSpans: (text: string) => readonly TextSpan[];
  /** Name of the call with this id, where it was seen. */
  readonly nameOf: (callId: string) => Extracted<string> | undefined;
  readonly failureOf: (item: JsonObject) => Extracted<boolean> | undefined;
}

/** The drafts of an item, or undefined when it is no turn: the record is then carried whole. */
export function placeItem(item: JsonObject, type: string, context: ItemContext): PlacedItem | undefined {
  if (type === "message") return placeMessage(item, context);
  if (type === "agent_message") return placeAgentMessage(item, context);
  if (type === "reasoning") return placeReasoning(item);
  const call = CALLS.get(type);
  if (call !== undefined) return placeCall(item, type, call);
  const result = RESULTS.get(type);
  return result === undefined ? undefined : placeResult(item, result, context);
}

const ROLE_AND_CONTENT: ReadonlySet<string> = new Set(["role", "content"]);
const CONTENT: ReadonlySet<string> = new Set(["content"]);

function placeMessage(item: JsonObject, context: ItemContext): PlacedItem | undefined {
  const role = field(item, "role");
  if (role === "developer" || role === "system") return placeInstructions(item);
  if (role !== "user" && role !== "assistant") return undefined;
  const rules = {
    textType: TEXT_TYPES[role],
    spans: role === "user" ? context.spans : context.agentSpans,
    media: "conversational",
    author: role === "user" ? context.author : undefined,
  } as const;
  const text = extractString(item, "content");
  if (text !== undefined) {
    const parts = partsOf([{ type: rules.textType, text }], rules);
    return {
      rest: without(item, ROLE_AND_CONTENT),
      drafts: [{ role, parts, options: { source: { content: "string" } } }],
    };
  }
  const content = arrayField(item, "content");
  if (content === undefined) return undefined;
  return { rest: without(item, ROLE_AND_CONTENT), drafts: [{ role, parts: partsOf(content, rules) }] };
}

/** What the client tells the model in the developer's name: one system message a block, each with its own text. */
function placeInstructions(item: JsonObject): PlacedItem | undefined {
  const content = arrayField(item, "content");
  if (content === undefined || content.length === 0) return undefined;
  const parts = partsOf(content, { textType: TEXT_TYPES.user, spans: wholeText, media: "injected" });
  const drafts = parts.map((part, index): DraftBody => {
    if (part.type === "text" && part.text !== undefined && part.text !== "")
      return { role: "system", content: part.text, parts: [], ...optional("options", part.options) };
    if (part.type === "file") return { role: "system", parts: [part] };
    return { role: "system", parts: [], options: { source: { block: content[index] ?? null } } };
  });
  return { rest: without(item, CONTENT), drafts };
}

/** A message between agents: input of this session, though no person wrote it. */
function placeAgentMessage(item: JsonObject, context: ItemContext): PlacedItem | undefined {
  const content = arrayField(item, "content");
  if (content === undefined) return undefined;
  const rules = { textType: TEXT_TYPES.user, spans: context.spans, media: "injected" } as const;
  return { rest: without(item, CONTENT), drafts: [{ role: "user", parts: partsOf(content, rules) }] };
}

const SEALED_THOUGHT: ReadonlySet<string> = new Set(["encrypted_content"]);

/** Summaries first, then raw thoughts. A thought that only exists encrypted is a part without a text. */
function placeReasoning(item: JsonObject): PlacedItem {
  const parts: PartDraft[] = [];
  let rest = item;
  for (const [name, textType] of Object.entries(THOUGHTS)) {
    const entries = arrayField(item, name);
    if (entries === undefined || entries.length === 0) continue;
    rest = without(rest, new Set([name]));
    for (const part of partsOf(entries, { textType, spans: wholeText })) parts.push(asThought(part, name));
  }
  if (parts.length === 0) parts.push({ type: "reasoning", provenance: "conversational" });
  const encrypted = extractString(item, "encrypted_content");
  if (encrypted === undefined) return { rest, drafts: [{ role: "assistant", parts }] };
  const options = { openai: { encrypted_content: encrypted } };
  return { rest: without(rest, SEALED_THOUGHT), drafts: [{ role: "assistant", parts, options }] };
}

/** Where thoughts stand in an item, with the usual type of an entry. */
export const THOUGHTS = { summary: "summary_text", content: "reasoning_text" } as const;

function asThought(part: PartDraft, list: string): PartDraft {
  const options = list === "summary" ? part.options : withSource(part.options, { in: list });
  const text = part.type === "text" || part.type === "reasoning" ? part.text : undefined;
  return {
    type: "reasoning",
    provenance: "conversational",
    ...optional("text", text),
    ...optional("options", options),
  };
}

function withSource(options: JsonObject | undefined, facts: JsonObject): JsonObject {
  const source = options === undefined ? undefined : objectField(options, "source");
  return { ...options, source: { ...source, ...facts } };
}

function placeCall(item: JsonObject, type: string, fields: CallFields): PlacedItem {
  const call_id = extractString(item, "call_id");
  const name = extractString(item, fields.name ?? "type");
  const params = extractJson(item, fields.params);
  const parsed = type === "function_call" ? parsedArguments(field(item, fields.params)) : undefined;
  const part: PartDraft = {
    type: "tool_call",
    provenance: "conversational",
    ...(call_id === undefined ? undefined : { call_id }),
    ...(name === undefined ? undefined : { name }),
    ...(params === undefined ? undefined : { params: parsed === undefined ? params : extractWhole(parsed) }),
    ...(parsed === undefined ? undefined : PRINTED_ARGUMENTS),
  };
  const picture = type === "image_generation_call" ? extractString(item, "result") : undefined;
  const taken = new Set<string>();
  if (call_id !== undefined) taken.add("call_id");
  if (fields.name !== undefined && name !== undefined) taken.add(fields.name);
  if (params !== undefined) taken.add(fields.params);
  if (picture === undefined)
    return { rest: without(item, taken), drafts: [{ role: "assistant", parts: [part] }] };
  taken.add("result");
  const file: PartDraft = {
    type: "file",
    provenance: "conversational",
    data: { kind: "string", value: picture },
  };
  return { rest: without(item, taken), drafts: [{ role: "assistant", parts: [part, file] }] };
}

/** Marks arguments that are kept as a value: they go back as its text. */
const PRINTED_ARGUMENTS = { options: { source: { arguments: "json" } } };

/** The arguments of a function are JSON in a string: taken as the value when printing it gives the string back. */
function parsedArguments(text: JsonValue | undefined): JsonValue | undefined {
  if (typeof text !== "string" || !(text.startsWith("{") || text.startsWith("["))) return undefined;
  const parsed = tryParseJson(text);
  return parsed.kind === "value" && stringifyJson(parsed.value) === text ? parsed.value : undefined;
}

function placeResult(item: JsonObject, resultField: string, context: ItemContext): PlacedItem {
  const call_id = extractString(item, "call_id");
  const name = call_id === undefined ? undefined : context.nameOf(call_id);
  const is_failure = context.failureOf(item);
  const result = extractJson(item, resultField);
  const part: PartDraft = {
    type: "tool_result",
    provenance: "injected",
    ...(call_id === undefined ? undefined : { call_id }),
    ...(name === undefined ? undefined : { name }),
    ...(is_failure === undefined ? undefined : { is_failure }),
    ...(result === undefined ? undefined : { result }),
  };
  const taken = new Set<string>();
  if (call_id !== undefined) taken.add("call_id");
  if (result !== undefined) taken.add(resultField);
  return { rest: without(item, taken), drafts: [{ role: "tool", parts: [part] }] };
}

const wholeText = (text: string): readonly TextSpan[] => [{ start: 0, end: text.length }];
