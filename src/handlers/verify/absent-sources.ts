/** Recorded sources that are not on disk, or not as such: gone, moved, or of another machine. None of that is wrong. */
import { existsSync } from "node:fs";
import { sep } from "node:path";
import type { Place } from "../../adapters/index.ts";
import { realPathOf } from "../import/importer.ts";
import type { RecordedStates } from "./recorded-states.ts";
import type { VerifyTally } from "./report.ts";

export interface Inspected {
  readonly places: readonly Place[];
  /** Every place of the client was looked at, none was named. */
  readonly isEverywhere: boolean;
  /** Paths and keys of sources that are there and told nothing, or not all. */
  readonly unread: ReadonlySet<string>;
  /** Files and folders that could not be looked at: what is in them is not known to be gone. */
  readonly hidden: readonly string[];
}

/** To be asked when everything on disk was looked at. */
export function countAbsent(recorded: RecordedStates, looked: Inspected, tally: VerifyTally): void {
  const roots = looked.places.map((place) => ({ ...place, root: realPathOf(place.path) }));
  const hidden = looked.hidden.flatMap((path) => [path, realPathOf(path)]);
  for (const source of recorded.sources) {
    const { path, key } = source.latest;
    if (source.isFound || looked.unread.has(path) || looked.unread.has(key)) continue;
    if (hidden.some((at) => path === at || path.startsWith(at + sep))) continue;
    const isIn = roots.some((place) => isInspected(place, path));
    const isThere = existsSync(path);
    // What is there and was not looked at says nothing; what was named says nothing of what was not.
    if (!isIn && (isThere || !looked.isEverywhere)) continue;
    if (recorded.isMoved(source)) tally.count("moved");
    else tally.count(recorded.isMine(source.latest) ? "gone" : "elsewhere");
  }
}

function isInspected({ path: place, files, within }: Place, path: string): boolean {
  if (path !== place && !path.startsWith(place + sep)) return false;
  const meant = files ?? within;
  return meant === undefined || meant.some((each) => path === each || (path + sep).startsWith(each));
}
