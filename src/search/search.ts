/** One search, whatever its mode (spec.md#wire-search): scope, hits by session, an honest count, the next page. */
import type { Clock } from "../base/clock.ts";
import type { SessionStore, SummaryList } from "../sessions/index.ts";
import type { HitGroup } from "./hits/collapse.ts";
import { explainWords } from "./words/lexical.ts";
import type { LiteralPosition } from "./exact/literal.ts";
import { searchLiterally } from "./exact/literal.ts";
import { OriginalMessages } from "./hits/origins.ts";
import { wordQuery } from "./words/query.ts";
import type { Scope, ScopeFilter } from "./hits/scope.ts";
import { scopeOf } from "./hits/scope.ts";
import { countSearchable } from "./hits/searchable.ts";
import { HitStates } from "./hits/hit-states.ts";
import type { WordPosition } from "./words/words.ts";
import { searchByWords } from "./words/words.ts";

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
}

export async function search(store: SessionStore, input: SearchInput): Promise<SearchPage> {
  const summaries = await store.summaries();
  const scope = scopeOf(summaries, input.filter);
  if (scope.sessions.length === 0) return NOTHING;
  const states = new HitStates(store, { summaries, includeSuperseded: input.includeSuperseded });
  const [page, searchable] = await Promise.all([
    input.mode === "words"
      ? byWords(store, input, { scope, rowStates: states, summaries })
      : byText(store, input, { scope, rowStates: states, origins: new OriginalMessages(store, summaries) }),
    countSearchable(store, scope, summaries),
  ]);
  return { ...page, searchable };
}

/** How the engine answers it: the filters that an index takes stand below the arms. */
export async function explainSearch(store: SessionStore, input: SearchInput): Promise<string> {
  const { messages } = scopeOf(await store.summaries(), input.filter);
  return explainWords(store, wordQuery(input.text), messages);
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
  const page = await searchByWords(store, { ...input, ...within, query: wordQuery(input.text), after });
  const next = page.next === undefined ? undefined : ({ by: "words", ...page.next } as const);
  return { ...page, unsearched: 0, next };
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
