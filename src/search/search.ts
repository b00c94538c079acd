/** One search, whatever its mode (spec.md#wire-search): scope, hits by session, snippets, an honest count, the next page. */
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import type { Part } from "../model/index.ts";
import { openJson } from "../model/index.ts";
import type { SessionStore, SummaryList } from "../sessions/index.ts";
import type { HitGroup, ShownHit } from "./collapse.ts";
import { explainWords } from "./lexical.ts";
import type { LiteralPosition } from "./literal.ts";
import { searchLiterally } from "./literal.ts";
import { wordQuery } from "./query.ts";
import type { Scope, ScopeFilter } from "./scope.ts";
import { scopeOf } from "./scope.ts";
import { countSearchable } from "./searchable.ts";
import type { Snippet } from "./snippet.ts";
import { cutAround, snippetOf } from "./snippet.ts";
import { HitStandings } from "./standings.ts";
import type { WordPosition } from "./words.ts";
import { searchByWords } from "./words.ts";

export type Mode = "fts" | "exact" | "regex";

export interface SearchInput {
  readonly text: string;
  readonly mode: Mode;
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
  readonly next: SearchPosition | undefined;
}

export async function search(store: SessionStore, input: SearchInput): Promise<SearchPage> {
  const summaries = await store.summaries();
  const scope = scopeOf(summaries, input.filter);
  if (scope.sessions.length === 0) return NOTHING;
  const standings = new HitStandings(store, { summaries, includeSuperseded: input.includeSuperseded });
  const [page, searchable] = await Promise.all([
    input.mode === "fts"
      ? byWords(store, input, { scope, standings, summaries })
      : byText(store, input, { scope, standings }),
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
  next: undefined,
};

type Page = Omit<SearchPage, "searchable">;

interface Within {
  readonly scope: Scope;
  readonly standings: HitStandings;
}

async function byWords(
  store: SessionStore,
  input: SearchInput,
  within: Within & { readonly summaries: SummaryList },
): Promise<Page> {
  const after = input.after?.by === "words" ? input.after : undefined;
  const page = await searchByWords(store, { ...input, ...within, query: wordQuery(input.text), after });
  return { ...page, next: page.next === undefined ? undefined : { by: "words", ...page.next } };
}

async function byText(store: SessionStore, input: SearchInput, within: Within): Promise<Page> {
  const after = input.after?.by === "age" ? input.after : undefined;
  const kind = input.mode === "regex" ? "regex" : "exact";
  const page = await searchLiterally(store, { ...input, ...within, kind, after });
  return { ...page, next: page.next === undefined ? undefined : { by: "age", ...page.next } };
}

/** What is shown of the texts of some hits. */
export async function readSnippets(
  store: SessionStore,
  hits: readonly ShownHit[],
  input: SearchInput,
): Promise<ReadonlyMap<ShownHit, Snippet>> {
  const said = hits.filter(({ part }) => part === undefined);
  const inParts = hits.filter(({ part }) => part !== undefined);
  const [texts, parts] = await Promise.all([
    store.texts(said),
    store.parts(
      inParts.flatMap(({ part }) => part ?? []),
      { payloads: false },
    ),
  ]);
  const find = finder(input);
  const { terms } = wordQuery(input.text);
  const snippets = new Map<ShownHit, Snippet>();
  for (const [at, hit] of said.entries()) {
    const text = texts[at]?.text ?? texts[at]?.content ?? "";
    snippets.set(hit, input.mode === "fts" ? snippetOf(text, terms) : cutAround(text, find(text)));
  }
  for (const [at, hit] of inParts.entries()) {
    const leaves = parts[at] === undefined ? [] : [...textsIn(parts[at])];
    const text = leaves.find((leaf) => find(leaf) >= 0) ?? leaves.join("\n");
    snippets.set(hit, cutAround(text, find(text)));
  }
  return snippets;
}

/** Where the text stands, or -1. The engine's patterns are nearly JavaScript's; where they are not, nothing is centred. */
function finder({ mode, text }: SearchInput): (within: string) => number {
  if (mode !== "regex") return (within) => within.indexOf(text);
  const [, flags = "", source = ""] = /^(?:\(\?([ims]+)\))?([^]*)$/.exec(text) ?? [];
  try {
    const pattern = new RegExp(source, flags);
    return (within) => within.search(pattern);
  } catch {
    return () => -1;
  }
}

/** Every text in a part, in order. */
function* textsIn(part: Part): Generator<string> {
  if (part.type === "tool_call" && part.params !== undefined) yield* leavesOf(openJson(part.params));
  else if (part.type === "tool_result" && part.result !== undefined) yield* leavesOf(openJson(part.result));
  else if (part.type === "text" || part.type === "reasoning") yield part.text ?? "";
  else if (part.type === "file") yield [part.file_name, part.media_type].filter(Boolean).join(" ");
}

/** Without recursion: what a tool returned may be nested deeper than a stack. */
function* leavesOf(value: JsonValue): Generator<string> {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") yield next;
    else if (Array.isArray(next)) for (const item of next.toReversed()) open.push(item);
    else if (isJsonObject(next)) for (const item of Object.values(next).toReversed()) open.push(item);
  }
}
