/**
 * What a consumer declares about a table: columns, key, indexes, schema version. Plain data, free of Arrow
 * and of Lance (spec.md#lance-table-creation, spec.md#lance-dataset-schema-version).
 */
import { PondError } from "../../base/errors.ts";

export type ColumnType =
  | "utf8"
  | "binary"
  | "int32"
  | "int64"
  | "timestamp_us"
  | "bool"
  | "float16_vector"
  | "blob";

export interface Column {
  readonly type: ColumnType;
  /** Default false. A blob is always nullable. */
  readonly nullable?: boolean;
  /**
   * Long text: stored compressed in chunks, read in a second step. `together`: read with the rows beside it, as a page of a
   * session is; `scattered`: read one here, one there, as the hits of a search are, from smaller chunks.
   */
  readonly packed?: "together" | "scattered";
  /** Length of a `float16_vector`. */
  readonly dim?: number;
}

export interface ScalarIndex {
  readonly column: string;
  /** btree: many values, ranges and prefixes. bitmap: few values, equality. */
  readonly kind: "btree" | "bitmap";
}

export interface TextIndex {
  readonly column: string;
  readonly kind: "fts";
  /** Word positions, needed by phrase queries; half as much again on disk. Default false. */
  readonly positions?: boolean;
  /** Longer words are not found. Default 128: a hash in hex is 64. */
  readonly maxTokenLength?: number;
}

export interface VectorIndex {
  readonly column: string;
  readonly kind: "vector";
  /** Below this many rows an exact scan is fast enough. Default 100,000. */
  readonly minRows?: number;
}

export type IndexSpec = ScalarIndex | TextIndex | VectorIndex;

export interface TableSpec {
  readonly name: string;
  /**
   * Schema version. A stored table with a newer one is refused; older ones gain their missing nullable
   * columns.
   */
  readonly version: number;
  readonly columns: Readonly<Record<string, Column>>;
  /** Text columns, the coarse one first (spec.md#lance-forward-compat-shardable). Each gets a btree. */
  readonly primaryKey: readonly [string, ...string[]];
  readonly indexes?: readonly IndexSpec[];
  /** Can be made again from other tables, and so may be dropped. Default false. */
  readonly derived?: boolean;
}

type Named = string & {};
export type ColumnName<S extends TableSpec> = Extract<keyof S["columns"], Named>;

/** Names of the columns of S whose type is one of T. */
export type ColumnsOf<S extends TableSpec, T extends ColumnType> = {
  [K in ColumnName<S>]: [S["columns"][K]["type"] & T] extends [never] ? never : K;
}[ColumnName<S>];

type ValueOf<C extends Column> = {
  utf8: string;
  binary: Uint8Array;
  int32: number;
  int64: number | bigint;
  timestamp_us: number;
  bool: boolean;
  float16_vector: Float32Array | readonly number[];
  blob: Uint8Array;
}[C["type"]];

/** A column and what it is compared with. */
export interface ComparedPair<K extends string, V> {
  readonly column: K;
  readonly value: V;
}

/** What predicates may compare in a table: a timestamp as its microseconds, a vector and a blob with nothing. */
export type Comparable<S extends TableSpec> = {
  [K in ColumnName<S>]: ComparedPair<
    K,
    Extract<ValueOf<S["columns"][K]>, string | number | bigint | boolean>
  >;
}[ColumnName<S>];

type IsNullable<C extends Column> = C["type"] extends "blob"
  ? true
  : C["nullable"] extends true
    ? true
    : false;
type Required<S extends TableSpec> = {
  [K in ColumnName<S>]: IsNullable<S["columns"][K]> extends true ? never : K;
}[ColumnName<S>];

/** One row to write. Timestamps are whole microseconds; a nullable column may be absent or null. */
export type RowOf<S extends TableSpec> = { readonly [K in Required<S>]: ValueOf<S["columns"][K]> } & {
  readonly [K in Exclude<ColumnName<S>, Required<S>>]?: ValueOf<S["columns"][K]> | null;
};

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const FITS: Readonly<Record<IndexSpec["kind"], readonly ColumnType[]>> = {
  btree: ["utf8", "int32", "int64", "timestamp_us"],
  bitmap: ["utf8", "int32", "bool"],
  fts: ["utf8"],
  vector: ["float16_vector"],
};

/** Checks a declaration and keeps its literal types, so that rows and column names are typed from it. */
export function defineTable<const S extends TableSpec>(spec: S): S {
  const wrong = problemOf(spec);
  if (wrong !== undefined) throw new PondError("internal", `table ${JSON.stringify(spec.name)}: ${wrong}`);
  return spec;
}

function problemOf(spec: TableSpec): string | undefined {
  if (!NAME.test(spec.name) || spec.name.startsWith("pond_"))
    return "a name is lower case letters, digits and _, and does not begin with pond_";
  if (!Number.isSafeInteger(spec.version) || spec.version < 1)
    return "the schema version is a positive integer";
  for (const [name, column] of Object.entries(spec.columns)) {
    if (!NAME.test(name)) return `column ${JSON.stringify(name)}: a name is lower case letters, digits and _`;
    if (column.type === "float16_vector" && !(Number.isSafeInteger(column.dim) && Number(column.dim) > 0))
      return `column ${name}: a vector needs its dim`;
    if (column.packed !== undefined && column.type !== "utf8")
      return `column ${name}: only utf8 can be packed`;
  }
  for (const key of spec.primaryKey) {
    const column = spec.columns[key];
    if (column?.type !== "utf8" || column.nullable === true || column.packed !== undefined)
      return `key column ${key} must be declared, utf8, not nullable and not packed`;
  }
  if (new Set(spec.primaryKey).size !== spec.primaryKey.length) return "a key column is named twice";
  for (const index of spec.indexes ?? []) {
    const column = spec.columns[index.column];
    if (column === undefined) return `index on ${index.column}: no such column`;
    if (!FITS[index.kind].includes(column.type))
      return `index on ${index.column}: ${index.kind} does not fit ${column.type}`;
    if (index.kind !== "fts" && spec.primaryKey.includes(index.column))
      return `index on ${index.column}: key columns have one already`;
  }
  return undefined;
}

export const isNullable = (column: Column): boolean => column.nullable === true || column.type === "blob";

/** Columns whose values are long: read by row id, after the filter has decided which rows. */
export const isWide = (column: Column): boolean =>
  column.packed !== undefined || column.type === "float16_vector" || column.type === "binary";

/**
 * Every index of the table: one btree a key column (merge is 8 times slower without), then the declared
 * ones.
 */
export function wantedIndexes(spec: TableSpec): readonly IndexSpec[] {
  return [
    ...spec.primaryKey.map((column): IndexSpec => ({ column, kind: "btree" })),
    ...(spec.indexes ?? []),
  ];
}

/** The engine's name of an index. */
export const indexName = (index: Pick<IndexSpec, "column" | "kind">): string =>
  `${index.column}_${index.kind}`;

/**
 * Joins the values of a key into one string, injectively: a NUL inside a value is followed by \u0001, the
 * separator is NUL \u0002.
 */
export function joinKey(parts: readonly string[]): string {
  let key = escapeNul(parts[0] ?? "");
  for (let at = 1; at < parts.length; at++) key += `\0\u0002${escapeNul(parts[at] ?? "")}`;
  return key;
}

const escapeNul = (part: string): string => (part.includes("\0") ? part.replaceAll("\0", "\0\u0001") : part);
