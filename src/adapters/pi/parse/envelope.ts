/**
 * What every record of pi may have: an id, a place in the tree, an instant. Taken out where pond's own fields say
 * the same; what readers need beside them become facts (docs/adapters/pi.md#records).
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { FactsDraft } from "../../../model/derived/index.ts";
import type { Timestamp } from "../../../model/index.ts";
import { timestampFromMillis } from "../../../model/index.ts";
import type { RecordId } from "../../kit/session/index.ts";
import {
  extractName,
  extractTimestamp,
  field,
  integerField,
  isCanonicalTimestamp,
  isEmpty,
  without,
} from "../../kit/extract/index.ts";

/** What the log told before this record. */
export interface Before {
  /** The message that a record with this id became. */
  readonly messageOf: (sourceId: string) => string | undefined;
}

export class Envelope {
  readonly timestamp: Timestamp | undefined;
  readonly facts: FactsDraft = {};
  readonly #record: JsonObject;
  readonly #before: Before;
  readonly #taken = new Set<string>();

  /** `id` is undefined for a record that has no message id of its own: one of several on a line. */
  constructor(record: JsonObject, before: Before, id: RecordId | undefined) {
    this.#record = record;
    this.#before = before;
    if (id?.isSource === true) this.take("id");
    else if (!Object.hasOwn(record, "id")) this.facts.id = "derived";
    this.timestamp = extractTimestamp(record, "timestamp");
    if (this.timestamp === undefined) this.facts.timestamp = "carried";
    else if (id !== undefined && isRestorable(record, this.timestamp)) this.take("timestamp");
    this.#placeInTree();
  }

  take(name: string): void {
    this.#taken.add(name);
  }

  /** What is left of the record, with one more field where a part of it was taken. */
  rest(more: JsonObject = {}): JsonObject {
    const rest = without(this.#record, this.#taken);
    return isEmpty(more) ? rest : { ...rest, ...more };
  }

  #placeInTree(): void {
    const record = this.#record;
    const parent = field(record, "parentId");
    if (parent === null) this.take("parentId");
    if (parent === null || typeof parent === "string") {
      const message = parent === null ? null : (this.#before.messageOf(parent) ?? null);
      // A parent that is not in the log makes a root for the client; its id stays in the record.
      this.facts.parent = message;
      if (message === parent) this.take("parentId");
    }
    const isEntry = extractName(record, "kind") === "entry";
    if (isEntry && extractName(record, "lane") !== "main") this.facts.aside = true;
    const leaf = leafOf(record);
    const target = typeof leaf === "string" ? this.#before.messageOf(leaf) : leaf;
    if (target !== undefined) this.facts.leaf = target;
  }
}

/** Where a record moves the client's position: a `leaf` entry, or a lane or branch `main` of version 4. */
function leafOf(record: JsonObject): string | null | undefined {
  const target = leafField(record);
  return target === null || typeof target === "string" ? target : undefined;
}

function leafField(record: JsonObject): JsonValue | undefined {
  switch (extractName(record, "kind")) {
    case undefined:
      return extractName(record, "type") === "leaf" ? field(record, "targetId") : undefined;
    case "lane":
      return extractName(record, "lane") === "main" ? field(record, "leafId") : undefined;
    case "value": {
      const isTip = extractName(record, "namespace") === "pi.branch.tip" && field(record, "key") === "main";
      return isTip ? field(record, "value") : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * True when native restore writes the same value from the message's instant: RFC 3339 in versions 1 to 3,
 * milliseconds in version 4, whose records all have a `kind`.
 */
function isRestorable(record: JsonObject, timestamp: Timestamp): boolean {
  if (!Object.hasOwn(record, "kind")) return isCanonicalTimestamp(field(record, "timestamp"), timestamp);
  const millis = integerField(record, "timestamp");
  return millis !== undefined && timestampFromMillis(millis) === timestamp && timestamp % 1000 === 0;
}
