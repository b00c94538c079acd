/**
 * Canonical parts of any client as content that the Messages API accepts: blocks of the right shape, ids and names
 * within its alphabet, results as text or images. What cannot be said there is a loss, counted by kind.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject, stringifyJson } from "../../base/json.ts";
import type { Part } from "../../model/index.ts";
import { openJson } from "../../model/index.ts";
import type { LossReport } from "../seam/index.ts";
import { extractString, field, objectField, valueHash } from "../seam/index.ts";

type FilePart = Extract<Part, { type: "file" }>;
export type CallPart = Extract<Part, { type: "tool_call" }>;
export type ResultPart = Extract<Part, { type: "tool_result" }>;

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/;
const TOOL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** What a person wrote or attached; what the other client injected stays behind, as Claude Code injects its own. */
export function userBlocks(parts: readonly Part[], losses: LossReport): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    if (part.provenance === "injected") {
      losses.add(`injected ${part.type}`, "context that the other client added; Claude Code adds its own");
      return [];
    }
    if (part.type === "text") return textBlocks(part.text);
    return part.type === "file" ? fileBlocks(part, losses) : [];
  });
}

/** What the model said and called, without its reasoning. */
export function assistantBlocks(parts: readonly Part[], ids: ToolIds, losses: LossReport): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === "text") {
      if (part.provenance === "conversational") return textBlocks(part.text);
      losses.add("injected text", "a note that the other client made itself");
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it");
    else if (part.type === "tool_call") return [callBlock(part, ids.of(part))];
    else if (part.type === "file") losses.add("file by the model", "Claude Code keeps no files in answers");
    return [];
  });
}

export function resultBlock(id: string, result: ResultPart | undefined): JsonObject {
  const base = { tool_use_id: id, type: "tool_result" };
  // Every call needs a result, or the API refuses the history.
  if (result === undefined) return { ...base, content: "No result was recorded.", is_error: true };
  const content = result.result === undefined ? "" : resultContent(openJson(result.result));
  return { ...base, content, ...(result.is_failure === true ? { is_error: true } : {}) };
}

/** Ids of calls as the API accepts them: in its alphabet, each used once. */
export class ToolIds {
  readonly #ids = new Map<CallPart, string>();
  readonly #used = new Set<string>();

  of(call: CallPart): string {
    const known = this.#ids.get(call);
    if (known !== undefined) return known;
    const own = call.call_id ?? "";
    const isFit = TOOL_ID.test(own) && !this.#used.has(own);
    const id = isFit ? own : `toolu_${valueHash([call.session_id, call.message_id, call.id]).slice(0, 24)}`;
    this.#ids.set(call, id);
    this.#used.add(id);
    return id;
  }
}

function textBlocks(text: string | undefined): JsonObject[] {
  // The API refuses blocks of blank text.
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

function callBlock(call: CallPart, id: string): JsonObject {
  const params = call.params === undefined ? {} : openJson(call.params);
  const name = (call.name ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 128);
  return {
    type: "tool_use",
    id,
    name: name === "" ? "tool" : name,
    input: isJsonObject(params) ? params : { input: params },
  };
}

function fileBlocks(part: FilePart, losses: LossReport): JsonObject[] {
  const source = fileSource(part);
  if (source === undefined) {
    losses.add("file", `Claude Code takes no ${part.media_type ?? "file"} in a prompt`);
    return [];
  }
  const isPdf = field(source, "media_type") === "application/pdf";
  return [{ type: isPdf ? "document" : "image", source }];
}

function fileSource({ data, media_type }: FilePart): JsonObject | undefined {
  if (data.kind === "url") {
    const inline = DATA_URL.exec(data.value);
    if (inline === null) return /^https?:/.test(data.value) ? { type: "url", url: data.value } : undefined;
    return base64Source(inline[1], data.value.slice(inline[0].length));
  }
  const text = data.kind === "string" ? data.value : Buffer.from(data.value).toString("base64");
  const inline = DATA_URL.exec(text);
  return inline === null
    ? base64Source(media_type, text)
    : base64Source(inline[1], text.slice(inline[0].length));
}

function base64Source(media_type: string | undefined, data: string): JsonObject | undefined {
  if (media_type === undefined) return undefined;
  if (!IMAGE_TYPES.has(media_type) && media_type !== "application/pdf") return undefined;
  return { type: "base64", media_type, data };
}

/** Text as it is, blocks where every one is text or an image, the text of known envelopes, JSON text for the rest. */
function resultContent(result: JsonValue): JsonValue {
  if (typeof result === "string") return result;
  if (Array.isArray(result)) {
    const blocks = result.map(contentBlock);
    if (blocks.length > 0 && blocks.every((block) => block !== undefined)) return blocks;
  }
  if (isJsonObject(result))
    for (const name of ["output", "content", "text"]) {
      const text = extractString(result, name);
      if (text !== undefined && Object.keys(result).length === 1) return text;
    }
  return stringifyJson(result);
}

function contentBlock(block: JsonValue): JsonObject | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = extractString(block, "type");
  const text = extractString(block, "text");
  if (text !== undefined && (type === "text" || type === "input_text" || type === "output_text"))
    return { type: "text", text };
  const url = extractString(block, "image_url");
  const inline = url === undefined ? null : DATA_URL.exec(url);
  const source =
    inline === null || url === undefined
      ? objectField(block, "source")
      : base64Source(inline[1], url.slice(inline[0].length));
  return type?.includes("image") === true && source !== undefined ? { type: "image", source } : undefined;
}
