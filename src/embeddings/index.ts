/**
 * Texts in, vectors out (spec.md#search-embedding-seam). A provider is loaded when the settings name it: with none, nothing
 * of a model is. This room knows no session.
 */
import { PondError } from "../base/errors.ts";
import type { Embedder } from "./embedder.ts";
import type { EmbedderOptions, EmbeddingSettings } from "./settings.ts";

export type { Embedded, Embedder } from "./embedder.ts";
export type { EmbedderOptions, EmbeddingSettings } from "./settings.ts";

/** The model of the settings, ready to be asked; undefined where they name none. */
export async function openEmbedder(
  settings: EmbeddingSettings,
  options: EmbedderOptions,
): Promise<Embedder | undefined> {
  options.signal?.throwIfAborted();
  switch (settings.provider) {
    case "none":
      return undefined;
    case "static":
      throw notBuilt("static");
    case "onnx":
      throw notBuilt("onnx");
    case "openai":
    case "ollama":
    case "voyage":
    case "cohere":
    case "gemini": {
      const { openHttpEmbedder } = await import("./http/http-embedder.ts");
      return openHttpEmbedder({ ...settings, provider: settings.provider }, options);
    }
  }
}

const notBuilt = (provider: string): PondError =>
  new PondError("validation_failed", `embeddings.provider = "${provider}" is not built yet`, {
    reason: "unsupported",
    hint: "name another provider, or none",
  });
