/**
 * `onnxruntime-node`, an optional package: 288 MB that only who asks for a model on this machine installs. What of it is used
 * is declared here, so that pond compiles without it.
 */
import { errnoOf, PondError } from "../../base/errors.ts";

export const RUNTIME = "onnxruntime-node";

export interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
}

export interface Runtime {
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly InferenceSession: {
    create(path: string, options: Readonly<Record<string, unknown>>): Promise<Session>;
  };
}

export async function loadRuntime(specifier: string): Promise<Runtime> {
  try {
    const loaded: { readonly default?: Runtime } & Runtime = await import(specifier);
    return loaded.default ?? loaded;
  } catch (error) {
    const isMissing = errnoOf(error) === "ERR_MODULE_NOT_FOUND";
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new PondError(
      "validation_failed",
      isMissing
        ? `embeddings.provider = "onnx" needs the package ${RUNTIME}, which is not installed`
        : `the package ${RUNTIME} does not run here: ${why}`,
      {
        reason: "unsupported",
        // Its install script downloads what only graphics cards need, and without a network fails the whole installation.
        hint: `where pond is installed (with -g if pond was): npm install --no-save --ignore-scripts ${RUNTIME}@1.30.0`,
        cause: error,
      },
    );
  }
}
