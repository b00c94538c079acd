/** The parts of a message as Codex's response items say them; what has no place there is reported. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { stringifyJson } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import type { CallPart, FilePart, LossReport, ResultPart } from "../../kit/foreign/index.ts";
import {
  callId,
  callInput,
  fileUrl,
  injectedKind,
  isCarried,
  loseNote,
  resultBlocks,
  resultJson,
  toolName,
} from "../../kit/foreign/index.ts";

/** A stretch of what stands in a person's place: typed and attached, or put there. */
export interface UserContent {
  readonly blocks: JsonObject[];
  readonly isTyped: boolean;
}

/** What a person said or attached, and what that leans on; of other notes of its client Codex makes its own. */
export function userContent(parts: readonly Part[], losses: LossReport): readonly UserContent[] {
  const stretches: UserContent[] = [];
  for (const part of parts) {
    const kind = injectedKind(part);
    const block = isCarried(kind) ? blockOf(part, losses) : undefined;
    if (!isCarried(kind)) loseNote(part, losses);
    if (block === undefined) continue;
    const isTyped = kind === undefined;
    const last = stretches.at(-1);
    if (last?.isTyped === isTyped) last.blocks.push(block);
    else stretches.push({ blocks: [block], isTyped });
  }
  return stretches;
}

function blockOf(part: Part, losses: LossReport): JsonObject | undefined {
  if (part.type === "text" && part.text !== undefined && part.text !== "")
    return { type: "input_text", text: part.text };
  if (part.type !== "file") return undefined;
  const image = imageBlock(part);
  if (image === undefined) losses.add("file in a prompt", "Codex keeps only pictures inside a session", part);
  return image;
}

export function callItem(call: CallPart): JsonObject {
  return {
    type: "function_call",
    name: toolName(call),
    arguments: stringifyJson(callInput(call)),
    call_id: callId(call),
  };
}

export function outputItem(part: ResultPart, call_id: string): JsonObject {
  return { type: "function_call_output", call_id, output: outputOf(part) };
}

/** Text where the result is text; blocks where it holds pictures; else its JSON. */
function outputOf(part: ResultPart): JsonValue {
  const blocks = resultBlocks(part);
  if (blocks === undefined) return resultJson(part);
  const texts = blocks.flatMap((block) => ("text" in block ? [block.text] : []));
  if (texts.length === blocks.length) return texts.join("\n");
  return blocks.map((block) =>
    "text" in block
      ? { type: "input_text", text: block.text }
      : { type: "input_image", image_url: block.image },
  );
}

function imageBlock(part: FilePart): JsonObject | undefined {
  const url = fileUrl(part);
  const isImage = url?.startsWith("data:image/") === true || part.media_type?.startsWith("image/") === true;
  return url === undefined || !isImage ? undefined : { type: "input_image", image_url: url };
}
