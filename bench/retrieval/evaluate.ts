/**
 * What a ranking is worth: for each question the rank of the first session that answers it, ties against us, and from the
 * ranks hit@1, hit@5 and MRR by class. Questions are halved by a hash of their text: weights are chosen on `tune`, figures
 * are those of `test`.
 */
import { createHash } from "node:crypto";

export interface Question {
  readonly class: string;
  readonly query: string;
  /** Sessions that answer it. */
  readonly answers: readonly string[];
}

/** A session that was found, with its score; the best first. */
export interface Ranked {
  readonly session: string;
  readonly score: number;
}

export type Half = "tune" | "test";

export const halfOf = ({ query }: Question): Half =>
  (createHash("sha256").update(query).digest()[0] ?? 0) % 2 === 0 ? "tune" : "test";

/** From 1; infinite where no answer was found. A wrong session with the score of an answer counts as before it. */
export function rankOf(found: readonly Ranked[], answers: readonly string[]): number {
  const best = found.find(({ session }) => answers.includes(session));
  if (best === undefined) return Number.POSITIVE_INFINITY;
  return 1 + found.filter(({ session, score }) => score >= best.score && !answers.includes(session)).length;
}

export interface Quality {
  readonly n: number;
  readonly hit1: number;
  readonly hit5: number;
  readonly mrr: number;
}

export function qualityOf(ranks: readonly number[]): Quality {
  const share = (is: (rank: number) => boolean): number => ranks.filter(is).length / (ranks.length || 1);
  return {
    n: ranks.length,
    hit1: share((rank) => rank <= 1),
    hit5: share((rank) => rank <= 5),
    mrr: ranks.reduce((sum, rank) => sum + 1 / rank, 0) / (ranks.length || 1),
  };
}

/** Questions that one ranking has first and the other has not, both ways, and how likely that is by chance (sign test). */
export function compare(
  before: readonly number[],
  after: readonly number[],
  within: number,
): { readonly won: number; readonly lost: number; readonly p: number } {
  const won = after.filter((rank, at) => rank <= within && (before[at] ?? 0) > within).length;
  const lost = after.filter(
    (rank, at) => rank > within && (before[at] ?? Number.POSITIVE_INFINITY) <= within,
  ).length;
  return { won, lost, p: signTest(won, lost) };
}

/** Two-sided. */
function signTest(won: number, lost: number): number {
  const n = won + lost;
  if (n === 0) return 1;
  let tail = 0;
  for (let k = 0, term = 0.5 ** n; k <= Math.min(won, lost); k++) {
    tail += term;
    term *= (n - k) / (k + 1);
  }
  return Math.min(1, 2 * tail);
}
