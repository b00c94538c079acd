/** From the engine's row ids to numbers from 0 on, in the order in which they came: a hash table in two typed arrays. */

const FREE = 0;

export class RowNumbers {
  #rows = new Float64Array(64);
  /** A number and one, by the place of its row; twice as many as rows, or more. */
  #places = new Uint32Array(256);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  row(at: number): bigint {
    return BigInt(this.#rows[at] ?? 0);
  }

  /** False where it is known already. */
  add(row: bigint): boolean {
    const id = Number(row);
    if (this.#count * 2 >= this.#places.length) this.#grow();
    const place = this.#placeOf(id);
    if (this.#places[place] !== FREE) return false;
    if (this.#count === this.#rows.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#rows[this.#count] = id;
    this.#count += 1;
    this.#places[place] = this.#count;
    return true;
  }

  /** -1 for a row that is not known. */
  find(row: bigint): number {
    return (this.#places[this.#placeOf(Number(row))] ?? FREE) - 1;
  }

  /** Where it is, or would be. */
  #placeOf(id: number): number {
    const mask = this.#places.length - 1;
    // Rows are numbered one after the other, so that neighbours do not meet.
    let place = id % this.#places.length;
    for (;;) {
      const known = this.#places[place] ?? FREE;
      if (known === FREE || this.#rows[known - 1] === id) return place;
      place = (place + 1) & mask;
    }
  }

  #grow(): void {
    this.#places = new Uint32Array(this.#places.length * 2);
    for (let at = 0; at < this.#count; at++) this.#places[this.#placeOf(this.#rows[at] ?? 0)] = at + 1;
  }
}
