/**
 * What a person typed, as queries for the engine (spec.md#search-language-neutral-index). The tokeniser splits
 * snake_case, paths and CJK; names in camelCase are taken apart here, in the query and, at ingest, in the text.
 */
import { piecesOf } from "../model/derived/identifiers.ts";
import type { TextQuery } from "../substrate/index.ts";

export interface WordQuery {
  /** Over the indexed text, each with its weight. Apart, because the engine ranks a combined query over everything. */
  readonly texts: readonly WeightedQuery[];
  /** Over the pieces of names in it. */
  readonly names: WeightedQuery;
  /** What to look for in a found text, in lower case: words first, then pieces of names. */
  readonly terms: readonly string[];
}

export interface WeightedQuery {
  readonly query: TextQuery;
  readonly weight: number;
}

/** A name found by its pieces is a weaker sign than the word itself. */
const PIECES_WEIGHT = 0.5;
/** Names of one query that are also looked for in other spellings. */
const MAX_NAMES = 4;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

export function wordQuery(text: string): WordQuery {
  const words = text.match(WORD) ?? [];
  const names = words.filter((word) => piecesOf(word).length > 1);
  const pieces = words.flatMap((word) => (names.includes(word) ? piecesOf(word) : [word.toLowerCase()]));
  // parseHttpRequest also finds parse_http_request: all of its pieces, as words.
  const variants = names.slice(0, MAX_NAMES).map((name): WeightedQuery => {
    const match = piecesOf(name).join(" ");
    return { query: { match, operator: "and" }, weight: PIECES_WEIGHT };
  });
  return {
    texts: [{ query: { match: text }, weight: 1 }, ...variants],
    names: { query: { match: pieces.join(" ") }, weight: PIECES_WEIGHT },
    terms: [...new Set([...words.map((word) => word.toLowerCase()), ...pieces])],
  };
}
