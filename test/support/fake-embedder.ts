/**
 * A deterministic embedder without a model: words become directions, so that texts which share words are near. It counts what
 * it is asked, and can answer wrongly on purpose.
 */
import { hash } from "node:crypto";
import type { Embedded, Embedder } from "../../src/embeddings/index.ts";

export interface FakeEmbedderOptions {
  readonly name?: string;
  readonly dimension?: number;
  readonly batch?: Embedder["batch"];
  /** Instead of the vectors that it would give. */
  readonly answer?: (
    texts: readonly string[],
    vectors: readonly (Float32Array | undefined)[],
  ) => Embedded["vectors"];
  /** Before each call. */
  readonly onCall?: (
    texts: readonly string[],
    request: Parameters<Embedder["embed"]>[1],
  ) => void | Promise<void>;
}

export interface FakeEmbedder extends Embedder {
  /** Every text that it was given, in order. */
  readonly texts: string[];
  calls: number;
}

/** Texts with nothing but these are not embedded. */
const NOTHING = /^[^\p{L}\p{N}]*$/u;
const LONGEST = 1000;

export function fakeEmbedder(options: FakeEmbedderOptions = {}): FakeEmbedder {
  const { name = "fake", dimension = 32, batch = { texts: 8, characters: 4000 }, answer, onCall } = options;
  const texts: string[] = [];
  return {
    name,
    dimension,
    batch,
    texts,
    calls: 0,
    async embed(given, request) {
      this.calls += 1;
      await onCall?.(given, request);
      request.signal.throwIfAborted();
      texts.push(...given);
      const vectors = given.map((text) =>
        NOTHING.test(text) ? undefined : fakeVector(text.slice(0, LONGEST), { name, dimension }),
      );
      return {
        vectors: answer?.(given, vectors) ?? vectors,
        cut: given.filter((text) => text.length > LONGEST).length,
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

export function fakeVector(
  text: string,
  { name, dimension }: { readonly name: string; readonly dimension: number },
): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)) {
    const digest = hash("sha256", `${name} ${word}`, "buffer");
    for (let at = 0; at < dimension; at++) vector[at] = (vector[at] ?? 0) + (digest[at % 32] ?? 0) - 127.5;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
