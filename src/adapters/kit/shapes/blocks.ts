/** Blocks to parts and back, by a client's table of shapes. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import type { Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import { extractJson, extractString, isEmpty, objectField } from "../extract/extract.ts";
import type { PartDraft } from "../session/session-log.ts";
import { isJoined, joinedText, textParts } from "../session/text-parts.ts";
import type { Pointer } from "./pointer.ts";
import { holderAt, putBack, takenOut } from "./pointer.ts";
import type { BlockShape, Injected, RecordShapes } from "./shapes.ts";

/** The part of a block; undefined where no shape fits it. */
export function partOf(
  block: JsonValue,
  { blocks }: RecordShapes,
  { record, injected }: { readonly record: JsonObject; readonly injected: Injected | undefined },
): PartDraft | undefined {
  if (!isJsonObject(block)) return undefined;
  for (const shape of blocks) {
    const reading = new BlockReading(block);
    const draft = draftOf(shape, reading, { block, record, injected });
    if (draft === undefined) continue;
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

  constructor(block: JsonObject) {
    this.rest = block;
  }

  take<T>(pointer: Pointer, extract: (holder: JsonObject, name: string) => T | undefined): T | undefined {
    const at = holderAt(this.rest, pointer);
    const value = at && extract(at.holder, at.name);
    if (value !== undefined) this.rest = takenOut(this.rest, pointer);
    return value;
  }
}

function draftOf(
  shape: BlockShape,
  reading: BlockReading,
  from: { readonly block: JsonObject; readonly record: JsonObject; readonly injected: Injected | undefined },
): PartDraft | undefined {
  const { injected } = from;
  const facts = injected && { injected: injected.kind, ...optional("author", injected.author) };
  const provenance = injected === undefined ? "conversational" : "injected";
  const options = facts === undefined ? {} : { options: withFacts({}, facts) };
  switch (shape.part) {
    case "text":
    case "reasoning": {
      if (shape.when?.(from.block) === false) return undefined;
      const text = reading.take(shape.text, extractString);
      if (text === undefined) return undefined;
      if (shape.part === "reasoning") return { type: "reasoning", provenance, text, ...options };
      return textParts(text, [{ start: 0, end: text.length, ...facts }])[0];
    }
    case "tool_call": {
      if (holderAt(from.block, shape.params) === undefined) return undefined;
      return {
        type: "tool_call",
        provenance,
        ...optional("call_id", reading.take(shape.id, extractString)),
        ...optional("name", reading.take(shape.name, extractString)),
        ...optional("params", reading.take(shape.params, extractJson)),
        ...options,
      };
    }
    case "tool_result": {
      if (holderAt(from.block, shape.result) === undefined) return undefined;
      return {
        type: "tool_result",
        provenance: "injected",
        ...optional("call_id", reading.take(shape.id, extractString)),
        ...optional("name", reading.take(shape.name, extractString)),
        ...optional("is_failure", shape.failure?.(from.block, from.record)),
        ...optional("result", reading.take(shape.result, extractJson)),
      };
    }
    case "file": {
      const value = reading.take(shape.data, extractString);
      if (value === undefined) return undefined;
      const media_type = reading.take(shape.media_type, extractString);
      const data = { kind: "string" as const, value };
      return { type: "file", provenance, ...optional("media_type", media_type), data, ...options };
    }
  }
}

function blockOf(part: Part, text: string, { blocks }: RecordShapes): JsonObject {
  const rest = objectField(objectField(part.options, "source") ?? {}, "block") ?? {};
  const shape = blocks.find((each) => each.part === part.type);
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
      [shape.name, part.name],
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
