/** "Did you mean ...?": the candidate that a typing slip most likely meant. Pure. */

/** The nearest candidate, or undefined when none is near enough to be worth a guess. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  // One slip in three letters: more than that is another word, and a wrong guess is worse than none.
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? (typed.length > 1 ? candidates.find((c) => c.toLowerCase().startsWith(typed)) : undefined);
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(beforePrevious, j - 2) + 1);
      row.push(cost);
    }
    [beforePrevious, previous] = [previous, row];
  }
  return at(previous, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0;
