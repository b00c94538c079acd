/**
 * Words and vectors as one ranking (spec.md#search-fusion). The score of a message by words counts for as much of the query as the
 * best one covers: a weak match stays weak, and a name that is found stays first. Never by ranks alone: those call the best of
 * bad matches as good as any. Pure.
 */
import type { CosineScale } from "../../embeddings/index.ts";

/** What vectors give to a query that words cover nothing of; of one that they cover whole, nothing. Chosen on one half of bench/retrieval. */
const VECTORS = 0.4;

interface Fusing {
  /** How much of the query the best message by words has. */
  readonly coverage: number;
  readonly similarity: ReadonlyMap<bigint, number>;
  readonly scale: CosineScale;
}

export interface Scored {
  readonly row: bigint;
  readonly score: number;
}

/** Both scores of a message, from 0 to 1, and what they come to. */
export interface ArmScores {
  readonly words: number;
  readonly vectors: number;
  readonly fused: number;
}

/** How near a text is to the query, from 0 to 1. */
export const nearness = (similarity: number, { least, most }: CosineScale): number =>
  most > least ? Math.min(1, Math.max(0, (similarity - least) / (most - least))) : 0;

/**
 * Of a model of which it is not known: between the farthest of the nearest messages and the nearest one. Where there are fewer than
 * were asked for, the farthest of them is any message, and what has nothing in common the least.
 */
export function scaleOf(similarities: readonly number[], asked: number): CosineScale {
  const most = Math.max(0, ...similarities);
  const least = similarities.length < asked ? 0 : Math.max(0, Math.min(...similarities));
  return { least, most, alone: (least + most) / 2 };
}

/**
 * `words` are messages by words, in any measure; `similarity` is of those that have a vector near the query. What only one of the arms
 * found has nothing of the other.
 */
export function fuse(
  words: readonly Scored[],
  { coverage, similarity, scale }: Fusing,
): ReadonlyMap<bigint, ArmScores> {
  const top = words.reduce((best, { score }) => Math.max(best, score), 0);
  const byWords = new Map(words.map(({ row, score }) => [row, top > 0 ? (score / top) * coverage : 0]));
  const weight = VECTORS * (1 - coverage);
  const rows = new Set([...byWords.keys(), ...similarity.keys()]);
  return new Map(
    [...rows].map((row) => {
      const own = { words: byWords.get(row) ?? 0, vectors: nearness(similarity.get(row) ?? 0, scale) };
      return [row, { ...own, fused: (1 - weight) * own.words + weight * own.vectors }];
    }),
  );
}
