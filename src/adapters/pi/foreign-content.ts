/**
 * Canonical parts of any client as content that pi takes: text and images from people, text and calls from the
 * model, results as text and images. What pi has no place for is a loss, counted by kind.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject, stringifyJson } from "../../base/json.ts";
import type { Part } from "../../model/index.ts";
import { openJson } from "../../model/index.ts";
import type { LossReport } from "../seam/index.ts";
import { extractName, extractString, isJoined, objectField, valueHash } from "../seam/index.ts";

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

const COMPACTION = "compaction-summary";
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

/** The kind of an injected part; undefined for the conversation. */
export function injectedKind(part: Part): string | undefined {
  if (part.provenance === "conversational") return undefined;
  return extractName(objectField(part.options, "pond") ?? {}, "injected") ?? "context";
}

/** The text of a summary that stands for the history before it. */
export function compactionSummary(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) =>
    part.type === "text" && injectedKind(part) === COMPACTION ? [part.text ?? ""] : [],
  );
  return texts.length === 0 ? undefined : texts.join("");
}

/** A text that was split by who wrote it comes back as one where all of it is kept. */
export function userBlocks(parts: readonly Part[], losses: LossReport): JsonObject[] {
  const blocks: JsonObject[] = [];
  let isOpen = false;
  for (const part of parts) {
    const kind = injectedKind(part);
    const isKept = kind === undefined || CARRIED.has(kind);
    if (!isKept) losses.add(`injected ${kind}`, "context that the other client added for its own model");
    const last = blocks.at(-1);
    if (isKept && isOpen && part.type === "text" && isJoined(part) && last !== undefined)
      blocks[blocks.length - 1] = { ...last, text: `${extractString(last, "text") ?? ""}${part.text ?? ""}` };
    else if (isKept && part.type === "text") blocks.push(...textBlocks(part.text));
    else if (isKept && part.type === "file") blocks.push(...fileBlocks(part, losses));
    isOpen = isKept && part.type === "text";
  }
  return blocks;
}

/** What the model said and called, without its reasoning. */
export function assistantBlocks(parts: readonly Part[], losses: LossReport): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === "text") {
      if (part.provenance === "conversational") return textBlocks(part.text);
      losses.add("injected text", "a note that the other client made itself");
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it");
    else if (part.type === "tool_call" && part.provider_executed !== true) return [callBlock(part)];
    else if (part.type === "tool_call")
      losses.add("tool call", "the provider ran it, which pi does not record");
    else if (part.type === "file") losses.add("file by the model", "pi keeps no files in answers");
    return [];
  });
}

/** The fields of a result that answers `call`. */
export function resultFields(call: CallPart, { result, is_failure }: ResultPart): JsonObject {
  return {
    role: "toolResult",
    toolCallId: callId(call),
    toolName: toolName(call),
    content: result === undefined ? [] : resultBlocks(openJson(result)),
    isError: is_failure === true,
  };
}

function callBlock(call: CallPart): JsonObject {
  const params = call.params === undefined ? {} : openJson(call.params);
  return {
    type: "toolCall",
    id: callId(call),
    name: toolName(call),
    arguments: isJsonObject(params) ? params : { input: params },
  };
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

function textBlocks(text: string | undefined): JsonObject[] {
  // Providers refuse blocks of blank text.
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

function fileBlocks({ data, media_type }: FilePart, losses: LossReport): JsonObject[] {
  const text = data.kind === "bytes" ? Buffer.from(data.value).toString("base64") : data.value;
  const image = data.kind === "url" ? imageOfUrl(text) : (imageOfUrl(text) ?? imageOf(media_type, text));
  if (image !== undefined) return [image];
  losses.add("file", `pi takes no ${media_type ?? "file"} in a prompt`);
  return [];
}

function imageOf(mimeType: string | undefined, data: string): JsonObject | undefined {
  return mimeType?.startsWith("image/") === true ? { type: "image", data, mimeType } : undefined;
}

function imageOfUrl(url: string): JsonObject | undefined {
  const inline = DATA_URL.exec(url);
  return inline === null ? undefined : imageOf(inline[1], url.slice(inline[0].length));
}

/** Text and images where every block is one; the text of known envelopes; JSON text for the rest. */
function resultBlocks(result: JsonValue): JsonValue[] {
  if (typeof result === "string") return [{ type: "text", text: result }];
  if (Array.isArray(result)) {
    const blocks = result.map(resultBlock);
    if (blocks.every((block) => block !== undefined)) return blocks;
  }
  if (isJsonObject(result) && Object.keys(result).length === 1)
    for (const name of ["output", "content", "text"]) {
      const text = extractString(result, name);
      if (text !== undefined) return [{ type: "text", text }];
    }
  return [{ type: "text", text: stringifyJson(result) }];
}

function resultBlock(block: JsonValue): JsonObject | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = extractString(block, "type");
  const text = extractString(block, "text");
  if (text !== undefined && (type === "text" || type === "input_text" || type === "output_text"))
    return { type: "text", text };
  if (type?.includes("image") !== true) return undefined;
  const url = extractString(block, "image_url");
  if (url !== undefined) return imageOfUrl(url);
  const source = objectField(block, "source") ?? block;
  const data = extractString(source, "data");
  const media = extractString(source, "media_type") ?? extractString(source, "mimeType");
  return data === undefined ? undefined : imageOf(media, data);
}
