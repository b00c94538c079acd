/** One search, whatever its mode (spec.md#wire-search): scope, hits by session, an honest count, the next page. */
import type { Clock } from "../base/clock.ts";
import type { MessageKey } from "../model/index.ts";
import type { SessionStore, SummaryList } from "../sessions/index.ts";
import type { HitGroup } from "./hits/collapse.ts";
import { explainWords } from "./words/lexical.ts";
import type { LiteralPosition } from "./exact/literal.ts";
import { searchLiterally } from "./exact/literal.ts";
import { OriginalMessages } from "./hits/origins.ts";
import { wordQuery } from "./words/query.ts";
import type { Scope, ScopeFilter } from "./hits/scope.ts";
import { scopeOf } from "./hits/scope.ts";
import { explainParts, isPartFilter, pushedDown, withPartsOf } from "./hits/part-scope.ts";
import { countSearchable } from "./hits/searchable.ts";
import { HitStates } from "./hits/hit-states.ts";
import type { ArmScores } from "./vectors/fuse.ts";
import { nearness } from "./vectors/fuse.ts";
import type { VectorSource, VectorUse } from "./vectors/near.ts";
import { explainNear, nearMessage } from "./vectors/near.ts";
import type { WordPage, WordPosition } from "./words/words.ts";
import { pageOf, rankMessages, searchByWords } from "./words/words.ts";

/** The conversation; tool calls and results; everything, also reasoning, injected text and system messages. */
export type SearchedIn = "text" | "tools" | "all";

export type Mode = "words" | "exact" | "regex";

