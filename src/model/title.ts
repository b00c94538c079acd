/**
 * The title that a source recorded (spec.md#model-title), found when it is read. A message with
 * `options.pond.title = { at, rank }` holds one: `at` is a JSON pointer into its own options, so that the text is
 * stored once. The highest rank wins (what a person chose before what a model wrote), among equals the newest.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import type { Message } from "./types.ts";

/** Undefined when the source recorded none. Messages come in order. */
export function recordedTitle(messages: Iterable<Pick<Message, "options">>): string | undefined {
  let best: { readonly rank: number; readonly text: string } | undefined;
  for (const { options } of messages) {
    const title = memberOf(memberOf(options, "pond"), "title");
    const at = memberOf(title, "at");
    const text = typeof at === "string" ? valueAt(options, at) : undefined;
    if (typeof text !== "string" || text.trim() === "") continue;
    const rank = memberOf(title, "rank");
    const candidate = { rank: typeof rank === "number" ? rank : 0, text };
    if (best === undefined || candidate.rank >= best.rank) best = candidate;
  }
  return best?.text;
}

/** By JSON pointer (RFC 6901), through objects only. */
function valueAt(options: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = options;
  for (const step of pointer.split("/").slice(1))
    value = memberOf(value, step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return value;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
