/**
 * Digests of texts with a value each, as a prefix keeps them (spec.md#sync-prefix): joined to one string for each value,
 * as nearly all share a few. A log that grew by a message asks for two or three of them: until more are asked for, the
 * strings are searched as they are, which is quicker than making a map of them.
 */
import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { field } from "../extract/extract.ts";
import { keptValue } from "./prefix.ts";

/** Characters of a digest: 96 bits in base64, so that no two of billions of texts share one. */
const DIGEST_LENGTH = 16;

/** Searches that cost less than a map: some 0.1 ms each in the prefix of a log of 50 MB. */
const FEW_SEARCHES = 100;

interface Group<V> {
  readonly value: V;
  readonly digests: string;
}

export class KeptDigests<V extends string | number | boolean> {
  readonly #groups: readonly Group<V>[];
  #searches = 0;
  #map: ReadonlyMap<string, V> | undefined;

  /** `valueOf` gives the value of a group, in its field `value`. */
  constructor(state: JsonValue | undefined, valueOf: (group: JsonObject) => V | undefined) {
    this.#groups = keptValue(Array.isArray(state) ? state : undefined).map((item) => {
      const group = keptValue(isJsonObject(item) ? item : undefined);
      const digests = field(group, "digests");
      return {
        value: keptValue(valueOf(group)),
        digests: keptValue(typeof digests === "string" ? digests : undefined),
      };
    });
  }

  get(digest: string): V | undefined {
    this.#searches += 1;
    if (this.#searches > FEW_SEARCHES) return (this.#map ??= new Map(entriesOf(this.#groups))).get(digest);
    return this.#groups.find(({ digests }) => isAmong(digests, digest))?.value;
  }

  /** The state with more of them; those that are known already get the new value. */
  with(more: ReadonlyMap<string, V>): JsonValue {
    const isKnown = more.entries().some(([digest, value]) => (this.get(digest) ?? value) !== value);
    if (isKnown) return stateOf(new Map([...entriesOf(this.#groups), ...more]));
    const groups = new Map(this.#groups.map(({ value, digests }) => [value, digests]));
    for (const [digest, value] of more)
      if (this.get(digest) === undefined) groups.set(value, (groups.get(value) ?? "") + digest);
    return Array.from(groups, ([value, digests]) => ({ value, digests }));
  }
}

/** The state of digests that none were kept before. */
export function stateOf<V extends string | number | boolean>(all: ReadonlyMap<string, V>): JsonValue {
  const groups = Map.groupBy(all, ([, value]) => value);
  return Array.from(groups, ([value, entries]) => ({
    value,
    digests: entries.map(([digest]) => digest).join(""),
  }));
}

export function digestOf(text: string): string {
  // UTF-8 has no spelling for half a character: all such texts would be one.
  const exact = text.isWellFormed() ? text : Buffer.from(text, "utf16le");
  return hash("sha256", exact, "base64").slice(0, DIGEST_LENGTH);
}

function isAmong(digests: string, digest: string): boolean {
  let at = digests.indexOf(digest);
  while (at !== -1 && at % DIGEST_LENGTH !== 0) at = digests.indexOf(digest, at + 1);
  return at !== -1;
}

function* entriesOf<V>(groups: readonly Group<V>[]): Generator<readonly [string, V]> {
  for (const { value, digests } of groups)
    for (let at = 0; at < digests.length; at += DIGEST_LENGTH)
      yield [digests.slice(at, at + DIGEST_LENGTH), value];
}
