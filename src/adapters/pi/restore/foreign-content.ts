/**
 * Canonical parts of any client as content that pi takes: text and images from people, text and calls from the
 * model, results as text and images. What pi has no place for is a loss, counted by kind.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import type { CallPart, FilePart, LossReport, ResultPart } from "../../kit/foreign/index.ts";
import {
  callId,
  callInput,
  fileUrl,
  injectedKind,
  isAnswer,
  isCarried,
  loseFile,
  loseNote,
  parseDataUrl,
  resultBlocks,
  resultJson,
  toolName,
} from "../../kit/foreign/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import { isJoined } from "../../kit/session/index.ts";

/** A text that was split by who wrote it comes back as one where all of it is kept. */
export function userBlocks(parts: readonly Part[], losses: LossReport): JsonObject[] {
  const blocks: JsonObject[] = [];
  let isOpen = false;
  for (const part of parts) {
    const kind = injectedKind(part);
    const isKept = isCarried(kind);
    if (!isKept) loseNote(part, losses);
    const last = blocks.at(-1);
    // A blank text made no block: what it was joined with may then stand behind a picture.
    const before = last === undefined ? undefined : extractString(last, "text");
    if (isKept && isOpen && part.type === "text" && isJoined(part) && before !== undefined)
      blocks[blocks.length - 1] = { ...last, text: `${before}${part.text ?? ""}` };
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
      if (isAnswer(part)) return textBlocks(part.text);
      loseNote(part, losses);
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it", part);
    else if (part.type === "tool_call" && part.provider_executed !== true) return [callBlock(part)];
    else if (part.type === "tool_call")
      losses.add("tool call that the provider ran", "pi records none", part);
    else if (part.type === "file") loseFile(part, "pi", losses);
    return [];
  });
}

/** The fields of a result that answers `call`. */
export function resultFields(call: CallPart, part: ResultPart): JsonObject {
  return {
    role: "toolResult",
    toolCallId: callId(call),
    toolName: toolName(call),
    content: resultContent(part),
    isError: part.is_failure === true,
  };
}

function callBlock(call: CallPart): JsonObject {
  return { type: "toolCall", id: callId(call), name: toolName(call), arguments: callInput(call) };
}

function textBlocks(text: string | undefined): JsonObject[] {
  // Providers refuse blocks of blank text.
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

function fileBlocks(part: FilePart, losses: LossReport): JsonObject[] {
  const image = imageOf(fileUrl(part) ?? "");
  if (image !== undefined) return [image];
  losses.add("file in a prompt", `pi takes none of type ${part.media_type ?? "unknown"}`, part);
  return [];
}

function imageOf(url: string): JsonObject | undefined {
  const inline = parseDataUrl(url);
  if (inline?.mediaType.startsWith("image/") !== true) return undefined;
  return { type: "image", data: inline.base64, mimeType: inline.mediaType };
}

/** Text and images; JSON text for what is neither. */
function resultContent(part: ResultPart): readonly JsonObject[] {
  const blocks = resultBlocks(part)?.map((block) =>
    "text" in block ? { type: "text", text: block.text } : imageOf(block.image),
  );
  if (blocks?.every((block) => block !== undefined) === true) return blocks;
  return [{ type: "text", text: resultJson(part) }];
}
