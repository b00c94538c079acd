/**
 * pi's content blocks and canonical parts, both ways. A block's typed fields are taken out, the rest stays on the
 * part as `options.source.block`. What is no block that the model has a part for is undefined and stays with its
 * message.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Part, Role } from "../../../model/index.ts";
import { isAllowed } from "../../../model/events/index.ts";
import { openJson } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { PartDraft, TextSpan } from "../../kit/session/index.ts";
import {
  extractBoolean,
  extractJson,
  extractString,
  isEmpty,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { isJoined, joinedText, textParts } from "../../kit/session/index.ts";
import { optional } from "../../../base/optional.ts";

/** Whose content a block stands in. */
export interface BlockContext {
  readonly role: Role;
  readonly spans: (text: string) => readonly TextSpan[];
  /** The kind of what an extension or the client made as a whole; conversational when absent. */
  readonly injected?: string;
}

/** Content as parts, with the blocks that no part expresses and their positions. */
export interface Mapped {
  readonly parts: readonly PartDraft[];
  readonly unmapped: readonly (readonly [number, JsonValue])[];
}

export function mapBlocks(content: readonly JsonValue[], context: BlockContext): Mapped {
  const parts: PartDraft[] = [];
  const unmapped: (readonly [number, JsonValue])[] = [];
  for (const [index, block] of content.entries()) {
    const drafts = isJsonObject(block) ? partsOfBlock(block, context) : undefined;
    const type = drafts?.[0]?.type;
    if (drafts !== undefined && type !== undefined && isAllowed(context.role, type)) parts.push(...drafts);
    else unmapped.push([index, block]);
  }
  return { parts, unmapped };
}

/** The blocks that parts came from, in order; a text that was split comes back as one. */
export function blocksOf(parts: readonly Part[]): JsonValue[] {
  const blocks: JsonValue[] = [];
  for (const [index, part] of parts.entries())
    if (!isJoined(part)) blocks.push(blockOf(part, () => joinedText(parts, index)));
  return blocks;
}

/** A tool's result is a message of its own in pi: its part, and the fields that the part takes. */
export function resultPart(message: JsonObject): {
  readonly part: PartDraft;
  readonly taken: readonly string[];
} {
  const call_id = extractString(message, "toolCallId");
  const name = extractString(message, "toolName");
  const is_failure = extractBoolean(message, "isError");
  const part: PartDraft = {
    type: "tool_result",
    provenance: "injected",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("is_failure", is_failure),
    ...optional("result", extractJson(message, "content")),
  };
  const taken = ["content"];
  if (call_id !== undefined) taken.push("toolCallId");
  if (name !== undefined) taken.push("toolName");
  if (is_failure !== undefined) taken.push("isError");
  return { part, taken };
}

/** The fields of a tool's result, as its message had them. */
export function resultFields(part: Extract<Part, { type: "tool_result" }>): JsonObject {
  return {
    ...optional("toolCallId", part.call_id),
    ...optional("toolName", part.name),
    ...(part.result === undefined ? {} : { content: openJson(part.result) }),
    ...optional("isError", part.is_failure),
  };
}

function partsOfBlock(block: JsonObject, context: BlockContext): readonly PartDraft[] | undefined {
  const type = extractString(block, "type");
  if (type === "toolCall") return [callPart(block)];
  if (type === "image") return filePart(block, context);
  if (type === "thinking") {
    const text = extractString(block, "thinking");
    if (text === undefined) return undefined;
    const options = optionsOf(sourceOf(without(block, THINKING)));
    return [{ type: "reasoning", provenance: "conversational", text, options }];
  }
  const text = type === "text" ? extractString(block, "text") : undefined;
  if (text === undefined) return undefined;
  return textParts(text, context.spans(text), sourceOf(without(block, TEXT)));
}

const TEXT = new Set(["type", "text"]);
const THINKING = new Set(["type", "thinking"]);

function callPart(block: JsonObject): PartDraft {
  const call_id = extractString(block, "id");
  const name = extractString(block, "name");
  const taken = new Set(["type", "arguments"]);
  if (call_id !== undefined) taken.add("id");
  if (name !== undefined) taken.add("name");
  return {
    type: "tool_call",
    provenance: "conversational",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("params", extractJson(block, "arguments")),
    options: optionsOf(sourceOf(without(block, taken))),
  };
}

function filePart(block: JsonObject, { injected }: BlockContext): readonly PartDraft[] | undefined {
  const value = extractString(block, "data");
  if (value === undefined) return undefined;
  const media_type = extractString(block, "mimeType");
  const taken = new Set(["type", "data", ...(media_type === undefined ? [] : ["mimeType"])]);
  const options = optionsOf(sourceOf(without(block, taken)));
  return [
    {
      type: "file",
      provenance: injected === undefined ? "conversational" : "injected",
      ...optional("media_type", media_type),
      data: { kind: "string", value },
      options: injected === undefined ? options : withFacts(options, { injected }),
    },
  ];
}

function blockOf(part: Part, text: () => string): JsonObject {
  const source = objectField(part.options, "source");
  const rest = (source === undefined ? undefined : objectField(source, "block")) ?? {};
  switch (part.type) {
    case "text":
      return { ...rest, type: "text", text: text() };
    case "reasoning":
      return { ...rest, type: "thinking", thinking: part.text ?? "" };
    case "tool_call":
      return {
        ...rest,
        type: "toolCall",
        ...optional("id", part.call_id),
        ...optional("name", part.name),
        ...(part.params === undefined ? {} : { arguments: openJson(part.params) }),
      };
    case "file":
      return { ...rest, type: "image", data: payloadOf(part), ...optional("mimeType", part.media_type) };
    case "tool_result":
    case "tool_approval_request":
    case "tool_approval_response":
      return rest;
  }
}

function payloadOf({ data }: Extract<Part, { type: "file" }>): string {
  return data.kind === "bytes" ? Buffer.from(data.value).toString("base64") : data.value;
}

function sourceOf(rest: JsonObject): JsonObject {
  return isEmpty(rest) ? {} : { block: rest };
}

function optionsOf(source: JsonObject): JsonObject {
  return isEmpty(source) ? {} : { source };
}
