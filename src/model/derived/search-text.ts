/**
 * The indexed text of a message (spec.md#search-indexed-text): its conversation and nothing else, by one pure
 * function for every source. What is injected, reasoned, called or returned is read by `get`, never indexed.
 */
import { boundText } from "../bound-text.ts";
import type { Message, Part } from "../types.ts";

/** The text to index, or undefined for a message without conversation. Parts come in ordinal order. */
export function searchText(message: Pick<Message, "role">, parts: readonly Part[]): string | undefined {
  if (message.role === "system" || message.role === "tool") return undefined;
  const pieces: string[] = [];
  for (const part of parts) {
    if (part.provenance !== "conversational") continue;
    if (part.type === "text") pieces.push(part.text ?? "");
    if (part.type === "file") pieces.push(...fileWords(part));
  }
  const text = pieces.filter((piece) => piece !== "").join("\n");
  // Each part may have as much as one text has at most: together they are held to the same.
  return text.trim() === "" ? undefined : boundText(text).text;
}

/** Name, type and address of a file are searchable; its payload is not, nor a payload inside a data: address. */
function fileWords(part: Extract<Part, { type: "file" }>): string[] {
  const words: string[] = [];
  if (part.file_name !== undefined) words.push(part.file_name);
  if (part.media_type !== undefined) words.push(part.media_type);
  if (part.data.kind === "url" && !part.data.value.startsWith("data:")) words.push(part.data.value);
  return words;
}
