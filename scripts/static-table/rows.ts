/** The rows of a table: where they start, what they are fitted to, and as bytes. */
import { Pieces } from "../../src/embeddings/static/pieces.ts";
import type { Axes } from "./axes.ts";
import { axesOf, projected } from "./axes.ts";
import type { Example } from "./fit.ts";
import { fit } from "./fit.ts";
import type { Pair } from "./sentences.ts";
import type { Budget } from "./vocabulary.ts";
import { addedPieces, keptTokens } from "./vocabulary.ts";

export interface Lesson {
  readonly pairs: readonly Pair[];
  /** The teacher's tokens in the order of their ids, and their vectors. */
  readonly tokens: readonly string[];
  readonly tokenVectors: Float32Array;
  /** English sentences, each with its place among their vectors. */
  readonly sentences: ReadonlyMap<string, number>;
  readonly sentenceVectors: Float32Array;
}

export interface Recipe {
  readonly dimension: number;
  readonly epochs: number;
  readonly budget: Budget;
}

export interface MadeRows {
  readonly pieces: readonly string[];
  readonly weights: Float32Array;
}

export function madeRows(lesson: Lesson, { dimension, epochs, budget }: Recipe): MadeRows {
  const axes = axesOf(epochs > 0 ? lesson.sentenceVectors : lesson.tokenVectors, dimension);
  const kept = keptTokens(lesson.tokens);
  const pieces = [...kept, ...addedPieces(lesson.pairs, new Set(kept), budget)];
  const weights = new Float32Array(pieces.length * dimension);
  weights.set(tokenRows(lesson, kept, axes));
  if (epochs === 0) return { pieces, weights };
  const targets = projected(lesson.sentenceVectors, axes);
  for (let from = 0; from < targets.length; from += dimension)
    scaleTo(targets.subarray(from, from + dimension), 1);
  const cutter = new Pieces(new Map(pieces.map((piece, row) => [piece, row])));
  const examples = lesson.pairs.flatMap(({ text, english }): readonly Example[] => {
    const rows = cutter.rowsOf(text).slice(0, 64);
    const target = lesson.sentences.get(english);
    return rows.length === 0 || target === undefined ? [] : [{ rows, target }];
  });
  startAdded(weights, examples, { dimension, targets, from: kept.length });
  fit(weights, examples, { dimension, targets, epochs });
  return { pieces, weights };
}

/** How much a frequent word counts: a/(a+p), p by Zipf from its rank. */
const FREQUENT = 1e-4;
const HARMONIC = 11;

function tokenRows({ tokens, tokenVectors }: Lesson, kept: readonly string[], axes: Axes): Float32Array {
  const dimension = axes.directions.length;
  const all = projected(tokenVectors, axes);
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const rows = new Float32Array(kept.length * dimension);
  for (const [at, token] of kept.entries()) {
    const id = ids.get(token) ?? 0;
    const row = rows.subarray(at * dimension, (at + 1) * dimension);
    row.set(all.subarray(id * dimension, (id + 1) * dimension));
    // The vocabulary begins with a thousand tokens that no text has.
    const share = 1 / (Math.max(1, id - 998) * HARMONIC);
    scaleTo(row, FREQUENT / (FREQUENT + share));
  }
  return rows;
}

function scaleTo(row: Float32Array, length: number): void {
  let square = 0;
  for (const value of row) square += value * value;
  const factor = square === 0 ? 0 : length / Math.sqrt(square);
  for (let at = 0; at < row.length; at++) row[at] = (row[at] ?? 0) * factor;
}

/** A piece that the teacher does not know starts as the mean of what it is found in. */
function startAdded(
  weights: Float32Array,
  examples: readonly Example[],
  {
    dimension,
    targets,
    from,
  }: { readonly dimension: number; readonly targets: Float32Array; readonly from: number },
): void {
  const counts = new Uint32Array(weights.length / dimension);
  let all = 0;
  for (const { rows, target } of examples)
    for (const row of rows) {
      all += 1;
      if (row < from) continue;
      counts[row] = (counts[row] ?? 0) + 1;
      for (let d = 0; d < dimension; d++)
        weights[row * dimension + d] =
          (weights[row * dimension + d] ?? 0) + (targets[target * dimension + d] ?? 0);
    }
  for (let row = from; row < counts.length; row++)
    scaleTo(
      weights.subarray(row * dimension, (row + 1) * dimension),
      FREQUENT / (FREQUENT + (counts[row] ?? 0) / all),
    );
}

/** Whole numbers of a byte, and for each row what one of them is worth. */
export function asBytes(
  weights: Float32Array,
  dimension: number,
): { scales: Float32Array; values: Int8Array } {
  const scales = new Float32Array(weights.length / dimension);
  const values = new Int8Array(weights.length);
  for (let row = 0; row < scales.length; row++) {
    const own = weights.subarray(row * dimension, (row + 1) * dimension);
    const scale = own.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
    scales[row] = scale;
    for (const [at, value] of own.entries())
      values[row * dimension + at] = scale === 0 ? 0 : Math.round(value / scale);
  }
  return { scales, values };
}
