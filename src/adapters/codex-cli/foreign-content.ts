/** The parts of a message as Codex's response items say them; what has no place there is reported. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { stringifyJson } from "../../base/json.ts";
import type { Part } from "../../model/index.ts";
import type { CallPart, FilePart, LossReport, ResultPart } from "../seam/index.ts";
import { callId, callInput, fileUrl, resultBlocks, resultJson, toolName } from "../seam/index.ts";

/** What a person said or attached. What the other client injected stays behind, as Codex injects its own. */
export function userContent(
  parts: readonly Part[],
  losses: LossReport,
): { blocks: JsonObject[]; text: string } {
  const blocks: JsonObject[] = [];
  let text = "";
  for (const part of parts) {
    if (part.provenance === "injected") {
      losses.add(`injected ${part.type}`, "context that the other client added; Codex adds its own", part);
    } else if (part.type === "text" && part.text !== undefined && part.text !== "") {
      blocks.push({ type: "input_text", text: part.text });
      text += part.text;
    } else if (part.type === "file") {
      const image = imageBlock(part);
      if (image === undefined) losses.add("attached file", "Codex keeps only pictures inside a session");
      else blocks.push(image);
    }
  }
  return { blocks, text };
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
