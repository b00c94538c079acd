/** A model in this thread: tokens in, the mean of what it makes of them out, texts of about one length at a time. */
import { PondError } from "../../base/errors.ts";
import { unitVector } from "../unit-vector.ts";
import type { ModelFolder } from "./model-folder.ts";
import type { Runtime, Session, Tensor } from "./runtime.ts";
import type { Encoded } from "./wordpiece.ts";
import { WordPiece } from "./wordpiece.ts";

/** Of one run, with what short texts are filled up with: more takes memory and gains nothing. */
const TOKENS_OF_A_RUN = 2_000;

export interface ModelVectors {
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly cut: number;
}

export class Model {
  readonly #runtime: Runtime;
  readonly #session: Session;
  readonly #tokenizer: WordPiece;
  readonly #window: number;

  private constructor(runtime: Runtime, session: Session, { vocabulary, window }: ModelFolder) {
    this.#runtime = runtime;
    this.#session = session;
    this.#tokenizer = new WordPiece(vocabulary);
    this.#window = window;
  }

  static async open(runtime: Runtime, folder: ModelFolder, threads: number): Promise<Model> {
    try {
      const session = await runtime.InferenceSession.create(folder.weights, {
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        // Warnings go to the terminal past everything.
        logSeverityLevel: 3,
      });
      return new Model(runtime, session, folder);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new PondError("validation_failed", `${folder.weights} cannot be loaded: ${why}`, {
        reason: "corrupt",
        hint: "get the folder of the model again",
        cause: error,
      });
    }
  }

  /** By trying it: no file says it for certain. */
  async dimension(): Promise<number> {
    const { vectors } = await this.embed(["word"]);
    if (vectors[0] === undefined) throw notThatKind("it gives no vector for a word");
    return vectors[0].length;
  }

  async embed(texts: readonly string[]): Promise<ModelVectors> {
    const vectors: (Float32Array | undefined)[] = texts.map(() => undefined);
    const encoded = texts.map((text) => this.#tokenizer.encode(text, this.#window));
    for (const run of runsOf(encoded)) {
      const made = await this.#run(run.map(({ ids }) => ids));
      for (const [index, { at }] of run.entries()) vectors[at] = made[index];
    }
    return { vectors, cut: encoded.filter(({ isCut }) => isCut).length };
  }

  async #run(texts: readonly (readonly number[])[]): Promise<readonly (Float32Array | undefined)[]> {
    const length = Math.max(...texts.map((ids) => ids.length));
    const [ids, mask] = [new BigInt64Array(texts.length * length), new BigInt64Array(texts.length * length)];
    for (const [row, tokens] of texts.entries())
      for (const [column, id] of tokens.entries()) {
        ids[row * length + column] = BigInt(id);
        mask[row * length + column] = 1n;
      }
    const inputs: Readonly<Record<string, BigInt64Array>> = {
      input_ids: ids,
      attention_mask: mask,
      token_type_ids: new BigInt64Array(ids.length),
    };
    const tensor = (name: string): Tensor => {
      const data = inputs[name];
      if (data === undefined) throw notThatKind(`it wants the input ${name}`);
      return new this.#runtime.Tensor("int64", data, [texts.length, length]);
    };
    const outputs = await this.#session.run(
      Object.fromEntries(this.#session.inputNames.map((name) => [name, tensor(name)])),
    );
    return meansOf(outputs[this.#session.outputNames[0] ?? ""], texts);
  }
}

interface Placed extends Encoded {
  readonly at: number;
}

/** By length, so that little is filled up. A text without tokens is in none. */
function runsOf(encoded: readonly Encoded[]): readonly (readonly Placed[])[] {
  const runs: Placed[][] = [];
  const placed = encoded
    .map((each, at) => ({ ...each, at }))
    .filter(({ ids }) => ids.length > 2)
    .toSorted((a, b) => a.ids.length - b.ids.length);
  for (const each of placed) {
    const run = runs.at(-1);
    if (run !== undefined && (run.length + 1) * each.ids.length <= TOKENS_OF_A_RUN) run.push(each);
    else runs.push([each]);
  }
  return runs;
}

/** Of the tokens that a text has, not of those that it was filled up with. */
function meansOf(
  output: Tensor | undefined,
  texts: readonly (readonly number[])[],
): readonly (Float32Array | undefined)[] {
  const { data, dims = [] } = output ?? {};
  const [rows, length, size] = dims;
  if (
    !(data instanceof Float32Array) ||
    dims.length !== 3 ||
    rows !== texts.length ||
    length === undefined ||
    !size
  )
    throw notThatKind(`its first output has the shape ${dims.join(" x ") || "of nothing"}`);
  return texts.map((tokens, row) => {
    const sums = new Float64Array(size);
    for (let token = 0; token < tokens.length; token++) {
      const start = (row * length + token) * size;
      for (let at = 0; at < size; at++) sums[at] = (sums[at] ?? 0) + (data[start + at] ?? Number.NaN);
    }
    if (!sums.every(Number.isFinite)) throw notThatKind("it gives something else than numbers");
    return unitVector(sums);
  });
}

const notThatKind = (why: string): PondError =>
  new PondError("validation_failed", `the model in embeddings.folder does not embed texts: ${why}`, {
    reason: "unsupported",
    hint: "use a model that gives a vector for each token, such as all-MiniLM-L6-v2",
  });
