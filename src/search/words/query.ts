/**
 * What a person typed, as queries for the engine (spec.md#search-language-neutral-index). The tokeniser splits
 * snake_case, paths and CJK; names in camelCase are taken apart here, in the query and, at ingest, in the text. Words that say
 * nothing are left out, and forms of English words asked for, by the language of the query itself
 * (spec.md#search-query-analysis).
 */
import { piecesOf } from "../../model/derived/identifiers.ts";
import type { TextQuery } from "../../substrate/index.ts";
import { segmentsOf } from "./segments.ts";
import { languageOf, withoutStopWords } from "./stop-words.ts";
import { termOf } from "../analysis/vocabulary.ts";
import { formsOf } from "../analysis/word-forms.ts";

export interface WordQuery {
  /** Over the indexed text, each with its weight. Apart, because the engine ranks a combined query over everything. */
  readonly texts: readonly WeightedQuery[];
  /** Over the pieces of names in it. */
  readonly names: WeightedQuery;
  /** What to look for in a found text, in lower case: words first, then pieces of names. */
  readonly terms: readonly string[];
  /** What candidates are ranked again by: terms as they are compared, each with the word to ask the engine for. */
  readonly scored: ReadonlyMap<string, string>;
}

export interface WeightedQuery {
  readonly query: TextQuery;
  readonly weight: number;
}

/** A name found by its pieces is a weaker sign than the word itself; so is another form of a word. */
const PIECES_WEIGHT = 0.5;
const FORMS_WEIGHT = 0.5;
/** Names of one query that are also looked for in other spellings. */
const MAX_NAMES = 4;
/** Terms that candidates are ranked again by; a pasted page has thousands. */
const MAX_SCORED = 24;
/** Words whose forms are asked for. */
const MAX_FORMED = 12;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

export function wordQuery(text: string): WordQuery {
  const words = text.match(WORD) ?? [];
  const lower = words.map((word) => word.toLowerCase());
  const language = languageOf(lower);
  const content = new Set(withoutStopWords(lower, language));
  const kept = words.filter((word) => content.has(word.toLowerCase()));
  const names = kept.filter((word) => piecesOf(word).length > 1);
  const pieces = kept.flatMap((word) => (names.includes(word) ? piecesOf(word) : [word.toLowerCase()]));
  // parseHttpRequest also finds parse_http_request: all of its pieces, as words.
  const variants = names.slice(0, MAX_NAMES).map((name): WeightedQuery => {
    const match = piecesOf(name).join(" ");
    return { query: { match, operator: "and" }, weight: PIECES_WEIGHT };
  });
  const isEnglish = language === undefined || language === "en";
  const forms = isEnglish ? [...content].slice(0, MAX_FORMED).flatMap(formsOf) : [];
  return {
    texts: [
      { query: { match: kept.flatMap(segmentsOf).join(" ") }, weight: 1 },
      ...(forms.length === 0 ? [] : [{ query: { match: forms.join(" ") }, weight: FORMS_WEIGHT }]),
      ...variants,
    ],
    names: { query: { match: pieces.join(" ") }, weight: PIECES_WEIGHT },
    terms: [...new Set([...kept.map((word) => word.toLowerCase()), ...pieces])],
    scored: scoredTerms([...kept.flatMap(segmentsOf), ...pieces]),
  };
}

/** Longer words first: they are rarer. */
function scoredTerms(words: readonly string[]): ReadonlyMap<string, string> {
  const terms = new Map<string, string>();
  for (const word of words) if (!terms.has(termOf(word))) terms.set(termOf(word), word.toLowerCase());
  const longest = [...terms].toSorted(([a], [b]) => b.length - a.length).slice(0, MAX_SCORED);
  return new Map(longest);
}
