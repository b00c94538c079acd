/**
 * A map by text that can be kept compactly (spec.md#sync-prefix): what it held when it was kept is known by digests of
 * its texts. While a log is read from its start it is a plain map and nothing is hashed.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { digestOf, KeptDigests, stateOf } from "./kept-digests.ts";

/** A map as it was kept. */
export interface KeptMap<V> {
  readonly state: JsonValue | undefined;
  /** The value of some of its texts, in the field `value`. */
  readonly valueOf: (group: JsonObject) => V | undefined;
}

export class DigestMap<V extends string | number | boolean> {
  readonly #own = new Map<string, V>();
  readonly #kept: KeptDigests<V> | undefined;

  constructor(before?: KeptMap<V>) {
    this.#kept = before === undefined ? undefined : new KeptDigests(before.state, before.valueOf);
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
    const own = new Map(this.#own.entries().map(([text, value]) => [digestOf(text), value]));
    return this.#kept?.with(own) ?? stateOf(own);
  }
}
