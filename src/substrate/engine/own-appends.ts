/**
 * What this process has appended to a table, which nobody else has committed to meanwhile, so that it need not be looked up.
 * Of a group (a value of the first key column) that may continue in the next batch, which is the last one of a batch,
 * all keys: 200,000 messages of one session took 1.3 times the CPU of merges without them. And of a table that was empty
 * all groups: a first import took a tenth more CPU while each batch asked for its own.
 */

/** Of so many threads that build batches at once. */
const MOST_GROUPS = 16;

export class OwnAppends {
  readonly #groups = new Map<string, KeyHashes>();
  /** Every group of the table, if it was empty before the first append. */
  #all: KeyHashes | undefined;
  /** The table's version after this process's own last append. */
  #version: number | undefined;

  /** False once it is asked for another version than the last append made: what others did is not known. */
  knows(version: number): boolean {
    return version === this.#version;
  }

  /** The table has no row at this version. */
  isEmptyAt(version: number): void {
    this.#groups.clear();
    this.#all = new KeyHashes();
    this.#version = version;
  }

  /** True if nothing of this group is stored at this version; false where that is not known. */
  isNew(group: string, version: number): boolean {
    return version === this.#version && this.#all?.has(group) === false;
  }

  /** The keys of a group, all that are stored of it, at this version of the table; undefined where that is not known. */
  of(group: string, version: number): { has(key: string): boolean } | undefined {
    return version === this.#version ? this.#groups.get(group) : undefined;
  }

  /** An append that made version `after` of `before`. `isNew`: of groups that were not known nothing was stored. */
  appended(
    { groups, keyAt }: { readonly groups: readonly string[]; readonly keyAt: (row: number) => string },
    { before, after, isNew }: { readonly before: number; readonly after: number; readonly isNew: boolean },
  ): void {
    if (before !== this.#version) {
      this.#groups.clear();
      this.#all = undefined;
    }
    const last = groups.at(-1) ?? "";
    const isFirst = isNew || this.isNew(last, before);
    const known = this.#groups.get(last) ?? (isFirst ? new KeyHashes() : undefined);
    this.#version = after;
    this.#groups.delete(last);
    if (known !== undefined) this.#groups.set(last, known);
    const [oldest] = this.#groups.keys();
    if (this.#groups.size > MOST_GROUPS && oldest !== undefined) this.#groups.delete(oldest);
    let added: string | undefined;
    for (const [row, group] of groups.entries()) {
      this.#groups.get(group)?.add(keyAt(row));
      if (group !== added) this.#all?.add(group);
      added = group;
    }
  }
}

/** A set of 52-bit hashes in 16 to 32 bytes a key. Two keys with one hash cost a look-up, never more. */
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
