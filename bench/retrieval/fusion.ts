/** Both arms as one ranking of sessions, by how much of the question the words cover. */
import type { Ranked } from "./evaluate.ts";
import type { CorpusTexts } from "./vectors-arm.ts";
import type { WordsArm } from "./words-arm.ts";

export interface Fusion {
  /** Of the vectors; words have the rest. */
  readonly weight: number;
  /** Vectors count by what the words leave uncovered: the weight is multiplied with it. */
  readonly isOpen: boolean;
  /** How a cosine becomes a share: between the least and the best candidate, or between two cosines that never change. */
  readonly scale: "candidates" | "fixed";
}

/** Candidates of the vectors. */
const MOST = 200;
/** Below the first two texts have nothing in common, above the second everything. */
const FIXED = { least: 0.1, best: 0.7 };
const PAGE = 10;

/** The nearest texts, by place, the nearest first. */
export function nearest(cosines: Float32Array): ReadonlyMap<number, number> {
  const order = [...cosines.keys()].toSorted((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0) || a - b);
  return new Map(order.slice(0, MOST).map((at) => [at, cosines[at] ?? 0]));
}

function sharesOf(near: ReadonlyMap<number, number>, scale: Fusion["scale"]): ReadonlyMap<number, number> {
  const cosines = [...near.values()];
  const { least, best } = scale === "fixed" ? FIXED : { least: cosines.at(-1) ?? 0, best: cosines[0] ?? 0 };
  const share = (cosine: number): number =>
    best > least ? Math.min(1, Math.max(0, (cosine - least) / (best - least))) : 0;
  return new Map([...near].map(([place, cosine]) => [place, share(cosine)]));
}

/** Sessions by their best message, the best first, as many as a page has. */
export function fused(
  {
    words,
    near,
    texts,
  }: { readonly words: WordsArm; readonly near: ReadonlyMap<number, number>; readonly texts: CorpusTexts },
  { weight: most, isOpen, scale }: Fusion,
): readonly Ranked[] {
  const shares = sharesOf(near, scale);
  const weight = shares.size === 0 ? 0 : most * (isOpen ? 1 - words.coverage : 1);
  const best = new Map<string, number>();
  for (const place of new Set([...words.scores.keys(), ...shares.keys()])) {
    const lexical = (words.scores.get(place) ?? 0) * words.coverage;
    const score = (1 - weight) * lexical + weight * (shares.get(place) ?? 0);
    const session = texts.all[place]?.session ?? "";
    best.set(session, Math.max(best.get(session) ?? 0, score));
  }
  return [...best]
    .map(([session, score]) => ({ session, score }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, PAGE);
}
