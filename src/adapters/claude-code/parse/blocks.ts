/**
 * Content blocks of the Messages API and canonical parts, both ways. A block's typed fields are taken out, the rest
 * stays on the part as `options.source.block`; a text that was split into spans gives several parts, joined again
 * here. What is no block that the model has a part for is undefined and stays with its message.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, FileData, Part } from "../../../model/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import { openJson } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { DigestMap, PartDraft, TextSpan } from "../../kit/session/index.ts";
import {
  extractBoolean,
  extractJson,
  extractString,
  isEmpty,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { joinedText, textParts } from "../../kit/session/index.ts";

/** What a block needs to know of the record it stands in. */
export interface BlockContext {
  /** The spans of a text in this record. */
  readonly spans: (text: string) => readonly TextSpan[];
  /** What is known of a file in this record: the kind of what the harness made as a whole, and an author. */
  readonly facts: Pick<PondFacts, "injected" | "author">;
  /** Names of tools by call, as calls are seen. */
  readonly tools: DigestMap<Extracted<string>>;
}

const TEXT_FIELDS = new Set(["type", "text"]);
const SOURCE_FIELD = new Set(["type", "source"]);

/** The parts of a block: several where a text was split, undefined for a block that no part expresses. */
export function partsOfBlock(block: JsonValue, context: BlockContext): readonly PartDraft[] | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = extractString(block, "type");
  if (type === undefined) return undefined;
  if (type === "text") return blockText(block, context);
  if (type === "thinking" || type === "redacted_thinking") return [reasoningPart(block, type)];
  if (type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use")
    return [callPart(block, context)];
  if (type.endsWith("tool_result")) return [resultPart(block, context)];
  if (type === "image" || type === "document") return filePart(block, type, context);
  return undefined;
}

/** The block that a run of parts came from: one part, or a text and the parts joined to it. */
export function blockOfParts(parts: readonly Part[]): JsonObject {
  const [part] = parts;
  if (part === undefined) return {};
  const rest = leftoverOf(part);
  switch (part.type) {
    case "text":
      return { type: "text", ...rest, text: joinedText(parts) };
    case "reasoning":
      return {
        type: "thinking",
        ...rest,
        ...optional("thinking", part.text),
        ...objectField(part.options, "anthropic"),
      };
    case "tool_call":
      return {
        type: "tool_use",
        ...rest,
        ...optional("id", part.call_id),
        ...optional("name", part.name),
        ...(part.params === undefined ? {} : { input: openJson(part.params) }),
      };
    case "tool_result":
      return {
        type: "tool_result",
        ...rest,
        ...optional("tool_use_id", part.call_id),
        ...(part.result === undefined ? {} : { content: openJson(part.result) }),
        ...optional("is_error", part.is_failure),
      };
    case "file":
      return { type: "image", ...rest, source: fileSource(part, objectField(rest, "source")) };
    case "tool_approval_request":
    case "tool_approval_response":
      return rest;
  }
}

function blockText(block: JsonObject, context: BlockContext): readonly PartDraft[] | undefined {
  const text = extractString(block, "text");
  if (text === undefined) return undefined;
  return textParts(text, context.spans(text), sourceOf(without(block, TEXT_FIELDS)));
}

function reasoningPart(block: JsonObject, type: string): PartDraft {
  const text = type === "thinking" ? extractString(block, "thinking") : undefined;
  const signature = extractString(block, "signature");
  const rest = leftover(block, "thinking", [
    text === undefined ? undefined : "thinking",
    signature === undefined ? undefined : "signature",
  ]);
  const options = optionsOf(rest);
  return {
    type: "reasoning",
    provenance: "conversational",
    ...optional("text", text),
    options: signature === undefined ? options : { ...options, anthropic: { signature } },
  };
}

function callPart(block: JsonObject, context: BlockContext): PartDraft {
  const call_id = extractString(block, "id");
  const name = extractString(block, "name");
  if (call_id !== undefined && name !== undefined) context.tools.set(call_id, name);
  const rest = leftover(block, "tool_use", [
    call_id === undefined ? undefined : "id",
    name === undefined ? undefined : "name",
    "input",
  ]);
  return {
    type: "tool_call",
    provenance: "conversational",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("params", extractJson(block, "input")),
    options: optionsOf(rest),
  };
}

function resultPart(block: JsonObject, context: BlockContext): PartDraft {
  const call_id = extractString(block, "tool_use_id");
  const is_failure = extractBoolean(block, "is_error");
  const rest = leftover(block, "tool_result", [
    call_id === undefined ? undefined : "tool_use_id",
    is_failure === undefined ? undefined : "is_error",
    "content",
  ]);
  return {
    type: "tool_result",
    provenance: "injected",
    ...optional("call_id", call_id),
    ...optional("name", call_id === undefined ? undefined : context.tools.get(call_id)),
    ...optional("is_failure", is_failure),
    ...optional("result", extractJson(block, "content")),
    options: optionsOf(rest),
  };
}

/** An image or document whose payload the record carries or points to; any other source is no file. */
function filePart(block: JsonObject, type: string, context: BlockContext): readonly PartDraft[] | undefined {
  const source = objectField(block, "source");
  if (source === undefined || extractString(source, "type") === undefined) return undefined;
  const data = fileData(source);
  if (data === undefined) return undefined;
  const media_type = extractString(source, "media_type");
  const restOfSource = leftover(source, data.kind === "url" ? "url" : "base64", [
    data.kind === "url" ? "url" : "data",
    media_type === undefined ? undefined : "media_type",
  ]);
  const rest: JsonObject = {
    ...without(block, SOURCE_FIELD),
    ...(type === "image" ? {} : { type }),
    ...(isEmpty(restOfSource) ? {} : { source: restOfSource }),
  };
  const options = optionsOf(rest, context.facts);
  const provenance = context.facts.injected === undefined ? "conversational" : "injected";
  return [{ type: "file", provenance, ...optional("media_type", media_type), data, options }];
}

function fileData(source: JsonObject): FileData | undefined {
  const data = extractString(source, "data");
  const url = extractString(source, "url");
  if (data !== undefined && url === undefined) return { kind: "string", value: data };
  if (url !== undefined && data === undefined) return { kind: "url", value: url };
  return undefined;
}

function fileSource(part: Extract<Part, { type: "file" }>, rest: JsonObject | undefined): JsonObject {
  const { data } = part;
  if (data.kind === "url")
    return { type: "url", ...rest, ...optional("media_type", part.media_type), url: data.value };
  const text = data.kind === "string" ? data.value : Buffer.from(data.value).toString("base64");
  return { type: "base64", ...rest, ...optional("media_type", part.media_type), data: text };
}

/** The object without the fields that were taken, and without its type where the part's own type implies it. */
function leftover(
  object: JsonObject,
  impliedType: string,
  taken: readonly (string | undefined)[],
): JsonObject {
  const names = new Set(taken.filter((name) => name !== undefined));
  if (object["type"] === impliedType) names.add("type");
  return without(object, names);
}

function optionsOf(rest: JsonObject, facts: PondFacts = {}): JsonObject {
  const source = sourceOf(rest);
  return withFacts(isEmpty(source) ? {} : { source }, facts);
}

function sourceOf(rest: JsonObject): JsonObject {
  return isEmpty(rest) ? {} : { block: rest };
}

function leftoverOf(part: Part): JsonObject {
  const source = objectField(part.options, "source");
  return (source === undefined ? undefined : objectField(source, "block")) ?? {};
}