export interface SearchInput {
  readonly text: string;
  readonly mode: Mode;
  /** Where exact text and patterns are looked for. */
  readonly searchedIn: SearchedIn;
  readonly filter: ScopeFilter;
  /** Sessions of the page, and hits of each. */
  readonly limit: number;
  readonly perSession: number;
  readonly minScore: number;
  /** Versions too that another one of their record replaced. */
  readonly includeSuperseded: boolean;
  /** `next` of the page before. */
  readonly after?: SearchPosition;
  /** What queries are embedded with; words alone where it is absent. */
  readonly vectors?: VectorSource | undefined;
  /** Messages that are like this one are meant, whatever the text. */
  readonly similarTo?: MessageKey;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type SearchPosition =
  | ({ readonly by: "words" } & WordPosition)
  | ({ readonly by: "age" } & LiteralPosition);

export interface SearchPage {
  readonly groups: readonly HitGroup[];
  readonly matched: number;
  readonly isExact: boolean;
  /** Messages with text that the filters left. */
  readonly searchable: number;
  /** Sessions in scope that are left for the next pages, where there is no index to say what they hold. */
  readonly unsearched: number;
  readonly next: SearchPosition | undefined;
  /** Absent where exact text or a pattern was looked for. */
  readonly vectors?: VectorUse;
}

export async function search(store: SessionStore, input: SearchInput): Promise<SearchPage> {
  const summaries = await store.summaries();
  const scope = await narrowed(store, scopeOf(summaries, input.filter), input);
  if (scope.sessions.length === 0) return NOTHING;
  const states = new HitStates(store, { summaries, includeSuperseded: input.includeSuperseded });
  const [page, searchable] = await Promise.all([
    input.mode === "words" || input.similarTo !== undefined
      ? byWords(store, input, { scope, rowStates: states, summaries })
      : byText(store, input, { scope, rowStates: states, origins: new OriginalMessages(store, summaries) }),
    countSearchable(store, scope, summaries),
  ]);
  return { ...page, searchable };
}

export interface Explanation {
  /** The engine's plans: the filters that an index takes stand below the arms. */
  readonly plan: string;
  readonly vectors: VectorUse;
  /** The first messages as they were ranked, with what each arm gave. */
  readonly ranked: readonly ExplainedMessage[];
}

export interface ExplainedMessage extends MessageKey {
  readonly score: number;
  /** Where vectors took part: from 0 to 1, words by how much of the query the best one has. */
  readonly arms?: ArmScores;
}

/** Messages that an explanation shows. */
const MOST_EXPLAINED = 20;

/** How a search by words is answered, instead of its answer. */
export async function explainSearch(store: SessionStore, input: SearchInput): Promise<Explanation> {
  const summaries = await store.summaries();
  const scope = await narrowed(store, scopeOf(summaries, input.filter), input);
  const query = wordQuery(input.text);
  const rowStates = new HitStates(store, { summaries, includeSuperseded: input.includeSuperseded });
  const request = { ...input, scope, summaries, query, rowStates, most: MOST_EXPLAINED };
  const [words, near, { candidates, arms, vectors }] = await Promise.all([
    explainWords(store, query, pushedDown(scope)),
    explainNear(store, input.vectors, request),
    rankMessages(store, request),
  ]);
  const parts = scope.parts === undefined ? [] : [await explainParts(store, scope.parts.filter)];
  const first = candidates.slice(0, MOST_EXPLAINED);
  const heads = new Map((await store.heads(first.map(({ row }) => row))).map((head) => [head.row, head]));
  return {
    plan: [...parts, words, ...(near === undefined ? [] : [`vectors:\n${near}`])].join("\n"),
    vectors,
    ranked: first.flatMap(({ row, score }) => {
      const head = heads.get(row);
      const own = arms?.get(row);
      if (head === undefined) return [];
      const { session_id, id } = head;
      return [{ session_id, id, score, ...(own === undefined ? {} : { arms: own }) }];
    }),
  };
}

/** By what messages have in their parts, where that is asked for. */
async function narrowed(store: SessionStore, scope: Scope, { filter, mode }: SearchInput): Promise<Scope> {
  const { tool_name, failedOnly = false } = filter;
  const ofParts = { ...(tool_name === undefined ? {} : { tool_name }), failedOnly };
  if (!isPartFilter(ofParts)) return scope;
  return withPartsOf(store, scope, { filter: ofParts, withText: mode === "words" });
}

const NOTHING: SearchPage = {
  groups: [],
  matched: 0,
  isExact: true,
  searchable: 0,
  unsearched: 0,
  next: undefined,
};

type Page = Omit<SearchPage, "searchable">;

interface Within {
  readonly scope: Scope;
  readonly rowStates: HitStates;
}

async function byWords(
  store: SessionStore,
  input: SearchInput,
  within: Within & { readonly summaries: SummaryList },
): Promise<Page> {
  const after = input.after?.by === "words" ? input.after : undefined;
  const request = { ...input, ...within, query: wordQuery(input.text), after };
  const page =
    input.similarTo === undefined
      ? await searchByWords(store, request)
      : await searchSimilar(store, input.similarTo, request);
  const next = page.next === undefined ? undefined : ({ by: "words", ...page.next } as const);
  return { ...page, unsearched: 0, next };
}

/** By the vector of a stored message: no model is asked. */
async function searchSimilar(
  store: SessionStore,
  message: MessageKey,
  request: Parameters<typeof searchByWords>[1],
): Promise<WordPage> {
  const { use, messages, scale } = await nearMessage(store, message, {
    source: request.vectors,
    scope: request.scope,
  });
  const candidates = messages
    .filter(({ session_id }) => request.summaries.get(session_id) !== undefined)
    .map(({ row, session_id, similarity }) => ({ row, session_id, score: nearness(similarity, scale) }))
    .filter(({ score }) => score > 0);
  const ranked = { candidates, arms: undefined, isCut: false, map: undefined, vectors: use };
  return pageOf(store, ranked, { ...request, canRankMore: false });
}

async function byText(
  store: SessionStore,
  input: SearchInput,
  within: Within & { readonly origins: OriginalMessages },
): Promise<Page> {
  const after = input.after?.by === "age" ? input.after : undefined;
  const kind = input.mode === "regex" ? "regex" : "exact";
  const page = await searchLiterally(store, { ...input, ...within, kind, after });
  return { ...page, next: page.next === undefined ? undefined : { by: "age", ...page.next } };
}
