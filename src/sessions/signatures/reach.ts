/**
 * How far signatures reach (spec.md#search-signatures). Each building commits its signatures with the stretch of row ids that
 * they are of; only stretches that follow each other from the first row on count. Where a table was made anew while another
 * process was still building on the old one, the beginning is missing, and nothing of it counts. Pure.
 */

export interface Stretch {
  readonly from: number;
  /** Past the last row. */
  readonly to: number;
  /** The key of the last row: in a table that went back in time another one has its id. */
  readonly lastKey: string;
}

/** All rows before `to`. */
export type Reach = Pick<Stretch, "to" | "lastKey">;

export const NOTHING: Reach = { to: 0, lastKey: "" };

export function reachOf(stretches: readonly Stretch[]): Reach {
  let reach = NOTHING;
  for (const stretch of stretches.toSorted((a, b) => a.from - b.from))
    if (stretch.from <= reach.to && stretch.to > reach.to) reach = stretch;
  return reach;
}
