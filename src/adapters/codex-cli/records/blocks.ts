/**
 * The blocks of a message as parts, and back. What a part says is taken out of its block; only what is left over is
 * kept beside it, and a block of the usual kind leaves nothing (spec.md#adapter-placement).
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Part, Provenance } from "../../../model/index.ts";
import type { RecordedAuthor } from "../../../model/derived/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { PartDraft, TextSpan } from "../../kit/session/index.ts";
import { extractSpan, extractString, field, isEmpty, objectField, without } from "../../kit/extract/index.ts";
import { isJoined, textParts } from "../../kit/session/index.ts";

export interface BlockRules {
  /** The type of a plain text block here, which needs no mention. */
  readonly textType: string;
  /** How the text of the block at `index` divides; one span without a kind for all of it. */
  readonly spans: (text: string, index: number) => readonly TextSpan[];
  /** Provenance of a picture or a sound; absent where the list can hold none. */
  readonly media?: Provenance;
  /** Who made a picture or a sound, where its place does not imply it. */
  readonly author?: RecordedAuthor | undefined;
}

const TEXT: ReadonlySet<string> = new Set(["text"]);
const TYPED_TEXT: ReadonlySet<string> = new Set(["text", "type"]);
const BASE64 = /^data:([^;,]*);base64,/;

/** The field that holds the address of a picture or a sound. */
const MEDIA_FIELDS: ReadonlyMap<string, string> = new Map([
  ["input_image", "image_url"],
  ["input_audio", "audio_url"],
]);

export function partsOf(content: readonly JsonValue[], rules: BlockRules): PartDraft[] {
  return content.flatMap((block, index) => blockParts(block, index, rules));
}

function blockParts(block: JsonValue, index: number, rules: BlockRules): readonly PartDraft[] {
  const type = isJsonObject(block) ? field(block, "type") : undefined;
  if (!isJsonObject(block) || typeof type !== "string") return [unknownPart(block)];
  const text = extractString(block, "text");
  if (text !== undefined) {
    const rest = without(block, type === rules.textType ? TYPED_TEXT : TEXT);
    // Some writers put a thought among what the agent says.
    const isThought = type === "reasoning" && rules.textType === "output_text";
    const source = isEmpty(rest) ? {} : { block: rest };
    const parts = textParts(text, rules.spans(text, index), source);
    return isThought ? parts.map((part) => ({ ...part, type: "reasoning" })) : parts;
  }
  const media = mediaPart(block, type, rules);
  return [media ?? unknownPart(block)];
}

/** A picture's `data:` address comes apart into its type and its payload; any other address stays whole. */
function mediaPart(block: JsonObject, type: string, rules: BlockRules): PartDraft | undefined {
  const { media: provenance, author } = rules;
  const name = provenance === undefined ? undefined : MEDIA_FIELDS.get(type);
  const address = name === undefined ? undefined : extractString(block, name);
  if (provenance === undefined || name === undefined || address === undefined) return undefined;
  const source = { block: without(block, new Set([name])) };
  const options = withFacts({ source }, author === undefined ? {} : { author });
  const inline = BASE64.exec(address);
  if (inline?.[1] === undefined)
    return { type: "file", provenance, data: { kind: "url", value: address }, options };
  const media_type = extractSpan(address, "data:".length, "data:".length + inline[1].length);
  const value = extractSpan(address, inline[0].length);
  return { type: "file", provenance, media_type, data: { kind: "string", value }, options };
}

/** Kept whole, in its place: a text part without a text. */
function unknownPart(block: JsonValue): PartDraft {
  return {
    type: "text",
    provenance: "injected",
    options: withFacts({ source: { block } }, { injected: "unknown" }),
  };
}

/** The inverse of `partsOf`. */
export function blocksOf(parts: readonly Part[], textType: string): JsonValue[] {
  const blocks: JsonValue[] = [];
  let text: string | undefined;
  for (const [index, part] of parts.entries()) {
    if (part.type === "file") {
      blocks.push(mediaBlock(part));
      continue;
    }
    if (part.type !== "text" && part.type !== "reasoning") continue;
    const rest = sourceBlock(part.options);
    if (part.text === undefined) {
      blocks.push(rest ?? null);
      continue;
    }
    text = isJoined(part) ? `${text ?? ""}${part.text}` : part.text;
    const next = parts[index + 1];
    if (next !== undefined && isJoined(next)) continue;
    const first = isJoined(part) ? firstOfJoined(parts, index) : rest;
    blocks.push({ type: textType, ...(isJsonObject(first) ? first : {}), text });
  }
  return blocks;
}

function mediaBlock(part: Extract<Part, { type: "file" }>): JsonValue {
  const rest = sourceBlock(part.options);
  if (!isJsonObject(rest)) return null;
  const type = field(rest, "type");
  const name = typeof type === "string" ? MEDIA_FIELDS.get(type) : undefined;
  if (name === undefined || part.data.kind === "bytes") return rest;
  const { kind, value } = part.data;
  return { ...rest, [name]: kind === "url" ? value : `data:${part.media_type ?? ""};base64,${value}` };
}

function firstOfJoined(parts: readonly Part[], index: number): JsonValue | undefined {
  for (let at = index; at >= 0; at -= 1) {
    const part = parts[at];
    if (part !== undefined && !isJoined(part)) return sourceBlock(part.options);
  }
  return undefined;
}

export function sourceBlock(options: JsonObject): JsonValue | undefined {
  const source = objectField(options, "source");
  return source === undefined ? undefined : field(source, "block");
}
