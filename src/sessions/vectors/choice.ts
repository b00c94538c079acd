/** Which vectors a search compares its query with: one rule, in one place (spec.md#search-hybrid). Pure. */
import type { VectorModel } from "./vector-spec.ts";
import type { VectorCounts } from "./vector-table.ts";

/** The vectors that a store has of one model. */
export type HeldVectors = VectorCounts & { readonly model: VectorModel };

export type VectorChoice =
  | {
      readonly kind: "vectors";
      readonly model: VectorModel;
      /** Messages with text that have none yet: they are found by words alone. */
      readonly missing: number;
    }
  /** By words alone. `off`: no model is configured; `none`: nothing is embedded under the one that is. */
  | { readonly kind: "off" | "none" };

/**
 * Vectors of different models cannot be compared, and the one that is configured is the one that a query can be embedded
 * with. Whatever it has is used: a part of the vectors finds more than none.
 */
export function vectorsFor(
  configured: VectorModel | undefined,
  { held, texts }: { readonly held: readonly HeldVectors[]; readonly texts: number },
): VectorChoice {
  if (configured === undefined) return { kind: "off" };
  const own = held.find(
    ({ model }) => model.name === configured.name && model.dimension === configured.dimension,
  );
  if (own === undefined || own.vectors === 0) return { kind: "none" };
  return { kind: "vectors", model: own.model, missing: Math.max(0, texts - own.vectors - own.without) };
}
