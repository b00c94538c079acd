/**
 * Pieces of records (spec.md#model-ids): the further messages of one that the model's roles split are `<id>/<k>`. No id of a
 * source looks so (spec.md#model-identity), so that their name says whose they are.
 */

import type { ColumnPredicate } from "../../substrate/engine/predicate.ts";
import { matches } from "../../substrate/engine/predicate.ts";

/**
 * Rows that may be further pieces or versions of a record by their names: who looks for a record by its id finds only the
 * first piece of its first version.
 */
export const isDerivedName = <K extends string>(column: K): ColumnPredicate<K, string> =>
  matches(column, "/[0-9]+$|@[0-9a-f]{32}");

export interface PieceName {
  /** The row of the record's first message. */
  readonly of: string;
  readonly place: number;
}

/** Undefined for the first message of a record. */
export function pieceOf({
  id,
  record,
}: {
  readonly id: string;
  readonly record: string;
}): PieceName | undefined {
  const name = /^(.*)\/(\d+)$/s.exec(id);
  if (name?.[1] === undefined || name[2] === undefined) return undefined;
  // A row that is a record of its own, from before such names were refused.
  if (record !== id && record !== name[1] && !name[1].startsWith(`${record}@`)) return undefined;
  return { of: name[1], place: Number(name[2]) };
}
