/**
 * Retrieval by words: BM25 over the indexed text, and over the pieces of names in it. Only keys are read here; all
 * queries get the whole scope as a prefilter (spec.md#search-prefilter-pushdown).
 */
import type { MESSAGES, SessionStore } from "../../sessions/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import type { Rows, SearchOptions } from "../../substrate/index.ts";
import type { TextMap } from "../kept/text-map.ts";
import type { WeightedQuery, WordQuery } from "./query.ts";

/** A message that matches, before anything of it was read. */
export interface Candidate {
  readonly row: bigint;
  readonly session_id: string;
  /** As the engine counts, higher is better; comparable inside one search. */
  readonly score: number;
}

export interface Ranked {
  /** Best first; ties by session, then by row, so that an order can be paged. */
  readonly candidates: readonly Candidate[];
  /** True when there may be more than were asked for. */
  readonly isCut: boolean;
}

export interface Ranking {
  readonly where: Predicate<typeof MESSAGES> | undefined;
  readonly most: number;
  /** Knows the sessions of rows: to ask the engine for them costs more than the search itself. */
  readonly map: TextMap | undefined;
}

/** Undefined where the map does not know a row that was found. */
export async function rankByWords(
  store: SessionStore,
  query: WordQuery,
  { where, most, map }: Ranking,
): Promise<Ranked | undefined> {
  const select = map === undefined ? (["session_id"] as const) : [];
  const arms = armsOf(query, { where, limit: most, select });
  const answers = await Promise.all(arms.map(({ options }) => store.tables.messages.search(options)));
  const found = new Map<bigint, MutableCandidate>();
  for (const [at, rows] of answers.entries())
    if (!addAll(found, rows, { weight: arms[at]?.weight ?? 0, map })) return undefined;
  const candidates = [...found.values()].toSorted(byScore);
  return { candidates, isCut: answers.some(({ length }) => length === most) };
}

/**
 * How rare each term is, by the best score of a query for it alone: the engine does not say in how many texts a word is. One
 * that no text has as it is may be there in another form, and counts as the rarest. `known` are the scores of words that were
 * asked for before, and becomes those of these, too.
 */
export async function termWeights(
  store: SessionStore,
  { scored }: WordQuery,
  known: Map<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const best = await Promise.all(
    [...scored].map(async ([term, word]): Promise<[string, number]> => {
      const score = known.get(word) ?? (await bestScore(store, word));
      known.set(word, score);
      return [term, score];
    }),
  );
  const isForeign = foreignTerms([...scored.keys()]);
  const rarest = Math.max(...best.map(([, score]) => score), 0) || 1;
  return new Map(best.map(([term, score]) => [term, (score || rarest) * (isForeign(term) ? FOREIGN : 1)]));
}

async function bestScore(store: SessionStore, word: string): Promise<number> {
  const options = { column: "search_text", query: { match: word }, select: [], limit: 1 } as const;
  const rows = await store.tables.messages.search(options);
  return rows.length === 0 ? 0 : rows.score(0);
}

/**
 * A word in Latin letters in a question of another script is a term that its language has no word for: it tells more than how
 * rare it is, and the text that answers may be in another language.
 */
const FOREIGN = 2;
const LATIN = /^[\p{Script=Latin}\p{N}]+$/u;

function foreignTerms(terms: readonly string[]): (term: string) => boolean {
  const isMixed = terms.some((term) => !LATIN.test(term));
  return (term) => isMixed && LATIN.test(term);
}

/** The engine's plans of all queries. */
export async function explainWords(
  store: SessionStore,
  query: WordQuery,
  where: Predicate<typeof MESSAGES> | undefined,
): Promise<string> {
  const plans = armsOf(query, { where, limit: 10, select: [] }).map(async ({ options, weight }) => {
    const plan = await store.tables.messages.explain(options);
    return `${options.column}, weight ${weight}:\n${plan}`;
  });
  return (await Promise.all(plans)).join("\n");
}

interface Arm {
  readonly options: SearchOptions<typeof MESSAGES>;
  readonly weight: number;
}

function armsOf(
  query: WordQuery,
  { where, limit, select }: Pick<Ranking, "where"> & Pick<SearchOptions<typeof MESSAGES>, "limit" | "select">,
): readonly Arm[] {
  const arm = (column: "search_text" | "identifiers", { query: words, weight }: WeightedQuery): Arm => ({
    options: {
      column,
      query: words,
      select,
      limit,
      ...(where === undefined ? {} : { where }),
    },
    weight,
  });
  return [...query.texts.map((text) => arm("search_text", text)), arm("identifiers", query.names)];
}

type MutableCandidate = Candidate & { score: number };

/** False where the map does not know a row. */
function addAll(
  found: Map<bigint, MutableCandidate>,
  rows: Rows<typeof MESSAGES>,
  { weight, map }: { readonly weight: number; readonly map: TextMap | undefined },
): boolean {
  for (let at = 0; at < rows.length; at++) {
    const row = rows.rowId(at);
    const score = rows.score(at) * weight;
    const known = found.get(row);
    if (known !== undefined) {
      known.score += score;
      continue;
    }
    const session_id = map === undefined ? rows.string("session_id", at) : map.sessionOf(row);
    if (session_id === undefined) return false;
    found.set(row, { row, session_id, score });
  }
  return true;
}

/** Best first; of equal ones by session, then by row. */
export function byScore(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.session_id !== b.session_id) return a.session_id < b.session_id ? -1 : 1;
  return a.row < b.row ? -1 : 1;
}
