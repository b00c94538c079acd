/** What tools answered, as another client writes it (spec.md#adapter-restore): by call, and as text and pictures. */
import type { JsonValue } from "../../../base/json/json.ts";
import { isJsonObject, stringifyJson } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { extractString, objectField } from "../extract/extract.ts";
import type { CallPart } from "./parts.ts";
import { dataUrl } from "./parts.ts";

export type ResultPart = Extract<Part, { type: "tool_result" }>;

export interface Result {
  readonly message: MessageWithParts["message"];
  readonly part: ResultPart;
}

/** The results of a session, handed out to its calls one by one. */
export class CallResults {
  readonly #open = new Map<string | undefined, Result[]>();

  constructor(messages: readonly MessageWithParts[]) {
    for (const { message, parts } of messages)
      for (const part of parts) {
        if (part.type !== "tool_result") continue;
        const known = this.#open.get(part.call_id);
        if (known === undefined) this.#open.set(part.call_id, [{ message, part }]);
        else known.push({ message, part });
      }
  }

  /** The next result of a call: an id that is used again has results of its own, in the same order. */
  take({ call_id }: CallPart): Result | undefined {
    return call_id === undefined ? undefined : this.#open.get(call_id)?.shift();
  }

  /** Those that no call took. */
  rest(): readonly Result[] {
    return [...this.#open.values()].flat();
  }
}

/** A piece of what a tool answered; pictures by their address, mostly a `data:` one. */
export type ResultBlock = { readonly text: string } | { readonly image: string };

/** Text and pictures, where a result is made of nothing else, in the forms that clients write. */
export function resultBlocks({ result }: ResultPart): readonly ResultBlock[] | undefined {
  if (result === undefined) return [];
  const value = openJson(result);
  if (typeof value === "string") return [{ text: value }];
  const blocks = (Array.isArray(value) ? value : [value]).map(blockOf);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

/** A result of any other make, as text. */
export function resultJson({ result }: ResultPart): string {
  return result === undefined ? "" : stringifyJson(openJson(result));
}

function blockOf(block: JsonValue): ResultBlock | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = extractString(block, "type");
  const [only, ...others] = Object.keys(block);
  const isText = type === "text" || type === "input_text" || type === "output_text";
  const isEnvelope = others.length === 0 && (only === "output" || only === "content" || only === "text");
  const text = isText ? extractString(block, "text") : isEnvelope ? extractString(block, only) : undefined;
  if (text !== undefined) return { text };
  if (type?.includes("image") !== true) return undefined;
  const source = objectField(block, "source") ?? block;
  const url = extractString(block, "image_url") ?? extractString(source, "url");
  if (url !== undefined) return { image: url };
  const data = extractString(source, "data");
  const mediaType = extractString(source, "media_type") ?? extractString(source, "mimeType");
  return data === undefined || mediaType === undefined ? undefined : { image: dataUrl(mediaType, data) };
}
