/**
 * Texts in, vectors out (spec.md#search-embedding-seam). A model, wherever it runs, is an `Embedder`; nothing else about it is
 * known outside this room.
 */

/** Some models embed a question and the text that answers it in different ways. */
export type TextKind = "query" | "document";

export interface EmbedRequest {
  readonly kind: TextKind;
  readonly signal: AbortSignal;
}

export interface Embedded {
  /** One per text, in their order, of length 1; undefined where a text has nothing that can be embedded. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** Texts that are longer than the model's window: only their beginning was embedded. */
  readonly cut: number;
}

export interface Embedder extends AsyncDisposable {
  /** Model, dimension and everything else that changes a vector: only vectors of one name are compared. */
  readonly name: string;
  readonly dimension: number;
  /** How much is worth one call, at most. */
  readonly batch: { readonly texts: number; readonly characters: number };
  embed(texts: readonly string[], request: EmbedRequest): Promise<Embedded>;
}
