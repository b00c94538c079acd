/** Vectors of texts that were embedded in this run: people and tools repeat themselves, and a text costs once. Bounded. */
import { hash } from "node:crypto";

/** Bytes of vectors that are kept; the oldest go first. */
const MOST_BYTES = 32_000_000;

/** Undefined where the model can make nothing of a text. */
export type Vector = Float32Array | undefined;

export class KnownVectors {
  readonly #vectors = new Map<string, Vector>();
  readonly #most: number;

  constructor(dimension: number, mostBytes = MOST_BYTES) {
    this.#most = Math.max(1, Math.floor(mostBytes / (dimension * Float32Array.BYTES_PER_ELEMENT)));
  }

  /** Of a text that is known: `has` tells. */
  get(text: string): Vector {
    return this.#vectors.get(digestOf(text));
  }

  has(text: string): boolean {
    return this.#vectors.has(digestOf(text));
  }

  add(text: string, vector: Vector): void {
    const [oldest] = this.#vectors.keys();
    if (this.#vectors.size >= this.#most && oldest !== undefined) this.#vectors.delete(oldest);
    this.#vectors.set(digestOf(text), vector);
  }
}

const digestOf = (text: string): string => hash("sha256", text, "base64");
