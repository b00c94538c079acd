/** The thread of a model, so that the others go on meanwhile. Started by onnx-embedder.ts, imported by nothing. */
import { parentPort } from "node:worker_threads";
import { PondError } from "../../base/errors.ts";
import { answerCalls } from "../../base/thread-calls.ts";
import { readModelFolder } from "./model-folder.ts";
import { Model } from "./model.ts";
import { loadRuntime } from "./runtime.ts";
import type { ModelCalls, Opened, Opening, ThreadVectors } from "./thread.ts";

if (parentPort === null) throw new PondError("internal", "this file runs as the worker thread of a model");

let model: Model | undefined;

async function open({ runtime, threads, ...wanted }: Opening): Promise<Opened> {
  const folder = await readModelFolder(wanted);
  model = await Model.open(await loadRuntime(runtime), folder, threads);
  return { name: folder.name, window: folder.window, dimension: await model.dimension() };
}

async function embed(texts: readonly string[]): Promise<ThreadVectors> {
  if (model === undefined) throw new PondError("internal", "the model was not opened");
  const { vectors, cut } = await model.embed(texts);
  const places = vectors.flatMap((vector, at) => (vector === undefined ? [] : [at]));
  const dimension = vectors.find((vector) => vector !== undefined)?.length ?? 0;
  const numbers = new Float32Array(places.length * dimension);
  for (const [index, at] of places.entries()) numbers.set(vectors[at] ?? [], index * dimension);
  return { numbers, places, cut };
}

answerCalls(parentPort, { open, embed } satisfies ModelCalls);
