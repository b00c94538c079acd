/** Vectors of length 1: the product of two of them is the cosine of what they stand for. Pure. */

/** Undefined for one that has no direction. Sums are of doubles, so that a large number of a server is not lost. */
export function unitVector(values: ArrayLike<number>): Float32Array | undefined {
  let squares = 0;
  for (let at = 0; at < values.length; at++) squares += (values[at] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (length === 0 || !Number.isFinite(length)) return undefined;
  return Float32Array.from(values, (value) => value / length);
}
