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

/** What cosines of a model mean: a model's own, since what is near for one is nothing for another. */
export interface CosineScale {
  /** A cosine below this says nothing, and one above `most` no more. */
  readonly least: number;
  readonly most: number;
  /** From here on a text answers a query of which it has no word. */
  readonly alone: number;
}

export interface Embedder extends AsyncDisposable {
  /** Absent where nobody measured it: then it is told by what is found. */
  readonly scale?: CosineScale;
  /** Model, dimension and everything else that changes a vector: only vectors of one name are compared. */
  readonly name: string;
  readonly dimension: number;
  /** How much is worth one call, at most. */
  readonly batch: { readonly texts: number; readonly characters: number };
  embed(texts: readonly string[], request: EmbedRequest): Promise<Embedded>;
}
