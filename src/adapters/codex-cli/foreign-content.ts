/** The parts of a message as Codex's response items say them; what has no place there is reported. */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject, stringifyJson } from "../../base/json.ts";
import type { Part } from "../../model/index.ts";
import { openJson } from "../../model/index.ts";
import type { LossReport } from "../seam/index.ts";
import { field, objectField, valueHash } from "../seam/index.ts";

type CallPart = Extract<Part, { type: "tool_call" }>;
type ResultPart = Extract<Part, { type: "tool_result" }>;
type FilePart = Extract<Part, { type: "file" }>;

/** What a person said or attached. What the other client injected stays behind, as Codex injects its own. */
export function userContent(
  parts: readonly Part[],
  losses: LossReport,
): { blocks: JsonObject[]; text: string } {
  const blocks: JsonObject[] = [];
  let text = "";
  for (const part of parts) {
    if (part.provenance === "injected") {
      losses.add(`injected ${part.type}`, "context that the other client added; Codex adds its own");
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

/** The summary that a compaction left, in a message that the harness wrote. */
export function compactionSummary(parts: readonly Part[]): string | undefined {
  const part = parts.find(
    ({ options }) => objectField(options, "pond")?.["injected"] === "compaction-summary",
  );
  return part?.type === "text" ? part.text : undefined;
}

export function callItem(part: CallPart, message: string): JsonObject {
  const params = part.params === undefined ? {} : openJson(part.params);
  return {
    type: "function_call",
    name: functionName(part.name ?? "tool"),
    // Functions take an object; a tool with one free text gets it as its input.
    arguments: stringifyJson(isJsonObject(params) ? params : { input: params }),
    call_id: callIdOf(part, message),
  };
}

/** The id that pairs a call with its output; derived where the source gave none. */
export function callIdOf(part: CallPart, message: string): string {
  return part.call_id ?? `call_${valueHash([message, part.id]).slice(0, 24)}`;
}

export function outputItem(part: ResultPart, callId: string): JsonObject {
  const result = part.result === undefined ? "" : openJson(part.result);
  return { type: "function_call_output", call_id: callId, output: outputOf(result) };
}

/** Text where the result is text; blocks where it holds pictures; else its JSON. */
function outputOf(result: JsonValue): JsonValue {
  if (typeof result === "string") return result;
  const blocks = Array.isArray(result) ? result.map(outputBlock) : undefined;
  if (blocks === undefined || blocks.length === 0 || blocks.includes(undefined)) return stringifyJson(result);
  const known = blocks.filter((block) => block !== undefined);
  const texts = known.flatMap((block) => (typeof block["text"] === "string" ? block["text"] : []));
  return texts.length === known.length ? texts.join("\n") : known;
}

/** `{type: "text", text}` and `{type: "image", source: {media_type, data}}`, as most clients write results. */
function outputBlock(block: JsonValue): JsonObject | undefined {
  if (!isJsonObject(block)) return undefined;
  const text = field(block, "text");
  if (typeof text === "string") return { type: "input_text", text };
  const source = objectField(block, "source") ?? block;
  const data = field(source, "data");
  const type = field(source, "media_type") ?? field(source, "mimeType");
  if (typeof data !== "string" || typeof type !== "string") return undefined;
  return { type: "input_image", image_url: `data:${type};base64,${data}` };
}

function imageBlock({ media_type, data }: FilePart): JsonObject | undefined {
  if (data.kind === "url") {
    const isImage = data.value.startsWith("data:image/") || media_type?.startsWith("image/") === true;
    return isImage ? { type: "input_image", image_url: data.value } : undefined;
  }
  if (media_type?.startsWith("image/") !== true) return undefined;
  const base64 = data.kind === "string" ? data.value : Buffer.from(data.value).toString("base64");
  return { type: "input_image", image_url: `data:${media_type};base64,${base64}` };
}

/** The model's interface takes letters, digits, `_` and `-`, at most 64. */
function functionName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}
