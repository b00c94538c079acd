/** Every scan and search as the engine's query (spec.md#lance-chokepoints-read): filters are pushed down. */
import { byteLengthColumn } from "../arrow/rows.ts";
import { call, type Handle } from "../handle/handle.ts";
import type { LanceDb, LanceTable } from "../engine/lance.ts";
import { type Predicate, renderPredicate } from "../engine/predicate.ts";
import { type ColumnName, type ColumnsOf, isWide, type TableSpec } from "../engine/spec.ts";
import { type TextQuery, toEngineQuery } from "../engine/text-query.ts";

export interface Order<S extends TableSpec> {
  readonly column: ColumnName<S>;
  readonly descending?: boolean;
}

export interface ScanOptions<S extends TableSpec> {
  readonly select: readonly ColumnName<S>[];
  readonly where?: Predicate<S>;
  /** The engine sorts what the filter leaves; there is no index order, so bound it by a filter. */
  readonly orderBy?: readonly Order<S>[];
  readonly limit?: number;
  readonly offset?: number;
  /** Makes `rows.rowId(i)` available. */
  readonly withRowId?: boolean;
  /** The filter leaves few rows, and an index on the first key column answers it: see `isTwoStep`. */
  readonly few?: boolean;
  /** Text columns whose size in bytes is wanted instead of the text: `rows.byteLength(column, i)`. */
  readonly bytesOf?: readonly ColumnsOf<S, "utf8">[];
}

export interface SearchOptions<S extends TableSpec> {
  readonly column: ColumnsOf<S, "utf8">;
  readonly query: TextQuery;
  readonly select: readonly ColumnName<S>[];
  readonly limit: number;
  readonly where?: Predicate<S>;
  readonly offset?: number;
  readonly withRowId?: boolean;
}

export interface NearestOptions<S extends TableSpec> {
  readonly column: ColumnsOf<S, "float16_vector">;
  readonly vector: Float32Array;
  readonly select: readonly ColumnName<S>[];
  readonly limit: number;
  readonly where?: Predicate<S>;
  readonly withRowId?: boolean;
  /** Partitions of the index to look into, and how many candidates to compare exactly. */
  readonly nprobes?: number;
  readonly refineFactor?: number;
}

export function scanQuery<S extends TableSpec>(
  { spec }: Handle<S>,
  table: LanceTable,
  options: ScanOptions<S>,
): LanceDb.Query {
  const query = table.query();
  if (options.where !== undefined) query.where(renderPredicate(options.where, spec));
  // A column that is sorted by must be selected.
  const names = new Set<string>([...options.select, ...(options.orderBy ?? []).map((order) => order.column)]);
  const computed = (options.bytesOf ?? []).map((name): [string, string] => [
    byteLengthColumn(name),
    `octet_length(${name})`,
  ]);
  if (computed.length === 0) query.select([...names]);
  else query.select(new Map([...[...names].map((name): [string, string] => [name, name]), ...computed]));
  if (options.orderBy !== undefined)
    query.orderBy(
      options.orderBy.map(({ column, descending }) => ({
        columnName: column,
        ascending: descending !== true,
      })),
    );
  if (options.limit !== undefined) query.limit(options.limit);
  if (options.offset !== undefined) query.offset(options.offset);
  if (options.withRowId === true) query.withRowId();
  return query;
}

export function searchQuery<S extends TableSpec>(
  { lance, spec }: Handle<S>,
  table: LanceTable,
  options: SearchOptions<S>,
): LanceDb.Query {
  const query = table.query().fullTextSearch(toEngineQuery(lance, options.query, options.column));
  if (options.where !== undefined) query.where(renderPredicate(options.where, spec));
  if (options.offset !== undefined) query.offset(options.offset);
  return query
    .select([...options.select, "_score"])
    .withRowId()
    .limit(options.limit);
}

export function nearestQuery<S extends TableSpec>(
  { spec }: Handle<S>,
  table: LanceTable,
  options: NearestOptions<S>,
): LanceDb.VectorQuery {
  const query = table.query().nearestTo(options.vector).column(options.column).distanceType("cosine");
  if (options.where !== undefined) query.where(renderPredicate(options.where, spec));
  if (options.nprobes !== undefined) query.nprobes(options.nprobes);
  if (options.refineFactor !== undefined) query.refineFactor(options.refineFactor);
  return query
    .select([...options.select, "_distance"])
    .withRowId()
    .limit(options.limit);
}

/** How the engine will run a scan or a search: shows which filters an index answers. */
export async function explain<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S> | SearchOptions<S> | NearestOptions<S>,
): Promise<string> {
  const plan = (table: LanceTable): Promise<string> => {
    if ("query" in options) return searchQuery(handle, table, options).explainPlan();
    if ("vector" in options) return nearestQuery(handle, table, options).explainPlan();
    return scanQuery(handle, table, options).explainPlan();
  };
  return (await call(handle, "explain", plan)).value;
}

/** Whether a column holds long values. */
export function isLongIn(spec: TableSpec, name: string): boolean {
  const column = spec.columns[name];
  return column !== undefined && isWide(column);
}
