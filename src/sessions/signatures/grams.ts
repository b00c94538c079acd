/**
 * Which runs of five bytes some texts contain, as a bitmap of their hashes (spec.md#search-signatures): a text with a run that
 * the bitmap lacks is in none of them. Capital letters of ASCII count as small ones, so that one bitmap serves searches in any
 * case. Pure.
 */

/** Bytes of a run: shorter ones are in nearly every text, longer ones find fewer texts. */
export const GRAM_BYTES = 5;
/** What a run is hashed to, before that is made as narrow as the bitmap. */
const CELL_BITS = 20;
const CELLS = 2 ** CELL_BITS;
/**
 * Of each distinct run: at 1.5 bits a bitmap is half full, and a run that is not there passes that often. Of 48 MB of samples
 * they are 1.7 MB; at 2 bits 2.3 MB, and two in five pass.
 */
const BITS_PER_GRAM = 1.5;
const LEAST_BYTES = 8;
/** Cells of what is looked for that are compared at most: it passes by chance with a half to this power. */
const MOST_COMPARED = 32;

const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** The distinct runs of some texts. */
export class GramSet {
  /** In the order in which they came. */
  #cells = new Uint32Array(64);
  #size = 0;
  /** Of the texts. */
  bytes = 0;

  get size(): number {
    return this.#size;
  }

  get cells(): Uint32Array {
    return this.#cells.subarray(0, this.#size);
  }

  /** For the counter, who knows that it is not there yet. */
  push(cell: number): void {
    if (this.#size === this.#cells.length) {
      const larger = new Uint32Array(this.#size * 2);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells[this.#size++] = cell;
  }

  toBitmap(): Uint8Array {
    const wanted = Math.max(LEAST_BYTES, Math.ceil((this.#size * BITS_PER_GRAM) / 8));
    const bitmap = new Uint8Array(Math.min(CELLS / 8, wanted));
    for (const cell of this.cells) {
      const bit = bitOf(cell, bitmap);
      bitmap[bit >> 3] = (bitmap[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
    return bitmap;
  }
}

/** Adds texts to sets, one set at a time: what that one contains is marked in a field that serves all of them. */
export class GramCounter {
  readonly #marks = new Uint32Array(CELLS / 32);
  #current: GramSet | undefined;

  add(to: GramSet, text: Uint8Array): void {
    if (to !== this.#current) this.#open(to);
    to.bytes += text.length;
    const marks = this.#marks;
    // The last four bytes, the oldest one lowest.
    let four = 0;
    for (let at = 0; at < text.length; at++) {
      const byte = FOLDED[text[at] ?? 0] ?? 0;
      if (at >= GRAM_BYTES - 1) {
        let hash = Math.imul(four, 0x9e3779b1) ^ Math.imul(byte + 1, 0x85ebca6b);
        hash ^= hash >>> 15;
        const cell = Math.imul(hash, 0x2c1b3c6d) >>> (32 - CELL_BITS);
        const word = marks[cell >>> 5] ?? 0;
        const mark = 1 << (cell & 31);
        if ((word & mark) === 0) {
          marks[cell >>> 5] = word | mark;
          to.push(cell);
        }
      }
      four = (four >>> 8) | (byte << 24);
    }
  }

  #open(set: GramSet): void {
    const marks = this.#marks;
    for (const cell of this.#current?.cells ?? []) marks[cell >>> 5] = 0;
    for (const cell of set.cells) marks[cell >>> 5] = (marks[cell >>> 5] ?? 0) | (1 << (cell & 31));
    this.#current = set;
  }
}

/** What a bitmap is asked of a text that is looked for; undefined where it is too short to be excluded by any. */
export function cellsOf(text: Uint8Array): Uint32Array | undefined {
  if (text.length < GRAM_BYTES) return undefined;
  const set = new GramSet();
  new GramCounter().add(set, text);
  const step = Math.ceil(set.size / MOST_COMPARED);
  return set.cells.filter((_, at) => at % step === 0);
}

/** False where none of the texts of a bitmap contains what the cells are of. */
export function mayContain(bitmap: Uint8Array, cells: Uint32Array): boolean {
  for (const cell of cells) {
    const bit = bitOf(cell, bitmap);
    if (((bitmap[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Exact: the product stays below 2^43. */
const bitOf = (cell: number, bitmap: Uint8Array): number => Math.floor((cell * bitmap.length * 8) / CELLS);
