/**
 * Records that the size bound cuts are kept whole beside what is shown of them (spec.md#adapter-bounded-values): one more
 * message of the record, which nobody is shown, with the record in its blob. Native restore takes it from there.
 */
import { isPondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { parseJson, stringifyJson } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { pondFacts, withFacts } from "../../../model/derived/index.ts";
import { MAX_PAYLOAD_BYTES } from "./bound.ts";
import type { RawLine } from "../files/raw-line.ts";
import type { LogRecord, MessageDraft } from "./session-log.ts";

/** What the blob holds: the JSON of the record, or a line that is not JSON, byte for byte. */
const KINDS = { json: "whole-record", line: "whole-line" } as const;

/** The message that keeps a record whole; undefined where not even a blob can. */
export function wholeDraft({ id, whole }: LogRecord): MessageDraft | undefined {
  const value = whole?.();
  const data = value instanceof Uint8Array ? value : bytesOf(value);
  if (data === undefined || data.length > MAX_PAYLOAD_BYTES) return undefined;
  const injected = value instanceof Uint8Array ? KINDS.line : KINDS.json;
  return {
    role: "system",
    options: withFacts({}, { whole: true, record: id.text }),
    parts: [
      {
        type: "file",
        provenance: "injected",
        data: { kind: "bytes", value: data },
        options: withFacts({}, { injected }),
      },
    ],
  };
}

/** The record that one of its messages keeps whole; undefined where it was not cut. */
export function wholeRecord(messages: readonly MessageWithParts[]): JsonValue | RawLine | undefined {
  for (const { message, parts } of messages) {
    const [part] = parts;
    if (!isWhole(message) || part?.type !== "file" || part.data.kind !== "bytes") continue;
    const { value } = part.data;
    if (pondFacts(part.options).injected === KINDS.line) return { raw: value };
    return parseJson(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8"));
  }
  return undefined;
}

/** True for the message that keeps a record whole: no turn, and nothing that its record does not say. */
export function isWhole(message: { readonly options: JsonObject }): boolean {
  return pondFacts(message.options).whole === true;
}

function bytesOf(value: JsonValue | undefined): Uint8Array | undefined {
  if (value === undefined) return undefined;
  try {
    return Buffer.from(stringifyJson(value));
  } catch (error) {
    if (isPondError(error) && error.reason === "limit") return undefined;
    throw error;
  }
}
