/** Full-text queries as data, and their engine form. */
import { PondError } from "../../base/errors.ts";
import type { Lance, LanceDb } from "./lance.ts";

export interface MatchText {
  readonly match: string;
  /** Whether all words must be there; default "or". */
  readonly operator?: "or" | "and";
  /** Edit distance a word may be off by; only rows in the index are matched so. */
  readonly fuzziness?: 0 | 1 | 2;
  readonly boost?: number;
}

/** Words in this order; needs an index with positions. */
export interface PhraseText {
  readonly phrase: string;
  readonly slop?: number;
}

/** At least one of must and should is given. */
export interface BooleanText {
  readonly must?: readonly TextQuery[];
  readonly should?: readonly TextQuery[];
  readonly mustNot?: readonly TextQuery[];
}

export type TextQuery = MatchText | PhraseText | BooleanText;

export function toEngineQuery(lance: Lance, query: TextQuery, column: string): LanceDb.FullTextQuery {
  const { MatchQuery, PhraseQuery, BooleanQuery, Occur, Operator } = lance.lancedb;
  if ("match" in query)
    return new MatchQuery(query.match.toWellFormed(), column, {
      operator: query.operator === "and" ? Operator.And : Operator.Or,
      ...(query.fuzziness === undefined ? {} : { fuzziness: query.fuzziness }),
      ...(query.boost === undefined ? {} : { boost: query.boost }),
    });
  if ("phrase" in query)
    return new PhraseQuery(query.phrase.toWellFormed(), column, { slop: query.slop ?? 0 });
  const clauses = [
    ...(query.must ?? []).map((each): [LanceDb.Occur, LanceDb.FullTextQuery] => [
      Occur.Must,
      toEngineQuery(lance, each, column),
    ]),
    ...(query.should ?? []).map((each): [LanceDb.Occur, LanceDb.FullTextQuery] => [
      Occur.Should,
      toEngineQuery(lance, each, column),
    ]),
    ...(query.mustNot ?? []).map((each): [LanceDb.Occur, LanceDb.FullTextQuery] => [
      Occur.MustNot,
      toEngineQuery(lance, each, column),
    ]),
  ];
  if (clauses.length === (query.mustNot?.length ?? 0))
    throw new PondError("validation_failed", "a search that only excludes words finds nothing", {
      hint: "add a word to look for",
    });
  return new BooleanQuery(clauses);
}
