/** Every text of a corpus with its vector, and how near each is to a question: itself and what is around it. */
import type { Embedder } from "../../src/embeddings/embedder.ts";
import { searchText } from "../../src/model/derived/index.ts";
import type { Corpus } from "./corpus.ts";

interface PlacedText {
  readonly session: string;
  readonly message: string;
  readonly text: string;
}

/** Texts in the order of their sessions. */
export class CorpusTexts {
  readonly all: readonly PlacedText[];
  readonly #places: ReadonlyMap<string, number>;

  constructor({ sessions }: Corpus) {
    this.all = sessions.flatMap(({ session, messages }) =>
      messages.flatMap(({ message, parts }) => {
        const text = searchText(message, parts) ?? "";
        return text === "" ? [] : [{ session: session.id, message: message.id, text }];
      }),
    );
    this.#places = new Map(this.all.map(({ session, message }, at) => [`${session} ${message}`, at]));
  }

  placeOf(session: string, message: string): number | undefined {
    return this.#places.get(`${session} ${message}`);
  }

  /** Places of the same session, at most so many less one before and behind. */
  window(place: number, size: number): readonly number[] {
    const own = this.all[place]?.session;
    const places: number[] = [];
    for (let at = place - size + 1; at < place + size; at++)
      if (this.all[at]?.session === own) places.push(at);
    return places;
  }

  around(place: number, size: number): readonly string[] {
    return this.window(place, size).map((at) => this.all[at]?.text ?? "");
  }
}

const BESIDE = 3;
const OWN = 0.6;

export class VectorsArm {
  readonly #embedder: Embedder;
  readonly #dimension: number;
  readonly #vectors: Float32Array;
  readonly #count: number;

  private constructor(embedder: Embedder, vectors: Float32Array, count: number) {
    this.#embedder = embedder;
    this.#dimension = embedder.dimension;
    this.#vectors = vectors;
    this.#count = count;
  }

  /** A text's vector is .6 of its own and .4 of the mean of the window of five that it is the middle of. */
  static async of(texts: CorpusTexts, embedder: Embedder): Promise<VectorsArm> {
    const request = { kind: "document", signal: new AbortController().signal } as const;
    const { vectors } = await embedder.embed(
      texts.all.map(({ text }) => text),
      request,
    );
    const { dimension } = embedder;
    const all = new Float32Array(texts.all.length * dimension);
    for (const place of texts.all.keys()) {
      const window = texts.window(place, BESIDE);
      const row = all.subarray(place * dimension, (place + 1) * dimension);
      for (const at of window) add(row, vectors[at], (1 - OWN) / window.length);
      add(row, vectors[place], OWN);
    }
    return new VectorsArm(embedder, all, texts.all.length);
  }

  /** By place; undefined where the question has no vector. */
  async cosines(query: string): Promise<Float32Array | undefined> {
    const request = { kind: "query", signal: new AbortController().signal } as const;
    const [vector] = (await this.#embedder.embed([query], request)).vectors;
    if (vector === undefined) return undefined;
    const cosines = new Float32Array(this.#count);
    for (let place = 0; place < this.#count; place++) {
      let dot = 0;
      const from = place * this.#dimension;
      for (let at = 0; at < this.#dimension; at++) dot += (vector[at] ?? 0) * (this.#vectors[from + at] ?? 0);
      cosines[place] = dot;
    }
    return cosines;
  }
}

function add(row: Float32Array, vector: Float32Array | undefined, weight: number): void {
  if (vector === undefined) return;
  for (let at = 0; at < row.length; at++) row[at] = (row[at] ?? 0) + weight * (vector[at] ?? 0);
}
