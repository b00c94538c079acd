/** A call of an embedder, with nothing taken for granted of what it answers: a wrong vector would be stored and never found. */
import { PondError } from "../../base/errors.ts";
import type { Embedded, Embedder } from "../../embeddings/index.ts";

/** Vectors have length 1, but for what the model's own arithmetic leaves. */
const UNIT_TOLERANCE = 0.01;

export async function askEmbedder(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Embedded> {
  const answer = await embedder.embed(texts, { kind: "document", signal });
  const { vectors } = answer;
  if (vectors.length !== texts.length)
    throw wrong(embedder, `${vectors.length} vectors for ${texts.length} texts`);
  for (const vector of vectors) {
    const problem = vector === undefined ? undefined : problemOf(vector, embedder.dimension);
    if (problem !== undefined) throw wrong(embedder, problem);
  }
  return answer;
}

function problemOf(vector: Float32Array, dimension: number): string | undefined {
  if (vector.length !== dimension) return `a vector of ${vector.length} dimensions instead of ${dimension}`;
  const square = vector.reduce((sum, value) => sum + value * value, 0);
  if (!Number.isFinite(square)) return "a vector with values that are not numbers";
  const length = Math.sqrt(square);
  return Math.abs(length - 1) <= UNIT_TOLERANCE
    ? undefined
    : `a vector of length ${length.toFixed(3)} instead of 1`;
}

const wrong = ({ name }: Embedder, what: string): PondError =>
  new PondError("internal", `the embedding model ${name} answered with ${what}; nothing of that is stored`, {
    hint: "check embeddings.model and embeddings.dimension: they must be those of the model that answers",
  });
