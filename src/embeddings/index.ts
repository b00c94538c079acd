/**
 * Texts in, vectors out (spec.md#search-embedding-seam). A provider is loaded when the settings name it: with none, nothing
 * of a model is. This room knows no session.
 */
import type { Embedder } from "./embedder.ts";
import type { EmbedderOptions, EmbeddingSettings } from "./settings.ts";

export type { CosineScale, Embedded, Embedder } from "./embedder.ts";
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
    case "static": {
      const { openStaticEmbedder } = await import("./static/static-embedder.ts");
      return openStaticEmbedder();
    }
    case "onnx": {
      const { openOnnxEmbedder } = await import("./onnx/onnx-embedder.ts");
      return openOnnxEmbedder(settings, options);
    }
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
