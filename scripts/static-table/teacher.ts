/**
 * Vectors of the sentence model that the table imitates. Its runtime is native and runs here only, when the table is made;
 * what a sentence got is kept in the working folder.
 */
import { createRequire } from "node:module";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WordPiece } from "../../src/embeddings/onnx/wordpiece.ts";

export const TEACHER_DIMENSION = 384;
/** Tokens of one call. */
const BATCH_TOKENS = 2000;

export interface Vocabulary {
  /** In the order of their ids, the most frequent words first. */
  readonly tokens: readonly string[];
  readonly pieces: WordPiece;
}

export function vocabularyOf(model: string): Vocabulary {
  const { model: read } = JSON.parse(
    readFileSync(join(model, "models/Xenova/all-MiniLM-L6-v2/tokenizer.json"), "utf8"),
  );
  const tokens: string[] = [];
  for (const [token, id] of Object.entries(read.vocab)) tokens[Number(id)] = token;
  const ids = new Map(tokens.map((token, id) => [token, id]));
  return { tokens, pieces: new WordPiece({ ids, folds: true }) };
}

interface Runtime {
  readonly InferenceSession: {
    create(
      file: string,
      options: object,
    ): Promise<{
      run(feeds: object): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>;
    }>;
  };
  readonly Tensor: new (type: string, data: BigInt64Array, dims: readonly number[]) => object;
}

/** The mean vectors of some texts as ids, not normalised, one after the other. */
export class Teacher {
  readonly #model: string;
  readonly #runtime: string;

  constructor(model: string, runtime: string) {
    this.#model = model;
    this.#runtime = runtime;
  }

  async vectors(texts: readonly (readonly number[])[], cache: string): Promise<Float32Array> {
    if (existsSync(cache)) return new Float32Array(new Uint8Array(readFileSync(cache)).buffer);
    const runtime: Runtime = createRequire(join(this.#runtime, "package.json"))("onnxruntime-node");
    const session = await runtime.InferenceSession.create(
      join(this.#model, "models/Xenova/all-MiniLM-L6-v2/onnx/model_quantized.onnx"),
      { intraOpNumThreads: 1, interOpNumThreads: 1 },
    );
    const all = new Float32Array(texts.length * TEACHER_DIMENSION);
    for (const batch of batchesOf(texts)) {
      const rows = batch.map((at) => texts[at] ?? []);
      const longest = Math.max(...rows.map(({ length }) => length));
      const ids = new BigInt64Array(rows.length * longest);
      const mask = new BigInt64Array(rows.length * longest);
      for (const [row, tokens] of rows.entries())
        for (const [place, id] of tokens.entries()) {
          ids[row * longest + place] = BigInt(id);
          mask[row * longest + place] = 1n;
        }
      const tensor = (data: BigInt64Array): object =>
        new runtime.Tensor("int64", data, [rows.length, longest]);
      const answer = await session.run({
        input_ids: tensor(ids),
        attention_mask: tensor(mask),
        token_type_ids: tensor(new BigInt64Array(ids.length)),
      });
      const hidden = answer["last_hidden_state"]?.data ?? new Float32Array();
      for (const [row, at] of batch.entries()) {
        const mean = all.subarray(at * TEACHER_DIMENSION, (at + 1) * TEACHER_DIMENSION);
        const count = rows[row]?.length ?? 1;
        for (let token = 0; token < count; token++) {
          const from = (row * longest + token) * TEACHER_DIMENSION;
          for (let d = 0; d < TEACHER_DIMENSION; d++)
            mean[d] = (mean[d] ?? 0) + (hidden[from + d] ?? 0) / count;
        }
      }
    }
    writeFileSync(cache, new Uint8Array(all.buffer));
    return all;
  }
}

/** Places of texts of about one length together. */
function* batchesOf(texts: readonly (readonly number[])[]): Generator<readonly number[]> {
  const lengthOf = (at: number): number => texts[at]?.length ?? 0;
  const order = [...texts.keys()].toSorted((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  let batch: number[] = [];
  for (const at of order) {
    if (batch.length > 0 && (batch.length + 1) * lengthOf(batch[0] ?? at) > BATCH_TOKENS) {
      yield batch;
      batch = [];
    }
    batch.push(at);
  }
  if (batch.length > 0) yield batch;
}
