/** A model on this machine, in a thread of its own (spec.md#search-embedding-seam). */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { PondError } from "../../base/errors.ts";
import { optional } from "../../base/optional.ts";
import { remoteCalls } from "../../base/thread-calls.ts";
import type { Remote } from "../../base/thread-calls.ts";
import { unlessAborted } from "../../base/waiting.ts";
import type { Embedded, Embedder, EmbedRequest } from "../embedder.ts";
import type { EmbedderOptions, EmbeddingSettings } from "../settings.ts";
import { RUNTIME } from "./runtime.ts";
import type { ModelCalls, Opened } from "./thread.ts";

/** What the thread does in one go: a question that comes meanwhile waits for it, and so does the end of the thread. */
const BATCH = { texts: 32, characters: 32_000 };
const MOST_THREADS = 4;

export async function openOnnxEmbedder(
  settings: EmbeddingSettings,
  options: EmbedderOptions,
  runtime = RUNTIME,
): Promise<Embedder> {
  const { folder, model, sha256, window } = settings;
  if (folder === undefined)
    throw new PondError("validation_failed", 'embeddings.provider = "onnx" needs embeddings.folder', {
      hint: "set it to the folder of a model: its weights (model.onnx) and its vocabulary (vocab.txt or tokenizer.json)",
    });
  const thread = new ModelThread(options.signal);
  try {
    const opened = await thread.run((calls) =>
      calls.open({
        runtime,
        // One core stays for what reads, writes and answers.
        threads: Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1)),
        folder,
        ...optional("model", model),
        ...optional("sha256", sha256),
        ...optional("window", window),
      }),
    );
    return embedderOf(thread, opened);
  } catch (error) {
    await thread.end();
    throw error;
  }
}

function embedderOf(thread: ModelThread, { name, dimension, window }: Opened): Embedder {
  return {
    name: `onnx:${name}:${dimension}d:w${window}:one kind`,
    dimension,
    batch: BATCH,
    embed: (texts, request) => embed(thread, texts, request),
    [Symbol.asyncDispose]: () => thread.end(),
  };
}

async function embed(
  thread: ModelThread,
  texts: readonly string[],
  { signal }: EmbedRequest,
): Promise<Embedded> {
  const vectors: (Float32Array | undefined)[] = texts.map(() => undefined);
  let cut = 0;
  for (let from = 0; from < texts.length; from += BATCH.texts) {
    signal.throwIfAborted();
    const some = texts.slice(from, from + BATCH.texts);
    const made = await unlessAborted(
      signal,
      thread.run((calls) => calls.embed(some)),
    );
    const dimension = made.numbers.length / made.places.length;
    for (const [index, at] of made.places.entries())
      vectors[from + at] = made.numbers.slice(index * dimension, (index + 1) * dimension);
    cut += made.cut;
  }
  return { vectors, cut };
}

/** It ends when it is closed, when whoever opened it says so, and by itself when it fails; then every call fails. */
class ModelThread {
  readonly #worker: Worker;
  readonly #calls: Remote<ModelCalls>;
  readonly #ended = Promise.withResolvers<never>();
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    this.#ended.reject(this.#signal?.reason);
    void this.#worker.terminate();
  };

  constructor(signal: AbortSignal | undefined) {
    // As source, as built and in the bundle, a file beside this one.
    const file = new URL(`onnx-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { name: "pond model" });
    this.#worker.on("error", (error) => this.#ended.reject(error));
    this.#worker.on("exit", () => this.#ended.reject(threadEnded()));
    this.#ended.promise.catch(() => undefined);
    this.#calls = remoteCalls<ModelCalls>(this.#worker);
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  run<T>(ask: (calls: Remote<ModelCalls>) => Promise<T>): Promise<T> {
    return Promise.race([ask(this.#calls), this.#ended.promise]);
  }

  async end(): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    await this.#worker.terminate();
  }
}

const threadEnded = (): PondError =>
  new PondError("storage_unavailable", "the thread of the embedding model has ended", {
    reason: "model_unavailable",
    hint: "close the model when all calls have ended; if it ended by itself, there may be too little memory for it",
  });
