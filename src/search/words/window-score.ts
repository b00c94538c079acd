/**
 * BM25 of a message among its neighbours (spec.md#search-windows): in a conversation the question has some of the words and the
 * answer the others, so what is scored is the best window of five texts around a message, and half of the message alone.
 * Pure.
 */
import type { CountedText } from "../analysis/vocabulary.ts";

const K1 = 1.2;
const B = 0.75;
/** Texts of a window, of which the message is one. */
export const WINDOW = 5;
const OWN_WEIGHT = 0.5;
/** The score of the text at a place among its neighbours; weights are how rare each term is. */
export function windowScore(
  texts: readonly CountedText[],
  at: number,
  {
    weights,
    averageLength,
  }: { readonly weights: ReadonlyMap<string, number>; readonly averageLength: number },
): number {
  let best = 0;
  const first = Math.max(0, at - WINDOW + 1);
  for (let start = first; start <= at; start++) {
    const window = texts.slice(start, start + WINDOW);
    best = Math.max(best, scoreOf(joined(window), weights, averageLength * window.length));
  }
  const own = texts[at];
  return best + (own === undefined ? 0 : OWN_WEIGHT * scoreOf(own, weights, averageLength));
}

function scoreOf(
  { counts, length }: CountedText,
  weights: ReadonlyMap<string, number>,
  averageLength: number,
): number {
  let score = 0;
  const norm = K1 * (1 - B + (B * length) / (averageLength || 1));
  for (const [term, weight] of weights) {
    const times = counts.get(term) ?? 0;
    if (times > 0) score += (weight * times * (K1 + 1)) / (times + norm);
  }
  return score;
}

function joined(texts: readonly CountedText[]): CountedText {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [term, times] of text.counts) counts.set(term, (counts.get(term) ?? 0) + times);
  return { counts, length: texts.reduce((sum, { length }) => sum + length, 0) };
}
