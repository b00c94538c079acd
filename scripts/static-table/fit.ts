/**
 * Fits rows so that the sum of a text's rows points where the teacher's vector does: Adam over the rows that a batch has, in
 * an order that a counter shuffles. No randomness, no threads: the same input gives the same rows.
 */
export interface Example {
  /** Rows of its pieces. */
  readonly rows: readonly number[];
  /** Which target is its own. */
  readonly target: number;
}

export interface Fitting {
  readonly dimension: number;
  /** Unit vectors, one after the other. */
  readonly targets: Float32Array;
  readonly epochs: number;
}

const BATCH = 64;
const RATE = 0.003;
const [B1, B2] = [0.9, 0.999];

export function fit(
  weights: Float32Array,
  examples: readonly Example[],
  { dimension, targets, epochs }: Fitting,
): void {
  const first = new Float32Array(weights.length);
  const second = new Float32Array(weights.length);
  const steps = new Uint32Array(weights.length / dimension);
  const gradients = new Float32Array(weights.length);
  const sum = new Float64Array(dimension);
  const all = Math.ceil(examples.length / BATCH) * epochs;
  let batch = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffled(examples.length, epoch);
    let similar = 0;
    for (let start = 0; start < order.length; start += BATCH, batch++) {
      const touched = new Set<number>();
      for (let at = start; at < Math.min(order.length, start + BATCH); at++)
        similar += learn(examples[order[at] ?? 0]);
      const rate = RATE * (1 - batch / all);
      for (const row of touched) step(row, rate);

      function learn(example: Example | undefined): number {
        if (example === undefined) return 0;
        sum.fill(0);
        for (const row of example.rows)
          for (let d = 0, from = row * dimension; d < dimension; d++) sum[d]! += weights[from + d]!;
        let square = 1e-12;
        let dot = 0;
        const to = example.target * dimension;
        for (let d = 0; d < dimension; d++) {
          square += sum[d]! * sum[d]!;
          dot += sum[d]! * targets[to + d]!;
        }
        const norm = Math.sqrt(square);
        const cosine = dot / norm;
        for (let d = 0; d < dimension; d++) sum[d] = ((cosine * sum[d]!) / norm - targets[to + d]!) / norm;
        for (const row of example.rows) {
          touched.add(row);
          for (let d = 0, from = row * dimension; d < dimension; d++) gradients[from + d]! += sum[d]!;
        }
        return cosine;
      }
    }
    console.log(`epoch ${epoch + 1}: mean cosine ${(similar / examples.length).toFixed(4)}`);
  }

  function step(row: number, rate: number): void {
    const count = (steps[row] = (steps[row] ?? 0) + 1);
    const correct = Math.sqrt(1 - B2 ** count) / (1 - B1 ** count);
    for (let at = row * dimension; at < (row + 1) * dimension; at++) {
      const gradient = gradients[at]!;
      gradients[at] = 0;
      first[at] = B1 * first[at]! + (1 - B1) * gradient;
      second[at] = B2 * second[at]! + (1 - B2) * gradient * gradient;
      weights[at]! -= (rate * correct * first[at]!) / (Math.sqrt(second[at]!) + 1e-8);
    }
  }
}

/** Places from 0 in another order, the same for the same seed. */
export function shuffled(length: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length }, (_, at) => at);
  let state = (seed + 1) * 0x9e3779b9;
  for (let at = length - 1; at > 0; at--) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const other = (state >>> 0) % (at + 1);
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}
