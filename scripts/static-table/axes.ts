/** The directions in which vectors differ most: principal axes, by Jacobi rotations, so that every machine finds the same. */
import { TEACHER_DIMENSION } from "./teacher.ts";

const SIZE = TEACHER_DIMENSION;
const SWEEPS = 8;
/** Of two directions, what they still share. */
const SMALL = 1e-5;

export interface Axes {
  readonly mean: Float64Array;
  /** One after the other, the one with the most variance first. */
  readonly directions: readonly Float64Array[];
}

const rowsIn = (vectors: Float32Array): number => vectors.length / SIZE;

export function axesOf(vectors: Float32Array, dimension: number): Axes {
  const mean = new Float64Array(SIZE);
  const count = rowsIn(vectors);
  for (let at = 0; at < vectors.length; at++)
    mean[at % SIZE] = (mean[at % SIZE] ?? 0) + (vectors[at] ?? 0) / count;
  const matrix = covariance(vectors, mean);
  const basis = rotated(matrix);
  const order = [...mean.keys()].toSorted((a, b) => (matrix[b]?.[b] ?? 0) - (matrix[a]?.[a] ?? 0) || a - b);
  return { mean, directions: order.slice(0, dimension).map((at) => basis[at] ?? new Float64Array(SIZE)) };
}

/** Every so many vectors are enough for it. */
const MOST = 20_000;

function covariance(vectors: Float32Array, mean: Float64Array): readonly Float64Array[] {
  const matrix = Array.from({ length: SIZE }, () => new Float64Array(SIZE));
  const step = Math.max(1, Math.floor(rowsIn(vectors) / MOST));
  const centred = new Float64Array(SIZE);
  for (let row = 0; row < rowsIn(vectors); row += step) {
    for (let at = 0; at < SIZE; at++) centred[at] = (vectors[row * SIZE + at] ?? 0) - (mean[at] ?? 0);
    for (let a = 0; a < SIZE; a++) {
      const line = matrix[a] ?? centred;
      const value = centred[a] ?? 0;
      for (let b = 0; b < SIZE; b++) line[b] = (line[b] ?? 0) + value * (centred[b] ?? 0);
    }
  }
  return matrix;
}

/** Makes a symmetric matrix diagonal in place; the directions, one a row. */
function rotated(matrix: readonly Float64Array[]): readonly Float64Array[] {
  const basis = Array.from({ length: SIZE }, (_, at) => {
    const line = new Float64Array(SIZE);
    line[at] = 1;
    return line;
  });
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (let p = 0; p < SIZE; p++) for (let q = p + 1; q < SIZE; q++) rotate(matrix, basis, [p, q]);
  return basis;
}

function rotate(
  matrix: readonly Float64Array[],
  basis: readonly Float64Array[],
  [p, q]: readonly [number, number],
): void {
  const [lineP, lineQ, basisP, basisQ] = [matrix[p], matrix[q], basis[p], basis[q]];
  if (lineP === undefined || lineQ === undefined || basisP === undefined || basisQ === undefined) return;
  const off = lineP[q] ?? 0;
  if (Math.abs(off) <= SMALL * Math.sqrt(Math.abs((lineP[p] ?? 0) * (lineQ[q] ?? 0)))) return;
  const theta = ((lineQ[q] ?? 0) - (lineP[p] ?? 0)) / (2 * off);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  turn(lineP, lineQ, c, s);
  for (const line of matrix) {
    const [a, b] = [line[p] ?? 0, line[q] ?? 0];
    line[p] = c * a - s * b;
    line[q] = s * a + c * b;
  }
  turn(basisP, basisQ, c, s);
}

function turn(first: Float64Array, second: Float64Array, c: number, s: number): void {
  for (let at = 0; at < SIZE; at++) {
    const [a, b] = [first[at] ?? 0, second[at] ?? 0];
    first[at] = c * a - s * b;
    second[at] = s * a + c * b;
  }
}

/** Along the axes; not normalised. */
export function projected(vectors: Float32Array, { mean, directions }: Axes): Float32Array {
  const dimension = directions.length;
  const all = new Float32Array(rowsIn(vectors) * dimension);
  for (let row = 0; row < rowsIn(vectors); row++)
    for (const [d, direction] of directions.entries()) {
      let dot = 0;
      for (let at = 0; at < SIZE; at++)
        dot += ((vectors[row * SIZE + at] ?? 0) - (mean[at] ?? 0)) * (direction[at] ?? 0);
      all[row * dimension + d] = dot;
    }
  return all;
}
