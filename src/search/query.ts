/**
 * What a person typed, as queries for the engine (spec.md#search-language-neutral-index). The tokeniser splits
 * snake_case, paths and CJK; names in camelCase are taken apart here, in the query and, at ingest, in the text.
 */
import { piecesOf } from "../model/index.ts";
import type { TextQuery } from "../substrate/index.ts";

export interface WordQuery {
  /** Over the indexed text. */
  readonly text: TextQuery;
  /** Over the pieces of names in it. */
  readonly names: TextQuery;
  /** What to look for in a found text, in lower case: words first, then pieces of names. */
  readonly terms: readonly string[];
}

/** A name found by its pieces is a weaker sign than the word itself. */
const PIECES_BOOST = 0.5;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

export function wordQuery(text: string): WordQuery {
  const words = text.match(WORD) ?? [];
  const names = words.filter((word) => piecesOf(word).length > 1);
  const pieces = words.flatMap((word) => (names.includes(word) ? piecesOf(word) : [word.toLowerCase()]));
  // parseHttpRequest also finds parse_http_request: all of its pieces, as words.
  const spelled = names.map((name): TextQuery => ({
    match: piecesOf(name).join(" "),
    operator: "and",
    boost: PIECES_BOOST,
  }));
  return {
    text: spelled.length === 0 ? { match: text } : { should: [{ match: text }, ...spelled] },
    names: { match: pieces.join(" ") },
    terms: [...new Set([...words.map((word) => word.toLowerCase()), ...pieces])],
  };
}
