/** A line of a log that is not JSON, as restore gives it back. */
import type { JsonValue } from "../../../base/json/json.ts";

/** A line that was not JSON when it was read: it goes back byte for byte. */
export interface RawLine {
  readonly raw: Uint8Array;
}

/** No JSON value holds bytes, so the two never look alike. */
export function isRawLine(record: JsonValue | RawLine): record is RawLine {
  return typeof record === "object" && record !== null && "raw" in record && record.raw instanceof Uint8Array;
}
