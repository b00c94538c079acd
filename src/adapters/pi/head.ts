/**
 * What a session is, before its first record is told (spec.md#model-project). pi writes it in one record, the
 * header: `{ type: "session" }` in versions 1 to 3, `{ kind: "header" }` in version 4.
 */
import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Extracted, Timestamp } from "../../model/index.ts";
import type { JsonlItem } from "../seam/index.ts";
import { extractName, extractString, extractTimestamp, objectField } from "../seam/index.ts";
import { idOfParent } from "./names.ts";

/** Where the session came from. `isNative`: its parent is a session of pi, whose entries were copied with their ids. */
export interface Origin {
  readonly session: string;
  readonly isNative: boolean;
}

/** Collects a head from the batches of a log. */
export class HeadFinder {
  /** The session's own id. */
  id: string | undefined;
  directory: Extracted<string> | undefined;
  instant: Timestamp | undefined;
  origin: Origin | undefined;
  /** True once the log held anything at all. */
  hasContent = false;
  hasHeader = false;

  /** True when nothing more is to be found. */
  see(items: readonly JsonlItem[]): boolean {
    for (const item of items) {
      if (item.kind === "tail") continue;
      this.hasContent = true;
      if (item.kind === "record" && isJsonObject(item.value)) this.#see(item.value);
    }
    return this.hasHeader && this.instant !== undefined;
  }

  #see(record: JsonObject): void {
    if (!this.hasHeader && isHeader(record)) {
      this.hasHeader = true;
      this.id = extractName(record, "id");
      this.directory = extractName(record, "cwd");
      this.instant ??= extractTimestamp(record, "createdAt");
      this.origin = originOf(record);
    }
    this.instant ??= extractTimestamp(record, "timestamp");
  }
}

export function isHeader(record: JsonObject): boolean {
  return extractString(record, "type") === "session" || extractString(record, "kind") === "header";
}

/** What pond writes into the header of a session that it restored from another client. */
export const RESTORED_FROM = "pond";

function originOf(header: JsonObject): Origin | undefined {
  for (const name of ["parentSessionId", "parentSession", "branchedFrom", "legacyParentSessionPath"]) {
    const recorded = extractName(header, name);
    const session = recorded === undefined ? undefined : idOfParent(recorded);
    if (session !== undefined) return { session, isNative: true };
  }
  const metadata = objectField(header, "metadata");
  const restored = metadata === undefined ? undefined : objectField(metadata, RESTORED_FROM);
  const session = restored === undefined ? undefined : extractName(restored, "session_id");
  return session === undefined ? undefined : { session, isNative: false };
}
