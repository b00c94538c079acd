/**
 * The hash of a message by itself, for those that were not read from a source: of everything that it says, so that equal ids
 * with other values are told apart (spec.md#storage-versions). Its position is not part of it, nor is `at`, which orders
 * versions and says nothing.
 */
import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import type { Message, Part } from "../../model/index.ts";
import { withoutFacts } from "../../model/derived/index.ts";
import { openJson } from "../../model/index.ts";

export function contentHash(message: Message, parts: readonly Part[]): string {
  const { role, timestamp, options } = message;
  const content = message.role === "system" ? message.content : null;
  return valueHash([role, timestamp, content, withoutFacts(options, ["at"]), parts.map(valueOf)]);
}

function valueOf(part: Part): JsonObject {
  const { session_id: _, message_id: __, ...rest } = part;
  const values: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(rest)) values[name] = jsonOf(value);
  if (part.type === "tool_call" && part.params !== undefined) values["params"] = openJson(part.params);
  if (part.type === "tool_result" && part.result !== undefined) values["result"] = openJson(part.result);
  if (part.type === "file")
    values["data"] =
      part.data.kind === "bytes"
        ? { kind: "bytes", value: hash("sha256", part.data.value, "hex") }
        : { kind: part.data.kind, value: part.data.value };
  return values;
}

/** What is neither a payload nor sealed JSON is a plain value. */
function jsonOf(value: unknown): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other fields of a part are JSON at run time
  return value as JsonValue;
}
