/**
 * The rows that a table has: words and pieces of the teacher's English vocabulary, and of other languages the words that are
 * frequent in what the rows are fitted to, beginnings of the rest, and runs of characters where there are no spaces.
 */
import { wordsOf } from "../../src/embeddings/static/pieces.ts";
import type { Pair } from "./sentences.ts";

/** Of each language. */
export interface Budget {
  readonly words: number;
  readonly beginnings: number;
  readonly runs: number;
}

const UNSPACED_ONLY = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30FC]+$/u;
const LATIN = /^(?:##)?[\p{Script=Latin}\p{N}]+$/u;
const FEWEST = 3;
const LONGEST_BEGINNING = 10;
const LONGEST_RUN = 6;

/** With marks, signs of punctuation and other scripts than Latin left out: those have rows of their own. */
export const keptTokens = (tokens: readonly string[]): readonly string[] =>
  tokens.filter((token) => LATIN.test(token) && token === token.toLowerCase());

export function addedPieces(
  pairs: readonly Pair[],
  known: ReadonlySet<string>,
  budget: Budget,
): readonly string[] {
  const added = new Set<string>();
  const languages = [...new Set(pairs.map(({ language }) => language))].filter((each) => each !== "en");
  for (const language of languages.toSorted()) {
    const counts = new Map<string, number>();
    for (const pair of pairs)
      if (pair.language === language) for (const word of wordsOf(pair.text)) count(counts, word);
    const chosen = ["ja", "zh"].includes(language)
      ? runs(counts, budget.runs)
      : [...words(counts, known, budget.words), ...beginnings(counts, { known, added }, budget.beginnings)];
    for (const piece of chosen) if (!known.has(piece)) added.add(piece);
  }
  return [...added];
}

const count = (counts: Map<string, number>, key: string, times = 1): void => {
  counts.set(key, (counts.get(key) ?? 0) + times);
};

const mostOf = (scores: ReadonlyMap<string, number>, most: number): readonly string[] =>
  [...scores]
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([piece]) => piece);

const words = (counts: ReadonlyMap<string, number>, known: ReadonlySet<string>, most: number) =>
  mostOf(
    new Map(
      [...counts].filter(
        ([word, times]) => times >= FEWEST && word.length > 1 && !known.has(word) && !/\p{N}/u.test(word),
      ),
    ),
    most,
  );

function beginnings(
  counts: ReadonlyMap<string, number>,
  { known, added }: { readonly known: ReadonlySet<string>; readonly added: ReadonlySet<string> },
  most: number,
): readonly string[] {
  const scores = new Map<string, number>();
  const distinct = new Map<string, number>();
  for (const [word, times] of counts) {
    if (known.has(word) || /\p{N}/u.test(word)) continue;
    for (let length = 4; length <= Math.min(LONGEST_BEGINNING, word.length - 1); length++) {
      const beginning = word.slice(0, length);
      count(scores, beginning, times * (length - 3));
      count(distinct, beginning);
    }
  }
  const several = [...scores].filter(
    ([piece]) => (distinct.get(piece) ?? 0) >= FEWEST && !known.has(piece) && !added.has(piece),
  );
  return mostOf(new Map(several), most);
}

function runs(counts: ReadonlyMap<string, number>, most: number): readonly string[] {
  const scores = new Map<string, number>();
  for (const [word, times] of counts)
    for (let start = 0; start < word.length; start++)
      for (let length = 1; length <= LONGEST_RUN && start + length <= word.length; length++) {
        const run = word.slice(start, start + length);
        if (UNSPACED_ONLY.test(run)) count(scores, run, times);
      }
  const frequent = [...scores].filter(([run, times]) => times >= (run.length === 1 ? FEWEST : 3 * FEWEST));
  return mostOf(new Map(frequent.map(([run, times]) => [run, times * run.length])), most);
}
