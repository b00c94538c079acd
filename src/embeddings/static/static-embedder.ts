/**
 * Vectors without a model that runs: each piece of a word has a row in a table that is shipped with pond, and a text is the sum of
 * its rows. No native code, nothing to fetch; the same text has the same vector on every machine.
 */
import type { Embedded, Embedder } from "../embedder.ts";
import { TABLE_FOLDER } from "../table-place.ts";
import { Pieces } from "./pieces.ts";
import type { Table } from "./table.ts";
import { readTable } from "./table.ts";

/** Characters of one text: what comes later moves the sum no more. */
const WINDOW = 20_000;

export const openStaticEmbedder = async (folder: string = TABLE_FOLDER): Promise<Embedder> =>
  new StaticEmbedder(await readTable(folder));

class StaticEmbedder implements Embedder {
  readonly name: string;
  readonly dimension: number;
  /** Chosen on one half of bench/retrieval; at .45 four messages a question are found that have no word of it, of 49 at .2. */
  readonly scale = { least: 0.2, most: 0.8, alone: 0.45 };
  readonly batch = { texts: 1000, characters: 2_000_000 };
  readonly #table: Table;
  readonly #pieces: Pieces;
  readonly #sum: Float64Array;

  constructor(table: Table) {
    const { dimension, sha256 } = table.header;
    this.name = `static-${dimension}-${sha256.slice(0, 16)}`;
    this.dimension = dimension;
    this.#table = table;
    this.#pieces = new Pieces(table.pieces);
    this.#sum = new Float64Array(dimension);
  }

  embed(texts: readonly string[]): Promise<Embedded> {
    const cut = texts.filter(({ length }) => length > WINDOW).length;
    return Promise.resolve({ vectors: texts.map((text) => this.#vector(text.slice(0, WINDOW))), cut });
  }

  #vector(text: string): Float32Array | undefined {
    const { values, scales } = this.#table;
    const sum = this.#sum.fill(0);
    const { length } = sum;
    for (const row of this.#pieces.rowsOf(text)) {
      const scale = scales[row] ?? 0;
      const from = row * length;
      for (let at = 0; at < length; at++) sum[at] = (sum[at] ?? 0) + scale * (values[from + at] ?? 0);
    }
    let square = 0;
    for (const value of sum) square += value * value;
    if (square === 0) return undefined;
    const norm = Math.sqrt(square);
    return Float32Array.from(sum, (value) => value / norm);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
