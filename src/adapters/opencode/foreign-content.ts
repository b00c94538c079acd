/**
 * Canonical parts of any client as parts of opencode: text and files from people, text and tools from the model, a tool
 * with its call and its result in one. What opencode has no place for is a loss, counted by kind.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject, stringifyJson, tryParseJson } from "../../base/json.ts";
import type { Part } from "../../model/index.ts";
import { openJson } from "../../model/index.ts";
import type { LossReport } from "../seam/index.ts";
import {
  extractName,
  extractString,
  field,
  isJoined,
  objectField,
  optional,
  valueHash,
} from "../seam/index.ts";

export type CallPart = Extract<Part, { type: "tool_call" }>;
export type ResultPart = Extract<Part, { type: "tool_result" }>;
type FilePart = Extract<Part, { type: "file" }>;

/** Injected text that the conversation leans on; other clients' notes to their own model stay behind. */
const CARRIED: ReadonlySet<string> = new Set([
  "shell",
  "file",
  "skill",
  "ide",
  "extension",
  "branch-summary",
]);

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

/** What the client says of a call that was never answered. */
const INTERRUPTED = "[Tool execution was interrupted]";

export function injectedKind(part: Part): string | undefined {
  if (part.provenance === "conversational") return undefined;
  return extractName(objectField(part.options, "pond") ?? {}, "injected") ?? "context";
}

/** The text of a summary that stands for the history before it. */
export function compactionSummary(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) =>
    part.type === "text" && injectedKind(part) === "compaction-summary" ? [part.text ?? ""] : [],
  );
  return texts.length === 0 ? undefined : texts.join("");
}

/** What a person said, without ids. Injected text that is kept is marked as what it is. */
export function promptParts(parts: readonly Part[], losses: LossReport): JsonObject[] {
  const kept: JsonObject[] = [];
  for (const part of parts) {
    const kind = injectedKind(part);
    if (kind !== undefined && !CARRIED.has(kind)) {
      losses.add(`injected ${kind}`, "context that the other client added for its own model");
      continue;
    }
    const mark = kind === undefined ? {} : { synthetic: true };
    const last = kept.at(-1);
    if (part.type === "file") kept.push(...filePart(part, losses));
    if (part.type !== "text" || part.text === undefined) continue;
    const isSame = field(last ?? {}, "synthetic") === field(mark, "synthetic") && isJoined(part);
    const text = last !== undefined && isSame ? extractString(last, "text") : undefined;
    // A text that was split by who wrote it comes back as one where both halves are of one kind.
    if (text !== undefined) kept[kept.length - 1] = { ...last, text: text + part.text };
    else if (part.text.trim() !== "") kept.push({ type: "text", text: part.text, ...mark });
  }
  return kept;
}

export interface Answered {
  readonly part: ResultPart;
  readonly at: number;
}

/** What the model said, without ids; `answer` gives the result of a call. */
export function answerParts(
  parts: readonly Part[],
  answer: (call: CallPart) => Answered | undefined,
  context: { readonly losses: LossReport; readonly at: number },
): JsonObject[] {
  const { losses, at } = context;
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === "text") {
      const isSaid = part.provenance === "conversational" && (part.text ?? "").trim() !== "";
      if (isSaid) return [{ type: "text", text: part.text ?? "", time: { start: at, end: at } }];
      if (part.provenance === "injected")
        losses.add("injected text", "a note that the other client made itself");
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it");
    else if (part.type === "tool_call") return [toolPart(part, answer(part), context)];
    else if (part.type === "file" && injectedKind(part) !== "attachment") return filePart(part, losses);
    return [];
  });
}

