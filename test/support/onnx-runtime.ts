/**
 * In place of `onnxruntime-node`: what the weights file says decides how it behaves. A token's vector is its id and 1;
 * what a text was filled up with has one that would be seen in any mean.
 */
import { readFileSync } from "node:fs";
import type { Session, Tensor as AnyTensor } from "../../src/embeddings/onnx/runtime.ts";

export class Tensor implements AnyTensor {
  readonly type: string;
  readonly data: BigInt64Array;
  readonly dims: readonly number[];
  constructor(type: string, data: BigInt64Array, dims: readonly number[]) {
    this.type = type;
    this.data = data;
    this.dims = dims;
  }
}

export const InferenceSession = {
  create: async (path: string): Promise<Session> => {
    const behaviour = readFileSync(path, "utf8");
    if (behaviour === "broken") throw new Error("protobuf parsing failed");
    return {
      inputNames: behaviour === "other input" ? ["pixels"] : ["input_ids", "attention_mask"],
      outputNames: ["last_hidden_state"],
      run: async (inputs) => ({ last_hidden_state: outputFor(behaviour, inputs) }),
    };
  },
};

function outputFor(behaviour: string, inputs: Readonly<Record<string, AnyTensor>>): AnyTensor {
  const { input_ids: ids, attention_mask: mask } = inputs;
  if (!(ids instanceof Tensor) || !(mask instanceof Tensor)) throw new Error("no ids or no mask");
  const [rows = 0, length = 0] = ids.dims;
  if (rows * length > 2000 && rows > 1) throw new Error(`${rows} x ${length} tokens in one run`);
  if (behaviour === "dies on 7" && ids.data.includes(7n)) process.exit(3);
  if (behaviour === "hangs on 7" && ids.data.includes(7n)) for (;;);
  const data = new Float32Array(rows * length * 2);
  for (let at = 0; at < rows * length; at++)
    data.set(
      mask.data[at] === 1n ? [behaviour === "nan" ? Number.NaN : Number(ids.data[at]), 1] : [1e6, -1e6],
      at * 2,
    );
  return { data, dims: behaviour === "pooled" ? [rows, length * 2] : [rows, length, 2] };
}
