/**
 * Retrieval by words: BM25 over the indexed text, and over the pieces of names in it. Only keys are read here; all
 * queries get the whole scope as a prefilter (spec.md#search-prefilter-pushdown).
 */
import type { MESSAGES, SessionStore } from "../../sessions/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import type { Rows, SearchOptions } from "../../substrate/index.ts";
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

export async function rankByWords(
  store: SessionStore,
  query: WordQuery,
  { where, most }: { readonly where: Predicate<typeof MESSAGES> | undefined; readonly most: number },
): Promise<Ranked> {
  const arms = armsOf(query, where, most);
  const answers = await Promise.all(arms.map(({ options }) => store.tables.messages.search(options)));
  const found = new Map<bigint, { session_id: string; score: number }>();
  for (const [at, rows] of answers.entries()) addAll(found, rows, arms[at]?.weight ?? 0);
  const candidates = [...found].map(([row, { session_id, score }]) => ({ row, session_id, score }));
  return { candidates: candidates.toSorted(byScore), isCut: answers.some(({ length }) => length === most) };
}

/**
 * How rare each term is, by the best score of a query for it alone: the engine does not say in how many texts a word is. One
 * that no text has as it is may be there in another form, and counts as the rarest.
 */
export async function termWeights(
  store: SessionStore,
  { scored }: WordQuery,
): Promise<ReadonlyMap<string, number>> {
  const best = await Promise.all(
    [...scored].map(async ([term, word]): Promise<[string, number]> => {
      const options = {
        column: "search_text",
        query: { match: word },
        select: ["session_id"],
        limit: 1,
      } as const;
      const rows = await store.tables.messages.search(options);
      return [term, rows.length === 0 ? 0 : rows.score(0)];
    }),
  );
  const isForeign = foreignTerms([...scored.keys()]);
  const rarest = Math.max(...best.map(([, score]) => score), 0) || 1;
  return new Map(best.map(([term, score]) => [term, (score || rarest) * (isForeign(term) ? FOREIGN : 1)]));
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
  const plans = armsOf(query, where, 10).map(async ({ options, weight }) => {
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
  where: Predicate<typeof MESSAGES> | undefined,
  limit: number,
): readonly Arm[] {
  const arm = (column: "search_text" | "identifiers", { query: words, weight }: WeightedQuery): Arm => ({
    options: {
      column,
      query: words,
      select: ["session_id"],
      limit,
      ...(where === undefined ? {} : { where }),
    },
    weight,
  });
  return [...query.texts.map((text) => arm("search_text", text)), arm("identifiers", query.names)];
}

function addAll(
  found: Map<bigint, { session_id: string; score: number }>,
  rows: Rows<typeof MESSAGES>,
  weight: number,
): void {
  for (let row = 0; row < rows.length; row++) {
    const id = rows.rowId(row);
    const known = found.get(id);
    const score = rows.score(row) * weight;
    if (known === undefined) found.set(id, { session_id: rows.string("session_id", row), score });
    else known.score += score;
  }
}

function byScore(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.session_id !== b.session_id) return a.session_id < b.session_id ? -1 : 1;
  return a.row < b.row ? -1 : 1;
}
