/**
 * A map by text that can be kept compactly (spec.md#sync-prefix): what it held when it was kept is known by digests of
 * its texts, 16 characters each, whatever their length. While a log is read from its start it is a plain map and
 * nothing is hashed.
 */
import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import { field } from "./extract.ts";
import { keptValue } from "./prefix.ts";

/** A map as it was kept, in groups of texts that share a value, as nearly all share a few. */
export interface KeptMap<V> {
  readonly state: JsonValue | undefined;
  /** The value of a group, in its field `value`. */
  readonly valueOf: (group: JsonObject) => V | undefined;
}

/** Characters of a digest: 96 bits in base64, so that no two of billions of texts share one. */
const DIGEST_LENGTH = 16;

export class DigestMap<V extends string | number | boolean> {
  readonly #own = new Map<string, V>();
  readonly #kept: ReadonlyMap<string, V> | undefined;

  constructor(from?: KeptMap<V>) {
    this.#kept = from === undefined ? undefined : mapOf(from);
  }

  get(text: string): V | undefined {
    const own = this.#own.get(text);
    return own !== undefined || this.#kept === undefined ? own : this.#kept.get(digestOf(text));
  }

  has(text: string): boolean {
    return this.get(text) !== undefined;
  }

  set(text: string, value: V): void {
    this.#own.set(text, value);
  }

  /** All of it, to be kept. */
  state(): JsonValue {
    const all = new Map(this.#kept);
    for (const [text, value] of this.#own) all.set(digestOf(text), value);
    const groups = Map.groupBy(all, ([, value]) => value);
    return Array.from(groups, ([value, entries]) => ({
      value,
      digests: entries.map(([digest]) => digest).join(""),
    }));
  }
}

function mapOf<V>({ state, valueOf }: KeptMap<V>): ReadonlyMap<string, V> {
  const map = new Map<string, V>();
  for (const item of keptValue(Array.isArray(state) ? state : undefined)) {
    const group = keptValue(isJsonObject(item) ? item : undefined);
    const value = keptValue(valueOf(group));
    const digests = field(group, "digests");
    const text = keptValue(typeof digests === "string" ? digests : undefined);
    for (let at = 0; at < text.length; at += DIGEST_LENGTH)
      map.set(text.slice(at, at + DIGEST_LENGTH), value);
  }
  return map;
}

function digestOf(text: string): string {
  // UTF-8 has no spelling for half a character: all such texts would be one.
  const exact = text.isWellFormed() ? text : Buffer.from(text, "utf16le");
  return hash("sha256", exact, "base64").slice(0, DIGEST_LENGTH);
}
