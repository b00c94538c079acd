/** How a session that pond wrote into a client says so: a mark in its metadata, where the client keeps such. */
import type { JsonObject } from "../../../base/json/json.ts";
import { objectField } from "../extract/extract.ts";

/** The name of the mark. */
export const RESTORED_FROM = "pond";

/** What the mark in a session's own record says; undefined where pond did not write it. */
export function restoredFrom(record: JsonObject): JsonObject | undefined {
  return objectField(objectField(record, "metadata") ?? {}, RESTORED_FROM);
}
