/**
 * What can be read of an object in a text that is no exact JSON: a key twice, a bad byte, an end that is cut off. For
 * telling whose text it is; the text itself is kept whole.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { tryParseJson } from "../../../base/json/json.ts";
import { defineField } from "../extract/extract.ts";

/** The members of the object that a text is, as their texts: the first of each name, up to where it breaks off. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  if (!/^\s*\{/.test(text)) return members;
  let name: string | undefined;
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '"') {
      const end = endOfString(text, at);
      if (end === -1) return members;
      if (depth === 1 && name === undefined) {
        name = nameIn(text.slice(at, end));
        start = end;
      }
      at = end - 1;
    } else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]" || (sign === "," && depth === 1)) {
      if (depth === 1 && name !== undefined && !members.has(name))
        members.set(name, valueIn(text.slice(start, at)));
      if (depth === 1) name = undefined;
      if (sign !== ",") depth -= 1;
      if (depth === 0) return members;
    }
  }
  return members;
}

/** The members of an object that are exact JSON themselves, without those in which a character was replaced. */
export function readableIn(text: string): JsonObject {
  const readable: Record<string, JsonValue> = {};
  for (const [name, value] of membersOf(text)) {
    const parsed = value.includes("\uFFFD") ? undefined : tryParseJson(value);
    if (parsed?.kind === "value") defineField(readable, name, parsed.value);
  }
  return readable;
}

/** Behind the quote that ends the string, -1 where none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === "\\") at += 1;
    else if (sign === '"') return at + 1;
  }
  return -1;
}

function nameIn(quoted: string): string {
  const parsed = tryParseJson(quoted);
  return parsed.kind === "value" && typeof parsed.value === "string" ? parsed.value : quoted;
}

/** Without the colon. */
function valueIn(text: string): string {
  return text.replace(/^\s*:/, "").trim();
}