function toolPart(
  call: CallPart,
  answered: Answered | undefined,
  { losses, at }: { readonly losses: LossReport; readonly at: number },
): JsonObject {
  const input = inputOf(call);
  const tool = { type: "tool", callID: callId(call), tool: toolName(call) };
  if (answered === undefined) {
    losses.add(
      "open tool call",
      "opencode takes no history with an unanswered call: it is marked as interrupted",
    );
    return { ...tool, state: { status: "error", input, error: INTERRUPTED, time: { start: at, end: at } } };
  }
  const { part } = answered;
  const time = { start: at, end: Math.max(at, answered.at) };
  const { text, files } = resultOf(part.result === undefined ? "" : openJson(part.result));
  if (part.is_failure === true && files.length === 0)
    return { ...tool, state: { status: "error", input, error: text, time } };
  if (part.is_failure === true)
    losses.add("failure of a tool", "opencode keeps no pictures with a failure: the result is kept instead");
  const state = { status: "completed", input, output: text, title: "", metadata: {}, time };
  return { ...tool, state: files.length === 0 ? state : { ...state, attachments: files } };
}

/** Always an object: other clients write arguments as JSON text, or take no object at all. */
function inputOf({ params }: CallPart): JsonObject {
  const value = params === undefined ? {} : openJson(params);
  if (isJsonObject(value)) return value;
  const parsed = typeof value === "string" ? tryParseJson(value) : undefined;
  return parsed?.kind === "value" && isJsonObject(parsed.value) ? parsed.value : { input: value };
}

function callId(call: CallPart): string {
  if (call.call_id !== undefined && call.call_id !== "") return call.call_id;
  return `call_${valueHash([call.session_id, call.message_id, call.id]).slice(0, 24)}`;
}

/** Within the alphabet that every provider takes. */
function toolName({ name }: CallPart): string {
  const safe = (name ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return safe === "" ? "tool" : safe;
}

/** Text, and pictures apart; JSON text for what is neither. */
function resultOf(result: JsonValue): { readonly text: string; readonly files: readonly JsonObject[] } {
  if (typeof result === "string") return { text: result, files: [] };
  const blocks = Array.isArray(result) ? result : [result];
  const texts: string[] = [];
  const files: JsonObject[] = [];
  for (const block of blocks) {
    const text = textOf(block);
    const file = text === undefined ? pictureOf(block) : undefined;
    if (text !== undefined) texts.push(text);
    else if (file !== undefined) files.push(file);
    else return { text: stringifyJson(result), files: [] };
  }
  return { text: texts.join("\n"), files };
}

function textOf(block: JsonValue): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = extractString(block, "type");
  if (type === "text" || type === "input_text" || type === "output_text") return extractString(block, "text");
  const names = Object.keys(block);
  const only = names.length === 1 ? names[0] : undefined;
  return only === "output" || only === "content" || only === "text" ? extractString(block, only) : undefined;
}

function pictureOf(block: JsonValue): JsonObject | undefined {
  if (!isJsonObject(block) || extractString(block, "type")?.includes("image") !== true) return undefined;
  const url = extractString(block, "image_url");
  if (url !== undefined) return fileOfUrl(url);
  const source = objectField(block, "source") ?? block;
  const data = extractString(source, "data");
  const mime = extractString(source, "media_type") ?? extractString(source, "mimeType");
  return data === undefined || mime === undefined
    ? undefined
    : { type: "file", mime, url: `data:${mime};base64,${data}` };
}

function fileOfUrl(url: string): JsonObject | undefined {
  const mime = DATA_URL.exec(url)?.[1];
  return mime === undefined ? undefined : { type: "file", mime, url };
}

function filePart({ data, media_type, file_name }: FilePart, losses: LossReport): JsonObject[] {
  const name = optional("filename", file_name);
  const text = data.kind === "bytes" ? Buffer.from(data.value).toString("base64") : data.value;
  const inline = fileOfUrl(text);
  if (inline !== undefined) return [{ ...inline, ...name }];
  if (media_type !== undefined && data.kind === "url")
    return [{ type: "file", mime: media_type, url: text, ...name }];
  if (media_type !== undefined)
    return [{ type: "file", mime: media_type, url: `data:${media_type};base64,${text}`, ...name }];
  losses.add("file", "opencode takes no file whose type is not known");
  return [];
}
