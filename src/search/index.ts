/** Retrieval over stored messages (spec.md#search-hybrid): by words, or by exact text and patterns. */
export type { HitGroup, ShownHit } from "./hits/collapse.ts";
export type { ScopeFilter } from "./hits/scope.ts";
export { isInScope } from "./hits/scope.ts";
export type { SearchedIn, SearchInput, SearchPosition } from "./search.ts";
export { readOtherParts } from "./read-other-parts.ts";
export { readSnippets } from "./read-snippets.ts";
export { explainSearch, search } from "./search.ts";
export type { VectorSource } from "./vectors/near.ts";
export type { Snippet } from "./snippet/snippet.ts";
