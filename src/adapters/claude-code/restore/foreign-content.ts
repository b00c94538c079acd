/**
 * Canonical parts of any client as content that the Messages API accepts: blocks of the right shape, ids and names
 * within its alphabet, results as text or images. What cannot be said there is a loss, counted by kind.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import type { CallPart, FilePart, LossReport, ResultPart } from "../../kit/foreign/index.ts";
import {
  callInput,
  fileUrl,
  injectedKind,
  isAnswer,
  isCarried,
  NO_RESULT,
  loseFile,
  loseNote,
  parseDataUrl,
  resultBlocks,
  resultJson,
  toolName,
} from "../../kit/foreign/index.ts";
import { field } from "../../kit/extract/index.ts";
import { valueHash } from "../../kit/files/index.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Longer names are refused. */
const MAX_NAME = 128;
const TOOL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** What a person wrote or attached, and what that leans on; of other notes of its client Claude Code makes its own. */
export function userBlocks(parts: readonly Part[], losses: LossReport): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    const kind = injectedKind(part);
    if (!isCarried(kind)) {
      loseNote(part, losses);
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
      if (isAnswer(part)) return textBlocks(part.text);
      loseNote(part, losses);
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it", part);
    else if (part.type === "tool_call") return [callBlock(part, ids.of(part))];
    else if (part.type === "file") loseFile(part, "Claude Code", losses);
    return [];
  });
}

export function resultBlock(id: string, result: ResultPart | undefined, losses: LossReport): JsonObject {
  const base = { tool_use_id: id, type: "tool_result" };
  if (result === undefined) {
    losses.add(
      "unanswered tool call",
      "the API takes no history with an unanswered call: a failed result stands in, which says that there was none",
    );
    return { ...base, content: NO_RESULT, is_error: true };
  }
  return {
    ...base,
    content: resultContent(result, losses),
    ...(result.is_failure === true ? { is_error: true } : {}),
  };
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
  return { type: "tool_use", id, name: toolName(call, MAX_NAME), input: callInput(call) };
}

function fileBlocks(part: FilePart, losses: LossReport): JsonObject[] {
  const url = fileUrl(part);
  const source = url === undefined ? undefined : sourceOf(url);
  if (source === undefined) {
    losses.add("file in a prompt", `Claude Code takes none of type ${part.media_type ?? "unknown"}`, part);
    return [];
  }
  const isPdf = field(source, "media_type") === "application/pdf";
  return [{ type: isPdf ? "document" : "image", source }];
}

function sourceOf(url: string): JsonObject | undefined {
  const inline = parseDataUrl(url);
  if (inline === undefined) return /^https?:/.test(url) ? { type: "url", url } : undefined;
  const { mediaType, base64 } = inline;
  if (!IMAGE_TYPES.has(mediaType) && mediaType !== "application/pdf") return undefined;
  return { type: "base64", media_type: mediaType, data: base64 };
}

/** Text as it is, blocks where there are pictures too, JSON text for what is neither. */
function resultContent(part: ResultPart, losses: LossReport): JsonValue {
  const blocks = resultBlocks(part)?.flatMap((block): JsonObject[] => {
    if ("text" in block) return [{ type: "text", text: block.text }];
    const source = sourceOf(block.image);
    if (source !== undefined) return [{ type: "image", source }];
    const type = parseDataUrl(block.image)?.mediaType ?? "unknown";
    losses.addCut("file in a tool result", `Claude Code takes none of type ${type}`, part);
    return [];
  });
  return blocks === undefined ? resultJson(part) : plain(blocks);
}

/** Content as the client writes it: a single text is a string. */
export function plain(content: readonly JsonObject[]): JsonValue {
  if (content.length === 0) return "";
  const [only] = content;
  const text = content.length === 1 && only?.["type"] === "text" ? only["text"] : undefined;
  return text ?? content;
}
