/** Retrieval over messages: filters, candidates, snippets (spec.md#search-prefilter-pushdown). */
export type { Candidate } from "./candidates.ts";
export { byText, byWords, explainWords, searchable } from "./candidates.ts";
export type { Collapsed } from "./collapse.ts";
export { collapseCopies, newestVersions } from "./collapse.ts";
export type { Scope } from "./scope.ts";
export { scopeFilter } from "./scope.ts";
export { snippet } from "./snippet.ts";
