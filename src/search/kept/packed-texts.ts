/** Many short texts in one buffer, by number: a tenth of what as many strings take, and nothing for a collector to look at. */

export class PackedTexts {
  #bytes = Buffer.allocUnsafe(4096);
  #ends = new Float64Array(64);
  #count = 0;

  /** The next number. */
  add(text: Uint8Array): void {
    const start = this.#endOf(this.#count - 1);
    const end = start + text.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(end * 2);
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#bytes.set(text, start);
    if (this.#count === this.#ends.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count] = end;
    this.#count += 1;
  }

  get(at: number): string {
    return this.#bytes.toString("utf8", this.#endOf(at - 1), this.#endOf(at));
  }

  #endOf(at: number): number {
    return at < 0 ? 0 : (this.#ends[at] ?? 0);
  }
}
