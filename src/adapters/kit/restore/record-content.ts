/**
 * What the records of a log tell, in order and by value, however its adapter cut them into messages and parts: two
 * readings of equal records are equal here, also where a newer adapter names an author or a failure that an older one
 * did not. Ids, instants and leftovers are left to the comparison of records.
 */
import { createHash } from "node:crypto";
import type { JsonValue } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { newestRevisions } from "../../../model/derived/index.ts";
import { openJson } from "../../../model/index.ts";
import { optional } from "../../../base/optional.ts";

/** Only what stands at a position of the log: files beside it are compared byte by byte. */
export function contentOf(messages: readonly MessageWithParts[]): readonly JsonValue[] {
  const content: JsonValue[] = [];
  let run: { readonly type: string; text: string } | undefined;
  const end = (): void => {
    if (run !== undefined && run.text !== "") content.push({ ...run });
    run = undefined;
  };
  const say = (type: string, text: string): void => {
    if (run?.type !== type) end();
    run ??= { type, text: "" };
    run.text += text;
  };
  for (const { message, parts } of newestRevisions(messages)) {
    if (message.seq === undefined) continue;
    if (message.role === "system") say("system", message.content);
    for (const part of parts) {
      if (part.type === "text" || part.type === "reasoning") say(part.type, part.text ?? "");
      const value = valueOf(part);
      if (value === undefined) continue;
      end();
      content.push(value);
    }
  }
  end();
  return content;
}

function valueOf(part: Part): JsonValue | undefined {
  if (part.type === "tool_call")
    return {
      type: part.type,
      ...optional("id", part.call_id),
      ...optional("name", part.name),
      ...optional("params", part.params && openJson(part.params)),
    };
  if (part.type === "tool_result")
    return {
      type: part.type,
      ...optional("id", part.call_id),
      ...optional("result", part.result && openJson(part.result)),
    };
  if (part.type !== "file") return undefined;
  const { kind, value } = part.data;
  return { type: part.type, kind, digest: createHash("sha256").update(value).digest("hex") };
}
