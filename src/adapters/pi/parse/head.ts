/**
 * What a session is, before its first record is told (spec.md#model-project). pi writes it in one record, the
 * header: `{ type: "session" }` in versions 1 to 3, `{ kind: "header" }` in version 4.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Timestamp } from "../../../model/index.ts";
import type { JsonlItem, LogHead } from "../../kit/log/index.ts";
import { extractName, extractString, extractTimestamp, integerField } from "../../kit/extract/index.ts";
import { restoredFrom } from "../../kit/session/index.ts";
import { idOfParent } from "../layout.ts";

/** Collects a head from the batches of a log. */
export class HeadFinder implements LogHead {
  /** The session's own id. */
  id: string | undefined;
  directory: Extracted<string> | undefined;
  instant: Timestamp | undefined;
  /**
   * Before version 3 the client rewrites a log in full when it opens it: what it was before is a session of its own,
   * so that old and new records of the same turns never mix.
   */
  generation = "";
  /** The session that this one was forked from. */
  parent: string | undefined;
  /** True for what pond restored from another client: its turns are copies of that client's. */
  isRestored = false;
  /** True once the log held anything at all. */
  hasContent = false;
  /** True once the header was read. */
  isSession = false;

  get isComplete(): boolean {
    return this.directory !== undefined && this.instant !== undefined;
  }

  /** True when nothing more is to be found. */
  see(items: readonly JsonlItem[]): boolean {
    for (const item of items) {
      if (item.kind === "tail") continue;
      this.hasContent = true;
      if (item.kind === "record" && isJsonObject(item.value)) this.#see(item.value);
    }
    return this.isSession && this.instant !== undefined;
  }

  #see(record: JsonObject): void {
    if (!this.isSession && isHeader(record)) {
      this.isSession = true;
      this.id = extractName(record, "id");
      this.directory = extractName(record, "cwd");
      this.instant ??= extractTimestamp(record, "createdAt");
      this.generation = generationOf(record);
      this.parent = parentOf(record, this.generation);
      this.isRestored = restoredFrom(record) !== undefined;
    }
    this.instant ??= extractTimestamp(record, "timestamp");
  }
}

export function isHeader(record: JsonObject): boolean {
  return extractString(record, "type") === "session" || extractString(record, "kind") === "header";
}

function generationOf(header: JsonObject): string {
  const version = integerField(header, "version") ?? 1;
  return extractString(header, "type") === "session" && version < 3 ? `@v${version}` : "";
}

/** The parent was of the same version when this log was written. */
function parentOf(header: JsonObject, generation: string): string | undefined {
  for (const name of ["parentSessionId", "parentSession", "branchedFrom", "legacyParentSessionPath"]) {
    const recorded = extractName(header, name);
    const session = recorded === undefined ? undefined : idOfParent(recorded);
    if (session !== undefined) return session + generation;
  }
  return undefined;
}
