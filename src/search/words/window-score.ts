/**
 * BM25 of a message among its neighbours (spec.md#search-windows): in a conversation the question has some of the words and the
 * answer the others, so what is scored is the best window of five texts around a message, and half of the message alone.
 * Pure.
 */
import { piecesOf } from "../../model/derived/identifiers.ts";
import { baseOf } from "./word-forms.ts";

/** How much of a text is looked at: characters. */
const MOST_CHARACTERS = 20_000;
const K1 = 1.2;
const B = 0.75;
/** Texts of a window, of which the message is one. */
export const WINDOW = 5;
const OWN_WEIGHT = 0.5;
/** A name that contains the word is a weaker sign than the word. */
const PIECE = 0.5;

/** How often each term is in a text, and how long the text is. */
export interface CountedText {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** Written without spaces: such a term is looked for as it is. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** A word as it is compared: in lower case, without accents, forms of one English word alike. */
export const termOf = (word: string): string => baseOf(folded(word));

const folded = (text: string): string => text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");

export function countTerms(text: string, terms: ReadonlySet<string>): CountedText {
  const head = text.slice(0, MOST_CHARACTERS);
  const counts = new Map<string, number>();
  const add = (term: string, times: number): void => {
    if (terms.has(term)) counts.set(term, (counts.get(term) ?? 0) + times);
  };
  let length = 0;
  for (const [word] of head.matchAll(WORD)) {
    length += UNSPACED.test(word) ? Math.ceil(word.length / 2) : 1;
    add(termOf(word), 1);
    const pieces = piecesOf(word);
    if (pieces.length > 1) for (const piece of pieces) add(termOf(piece), PIECE);
  }
  const unspaced = [...terms].filter((term) => UNSPACED.test(term));
  if (unspaced.length > 0) {
    const whole = folded(head);
    for (const term of unspaced) {
      const times = whole.split(term).length - 1;
      if (times > 0) counts.set(term, times);
    }
  }
  return { counts, length };
}

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
