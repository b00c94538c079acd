/**
 * What this process has appended to a table, of the groups (values of the first key column) that may go on in its next
 * batch, which is the last one of a batch. While nobody else commits, all stored keys of such a group are known, and a log that takes many batches is not
 * looked up again for each: 200,000 messages of one session took 1.3 times the CPU of merges without this.
 */

/** Of so many threads that build batches at once. */
const MOST_GROUPS = 16;

export class OwnAppends {
  readonly #groups = new Map<string, KeyHashes>();
  /** The table's version after this process's own last append. */
  #version: number | undefined;

  /** The keys of a group, all that are stored of it, at this version of the table; undefined where that is not known. */
  of(group: string, version: number): { has(key: string): boolean } | undefined {
    return version === this.#version ? this.#groups.get(group) : undefined;
  }

  /** An append that made version `after` of `before`. `isNew`: of groups that were not known nothing was stored. */
  appended(
    { groups, keyAt }: { readonly groups: readonly string[]; readonly keyAt: (row: number) => string },
    { before, after, isNew }: { readonly before: number; readonly after: number; readonly isNew: boolean },
  ): void {
    if (before !== this.#version) this.#groups.clear();
    this.#version = after;
    const last = groups.at(-1) ?? "";
    const known = this.#groups.get(last) ?? (isNew ? new KeyHashes() : undefined);
    this.#groups.delete(last);
    if (known !== undefined) this.#groups.set(last, known);
    const [oldest] = this.#groups.keys();
    if (this.#groups.size > MOST_GROUPS && oldest !== undefined) this.#groups.delete(oldest);
    for (const [row, group] of groups.entries()) this.#groups.get(group)?.add(keyAt(row));
  }
}

/** A set of 52-bit hashes in 16 bytes a key. Two keys with one hash cost a look-up, never more. */
class KeyHashes {
  #slots = new Float64Array(64);
  #size = 0;

  has(key: string): boolean {
    const hash = hashOf(key);
    return this.#slots[this.#slotOf(hash)] === hash;
  }

  add(key: string): void {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const hash = hashOf(key);
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] !== hash) this.#size++;
    this.#slots[slot] = hash;
  }

  /** Where it is or would be. */
  #slotOf(hash: number): number {
    const slots = this.#slots;
    let slot = hash % slots.length;
    while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) % slots.length;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2);
    for (const hash of before) if (hash !== 0) this.#slots[this.#slotOf(hash)] = hash;
  }
}

/** FNV-1a twice, with different starts; never 0, which is an empty slot. */
function hashOf(key: string): number {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = 0; at < key.length; at++) {
    const unit = key.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0) + 1;
}
