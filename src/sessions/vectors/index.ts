/** Vectors of messages, a table per model (spec.md#session-embed-from-canonical): a room inside sessions, loaded where there are any. */
export type { HeldVectors, VectorChoice } from "./choice.ts";
export { vectorsFor } from "./choice.ts";
export type { Unembedded } from "./unembedded.ts";
export type { EmbeddedMessage, Missing, NearMessage } from "./vector-table.ts";
export { VectorTable } from "./vector-table.ts";
export type { HeldTable } from "./vectors.ts";
export { Vectors } from "./vectors.ts";
