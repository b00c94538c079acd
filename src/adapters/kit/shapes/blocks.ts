/** Blocks to parts and back, by a client's table of shapes. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import type { Extracted, Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import { extractItem, extractJson, extractString, field, isEmpty, objectField } from "../extract/extract.ts";
import type { PartDraft } from "../session/session-log.ts";
import { isJoined, joinedText } from "../session/text-parts.ts";
import type { Pointer } from "./pointer.ts";
import { holderAt, putBack, takenOut } from "./pointer.ts";
import type { BlockShape, Injected, RecordShapes } from "./shapes.ts";

/** Where a block was a string, this is what reading left of it. */
const STRING_LEFT = "";

/** The part of a block; undefined where no shape fits it. */
export function partOf(
  block: JsonValue,
  { blocks }: RecordShapes,
  { record, injected }: { readonly record: JsonObject; readonly injected: Injected | undefined },
): PartDraft | undefined {
  const text = extractItem([block], 0);
  if (text !== undefined) {
    const draft = textDraft(text, injected);
    return { ...draft, options: { ...draft.options, source: { block: STRING_LEFT } } };
  }
  if (!isJsonObject(block)) return undefined;
  for (const shape of blocks) {
    if (!isOfShape(shape, block)) continue;
    const reading = new BlockReading(block);
    const draft = draftOf(shape, reading, { block, record, injected });
    if (draft === undefined || reading.isUntouched) continue;
    const own = draft.options ?? {};
    return { ...draft, options: isEmpty(reading.rest) ? own : { ...own, source: { block: reading.rest } } };
  }
  return undefined;
}

/** The blocks that parts came from. */
export function blocksOf(parts: readonly Part[], shapes: RecordShapes): JsonValue[] {
  return parts.flatMap((part, at) => (isJoined(part) ? [] : [blockOf(part, joinedText(parts, at), shapes)]));
}

/** Takes typed values out of a block; what is of another type stays. */
class BlockReading {
  rest: JsonObject;
  /** True while nothing was taken: a shape that takes nothing says nothing of the block. */
  isUntouched = true;

  constructor(block: JsonObject) {
    this.rest = block;
  }

  take<T>(pointer: Pointer, extract: (holder: JsonObject, name: string) => T | undefined): T | undefined {
    const at = holderAt(this.rest, pointer);
    const value = at && extract(at.holder, at.name);
    if (value === undefined) return undefined;
    this.rest = takenOut(this.rest, pointer);
    this.isUntouched = false;
    return value;
  }
}

/** True where `when` says so; without it, where the content is there or the object inside the block that would have it. */
function isOfShape(shape: BlockShape, block: JsonObject): boolean {
  if (shape.when !== undefined) return shape.when(block);
  const at = holderAt(block, contentOf(shape));
  return at !== undefined && (at.holder !== block || field(at.holder, at.name) !== undefined);
}

function contentOf(shape: BlockShape): Pointer {
  switch (shape.part) {
    case "text":
    case "reasoning":
      return shape.text;
    case "tool_call":
      return shape.params;
    case "tool_result":
      return shape.result;
    case "file":
      return shape.data;
  }
}

function textDraft(text: Extracted<string>, injected: Injected | undefined): PartDraft {
  return {
    type: "text",
    provenance: injected === undefined ? "conversational" : "injected",
    text,
    options: withFacts({}, factsOf(injected)),
  };
}

const factsOf = (injected: Injected | undefined): PondFacts =>
  injected === undefined ? {} : { injected: injected.kind, ...optional("author", injected.author) };

function draftOf(
  shape: BlockShape,
  reading: BlockReading,
  from: { readonly block: JsonObject; readonly record: JsonObject; readonly injected: Injected | undefined },
): PartDraft | undefined {
  const { injected } = from;
  const provenance = injected === undefined ? "conversational" : "injected";
  const options = injected === undefined ? {} : { options: withFacts({}, factsOf(injected)) };
  switch (shape.part) {
    case "text": {
      const text = reading.take(shape.text, extractString);
      return text === undefined ? undefined : textDraft(text, injected);
    }
    case "reasoning": {
      const text = reading.take(shape.text, extractString);
      return text === undefined ? undefined : { type: "reasoning", provenance, text, ...options };
    }
    case "tool_call":
      return {
        type: "tool_call",
        provenance,
        ...optional("call_id", reading.take(shape.id, extractString)),
        ...optional("name", reading.take(shape.name, extractString)),
        ...optional("params", reading.take(shape.params, extractJson)),
        ...options,
      };
    case "tool_result":
      return {
        type: "tool_result",
        provenance: "injected",
        ...optional("call_id", reading.take(shape.id, extractString)),
        ...(shape.name && optional("name", reading.take(shape.name, extractString))),
        ...optional("is_failure", shape.failure?.(from.block, from.record)),
        ...optional("result", reading.take(shape.result, extractJson)),
      };
    case "file": {
      const value = reading.take(shape.data, extractString);
      if (value === undefined) return undefined;
      const media_type = reading.take(shape.media_type, extractString);
      const data = { kind: "string" as const, value };
      return { type: "file", provenance, ...optional("media_type", media_type), data, ...options };
    }
  }
}

function blockOf(part: Part, text: string, { blocks }: RecordShapes): JsonValue {
  const source = objectField(part.options, "source") ?? {};
  if (field(source, "block") === STRING_LEFT) return text;
  const rest = objectField(source, "block") ?? {};
  const shape = blocks.find((each) => each.part === part.type && each.when?.(rest) !== false);
  if (shape === undefined) return rest;
  return valuesOf(part, text, shape).reduce<JsonObject>(
    (block, [pointer, value]) => (value === undefined ? block : putBack(block, pointer, value)),
    rest,
  );
}

function valuesOf(
  part: Part,
  text: string,
  shape: BlockShape,
): readonly (readonly [Pointer, JsonValue | undefined])[] {
  if (shape.part === "text" || shape.part === "reasoning") return [[shape.text, text]];
  if (shape.part === "tool_call" && part.type === "tool_call")
    return [
      [shape.id, part.call_id],
      [shape.name, part.name],
      [shape.params, part.params && openJson(part.params)],
    ];
  if (shape.part === "tool_result" && part.type === "tool_result")
    return [
      [shape.id, part.call_id],
      ...(shape.name === undefined ? [] : [[shape.name, part.name] as const]),
      [shape.result, part.result && openJson(part.result)],
    ];
  if (shape.part !== "file" || part.type !== "file") return [];
  const { data } = part;
  const payload = data.kind === "bytes" ? Buffer.from(data.value).toString("base64") : data.value;
  return [
    [shape.data, payload],
    [shape.media_type, part.media_type],
  ];
}
