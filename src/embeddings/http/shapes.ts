/**
 * What the services differ in: paths, headers, bodies, limits. A service is one entry here; asking, checking and trying again
 * are the same for all (`http-embedder.ts`, `post.ts`).
 */
import type { TextKind } from "../embedder.ts";

export type HttpProvider = "openai" | "ollama" | "voyage" | "cohere" | "gemini";

interface Question {
  readonly model: string;
  readonly kind: TextKind;
  /** What the settings ask for; undefined for the model's own. */
  readonly dimension: number | undefined;
}

export interface HttpShape {
  readonly title: string;
  /** The service's own address, or where it is on a machine that runs it. */
  readonly url: string;
  /** Whether that address answers only with a key. */
  readonly needsKey: boolean;
  readonly path: (model: string) => string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** The model at the service's own address where the settings name none, with its dimension. */
  readonly model?: { readonly name: string; readonly dimension: number };
  /** Tokens, where the settings do not say. */
  readonly window: number;
  /** Of one request. */
  readonly batch: { readonly texts: number; readonly characters: number };
  readonly timeLimitMs: number;
  /** Whether it embeds a question otherwise than a document. */
  readonly hasKinds: boolean;
  readonly body: (texts: readonly string[], question: Question) => unknown;
  /** The vectors in the order of the texts; undefined where the answer has none. */
  readonly vectors: (answer: unknown) => readonly unknown[] | undefined;
}

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });
const MINUTE = 60_000;

export const HTTP_SHAPES: Readonly<Record<HttpProvider, HttpShape>> = {
  // Takes 2,048 texts and 300,000 tokens a request; a character of Chinese may be a token. Smaller requests keep answers small.
  openai: {
    title: "OpenAI",
    url: "https://api.openai.com/v1",
    needsKey: true,
    path: () => "embeddings",
    headers: bearer,
    model: { name: "text-embedding-3-small", dimension: 1536 },
    window: 8_191,
    batch: { texts: 256, characters: 200_000 },
    timeLimitMs: MINUTE,
    hasKinds: false,
    body: (input, { model, dimension }) => ({ model, input, dimensions: dimension }),
    vectors: byIndex,
  },
  // Cuts in silence where it should not, below the model's window too; 512 is what the smallest of its models read.
  ollama: {
    title: "Ollama",
    url: "http://127.0.0.1:11434",
    needsKey: false,
    path: () => "api/embed",
    headers: bearer,
    window: 512,
    batch: { texts: 32, characters: 32_000 },
    // The first answer waits for the model to be loaded, the others perhaps for a processor without help.
    timeLimitMs: 5 * MINUTE,
    hasKinds: false,
    body: (input, { model, dimension }) => ({ model, input, truncate: false, dimensions: dimension }),
    vectors: (answer) => listOf(answer, "embeddings"),
  },
  voyage: {
    title: "Voyage",
    url: "https://api.voyageai.com/v1",
    needsKey: true,
    path: () => "embeddings",
    headers: bearer,
    model: { name: "voyage-3.5", dimension: 1024 },
    window: 32_000,
    batch: { texts: 128, characters: 100_000 },
    timeLimitMs: MINUTE,
    hasKinds: true,
    body: (input, { model, kind, dimension }) => ({
      model,
      input,
      input_type: kind,
      truncation: false,
      output_dimension: dimension,
    }),
    vectors: byIndex,
  },
  cohere: {
    title: "Cohere",
    url: "https://api.cohere.com/v2",
    needsKey: true,
    path: () => "embed",
    headers: bearer,
    model: { name: "embed-v4.0", dimension: 1536 },
    window: 32_000,
    batch: { texts: 96, characters: 100_000 },
    timeLimitMs: MINUTE,
    hasKinds: true,
    body: (texts, { model, kind, dimension }) => ({
      model,
      texts,
      input_type: kind === "query" ? "search_query" : "search_document",
      embedding_types: ["float"],
      output_dimension: dimension,
      truncate: "NONE",
    }),
    vectors: (answer) => listOf(member(answer, "embeddings"), "float"),
  },
  gemini: {
    title: "Gemini",
    url: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: true,
    path: (model) => `models/${encodeURIComponent(model)}:batchEmbedContents`,
    headers: (key) => ({ "x-goog-api-key": key }),
    model: { name: "gemini-embedding-001", dimension: 3072 },
    window: 2_048,
    batch: { texts: 100, characters: 100_000 },
    timeLimitMs: MINUTE,
    hasKinds: true,
    body: (texts, { model, kind, dimension }) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        taskType: kind === "query" ? "RETRIEVAL_QUERY" : "RETRIEVAL_DOCUMENT",
        outputDimensionality: dimension,
      })),
    }),
    vectors: (answer) => listOf(answer, "embeddings")?.map((each) => member(each, "values")),
  },
};

/** `data[].{index, embedding}` in any order; undefined where the indexes are not 0, 1, 2, ... each once. */
function byIndex(answer: unknown): readonly unknown[] | undefined {
  const data = listOf(answer, "data");
  if (data === undefined) return undefined;
  const vectors = new Map(data.map((each) => [member(each, "index"), member(each, "embedding")]));
  if (vectors.size !== data.length || data.some((_, index) => !vectors.has(index))) return undefined;
  return data.map((_, index) => vectors.get(index));
}

function listOf(value: unknown, name: string): readonly unknown[] | undefined {
  const list = member(value, name);
  return Array.isArray(list) ? list : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
