/** Which model makes vectors, as plain data: the values of `[embeddings]` in the settings. */
import type { Clock } from "../base/clock.ts";

export type EmbeddingProvider =
  | "none"
  | "static"
  | "onnx"
  | "openai"
  | "ollama"
  | "voyage"
  | "cohere"
  | "gemini";

export interface EmbeddingSettings {
  readonly provider: EmbeddingProvider;
  readonly model?: string;
  /** Where the service is, without the last part of its paths: `https://api.openai.com/v1`. */
  readonly url?: string;
  /** What the model is asked for; without it the model's own. */
  readonly dimension?: number;
  /** Tokens of one text that the model reads. */
  readonly window?: number;
  readonly api_key?: string;
  readonly api_key_file?: string;
  /** Of the weights, for a model that runs here. */
  readonly folder?: string;
  /** In hexadecimal, of the weights: others are refused. */
  readonly sha256?: string;
}

export interface EmbedderOptions {
  readonly clock: Clock;
  /** Ends the opening and everything that is embedded later. */
  readonly signal?: AbortSignal;
  /** From 0 to 1, for the time between two tries. */
  readonly random?: () => number;
}
