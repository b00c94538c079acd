/** What search by words ranks before it reads anything of it: messages with their scores, and how much of the question the best has. */
import type { SessionStore } from "../../src/sessions/index.ts";
import { HitStates } from "../../src/search/hits/hit-states.ts";
import { rankByWords, termWeights } from "../../src/search/words/lexical.ts";
import { wordQuery } from "../../src/search/words/query.ts";
import { rescore } from "../../src/search/words/rescore.ts";
import { countTerms, WINDOW } from "../../src/search/words/window-score.ts";
import type { CorpusTexts } from "./vectors-arm.ts";

export interface WordsArm {
  /** Of messages by their place among all texts, the best 1. */
  readonly scores: ReadonlyMap<number, number>;
  /** Share of the question's terms that the best message, or its neighbours, have; weighted by how rare a term is. */
  readonly coverage: number;
}

const MOST = 1000;

export async function wordsArm(store: SessionStore, query: string, texts: CorpusTexts): Promise<WordsArm> {
  const parsed = wordQuery(query);
  const summaries = await store.summaries();
  const rowStates = new HitStates(store, { summaries, includeSuperseded: false });
  const [ranked, weights] = await Promise.all([
    rankByWords(store, parsed, { where: undefined, most: MOST }),
    termWeights(store, parsed),
  ]);
  const candidates = await rescore(store, ranked.candidates, { text: query, weights, rowStates });
  const heads = await store.heads(candidates.map(({ row }) => row));
  const places = new Map(heads.map((head) => [head.row, texts.placeOf(head.session_id, head.id)]));
  const top = candidates[0]?.score || 1;
  const scores = new Map<number, number>();
  for (const { row, score } of candidates) {
    const place = places.get(row);
    if (place !== undefined) scores.set(place, score / top);
  }
  const [best] = candidates;
  const place = best === undefined ? undefined : places.get(best.row);
  return { scores, coverage: place === undefined ? 0 : coverageOf(texts.around(place, WINDOW), weights) };
}

function coverageOf(texts: readonly string[], weights: ReadonlyMap<string, number>): number {
  const found = new Set<string>();
  const terms = new Set(weights.keys());
  for (const text of texts) for (const term of countTerms(text, terms).counts.keys()) found.add(term);
  let all = 0;
  let covered = 0;
  for (const [term, weight] of weights) {
    all += weight;
    if (found.has(term)) covered += weight;
  }
  return all === 0 ? 0 : covered / all;
}
