/**
 * Retrieval by words: BM25 over the indexed text, and over the pieces of names in it. Only keys are read here; both
 * queries get the whole scope as a prefilter (spec.md#search-prefilter-pushdown).
 */
import type { SessionStore } from "../sessions/index.ts";
import type { Predicate, Rows, SearchOptions } from "../substrate/index.ts";
import type { MESSAGES } from "../sessions/index.ts";
import type { WordQuery } from "./query.ts";

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

/** A name that only contains the word counts less than the word itself. */
const NAMES_WEIGHT = 0.5;

export async function rankByWords(
  store: SessionStore,
  query: WordQuery,
  { where, most }: { readonly where: Predicate | undefined; readonly most: number },
): Promise<Ranked> {
  const { messages } = store.tables;
  const [text, names] = await Promise.all([
    messages.search(textArm(query, where, most)),
    messages.search(namesArm(query, where, most)),
  ]);
  const found = new Map<bigint, { session_id: string; score: number }>();
  addAll(found, text, 1);
  addAll(found, names, NAMES_WEIGHT);
  const candidates = [...found].map(([row, { session_id, score }]) => ({ row, session_id, score }));
  return { candidates: candidates.toSorted(byScore), isCut: text.length === most || names.length === most };
}

/** The engine's plans of both queries. */
export async function explainWords(
  store: SessionStore,
  query: WordQuery,
  where: Predicate | undefined,
): Promise<string> {
  const { messages } = store.tables;
  const plans = [textArm(query, where, 10), namesArm(query, where, 10)].map((arm) => messages.explain(arm));
  const [text, names] = await Promise.all(plans);
  return `indexed text:\n${text ?? ""}\npieces of names:\n${names ?? ""}`;
}

type Arm = SearchOptions<typeof MESSAGES>;

const textArm = ({ text }: WordQuery, where: Predicate | undefined, limit: number): Arm => ({
  column: "search_text",
  query: text,
  select: ["session_id"],
  limit,
  ...(where === undefined ? {} : { where }),
});

const namesArm = ({ names }: WordQuery, where: Predicate | undefined, limit: number): Arm => ({
  ...textArm({ text: names, names, terms: [] }, where, limit),
  column: "identifiers",
});

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
