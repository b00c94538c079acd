/**
 * The hashes of a session's records (spec.md#storage-versions), as they are read from a container and as they come back
 * from the store: the same function of both, so that one proves the other.
 */
import type { JsonValue } from "../../../base/json/json.ts";
import { valueHash } from "../../kit/files/index.ts";
import type { MessageRecord, SourceRecord } from "./record.ts";

type Hashed = Pick<SourceRecord, "value" | "columns" | "stem">;

/** Of everything that a message and its parts say, wherever they are kept. */
export function messageHash(
  message: Hashed & { readonly parts: readonly Hashed[]; readonly beside?: MessageRecord["beside"] },
): string {
  return valueHash([message.beside ?? null, ...[message, ...message.parts].map(valueOf)]);
}

/** The same of a row of the first opencode, which holds its parts. */
export function goMessageHash({ columns = {}, value }: Hashed): string {
  return valueHash([columns, bodyOf(value)]);
}

const valueOf = ({ value, columns, stem }: Hashed): JsonValue => [
  bodyOf(value),
  columns ?? null,
  stem ?? null,
];

const bodyOf = (value: SourceRecord["value"]): JsonValue => ("json" in value ? value.json : { ...value });
