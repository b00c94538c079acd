/**
 * What a table of vectors is (spec.md#session-embed-from-canonical): one per model, append-only, derived of `search_text`
 * alone, with the columns that searches filter by. Another model has another table, so that the old one is there until the new
 * one is complete.
 */
import { hash } from "node:crypto";
import { defineTable } from "../../substrate/index.ts";
import { EMBEDDINGS, MESSAGES } from "../tables/schema.ts";

/** What vectors are of; the name says all that changes one. */
export interface VectorModel {
  readonly name: string;
  readonly dimension: number;
}

export type VectorSpec = ReturnType<typeof defineVectors>;

const { session_id, id, timestamp, role, source_agent, project } = MESSAGES.columns;

const defineVectors = (name: string, dimension: number) =>
  defineTable({
    name,
    version: 1,
    derived: true,
    primaryKey: ["session_id", "id"],
    columns: {
      session_id,
      id,
      // That of the message when it was embedded: after a repair it may have another one. Of a mark (marks.ts) a version.
      row: { type: "int64" },
      timestamp,
      role,
      source_agent,
      project,
      embedding_model: { type: "utf8" },
      // Null where the model can make nothing of the text: it is not asked again.
      vector: { type: "float16_vector", dim: dimension, nullable: true },
    },
    indexes: [
      { column: "timestamp", kind: "btree" },
      { column: "role", kind: "bitmap" },
      { column: "source_agent", kind: "bitmap" },
      { column: "project", kind: "bitmap" },
      { column: "vector", kind: "vector" },
    ],
  });

const specs = new Map<string, VectorSpec>();

/** Of one model. The dimension is in the name, because nothing of a table can be read without it. */
export const vectorSpec = ({ name, dimension }: VectorModel): VectorSpec =>
  declared(`${EMBEDDINGS}_${dimension}_${hash("sha256", name, "hex").slice(0, 12)}`, dimension);

/** Of a table that a store has; undefined where it is another one. */
export function vectorSpecNamed(table: string): VectorSpec | undefined {
  const [, dimension] = NAME.exec(table) ?? [];
  return dimension === undefined ? undefined : declared(table, Number(dimension));
}

/** What `vectorSpec` makes of a model. */
const NAME = /^embeddings_([1-9]\d{0,4})_[0-9a-f]{12}$/;

/** One declaration for a name: the store knows an open table by it. */
function declared(name: string, dimension: number): VectorSpec {
  const spec = specs.get(name) ?? defineVectors(name, dimension);
  specs.set(name, spec);
  return spec;
}
