/** Differences, counted and the first of them printed. */

/** How many are printed of one step or table; the rest is only counted. */
const SHOWN = 20;

export interface Report {
  readonly differences: number;
  /** `about` groups: of each group only the first are printed. */
  add(what: string, about?: string): void;
}

export function newReport(): Report {
  const counts = new Map<string, number>();
  let differences = 0;
  return {
    get differences() {
      return differences;
    },
    add(what, about = "") {
      differences++;
      const count = (counts.get(about) ?? 0) + 1;
      counts.set(about, count);
      if (count <= SHOWN) console.log(`  DIFFERS ${what}`);
      else if (count === SHOWN + 1) console.log(`  DIFFERS ... and more of ${about}`);
    },
  };
}
