/**
 * Every scan and search is built here (spec.md#lance-chokepoints-read). Filters are pushed down; long
 * columns are read by row id once the filter has decided, because the engine otherwise decodes them for
 * every row that no index covers yet.
 */
import { byteLengthColumn, Rows } from "./arrow/rows.ts";
import { call, type Handle } from "./handle.ts";
import { type AnyQuery, type LanceDb, type LanceTable, nativeBatches } from "./lance.ts";
import { and, isIn, type Predicate, renderPredicate } from "./predicate.ts";
import { engineError } from "./retry.ts";
import { type ColumnName, type ColumnsOf, indexName, isWide, type TableSpec } from "./spec.ts";
import { type TextQuery, toEngineQuery } from "./text-query.ts";

export interface Order<S extends TableSpec> {
  readonly column: ColumnName<S>;
  readonly descending?: boolean;
}

export interface ScanOptions<S extends TableSpec> {
  readonly select: readonly ColumnName<S>[];
  readonly where?: Predicate;
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
  readonly where?: Predicate;
  readonly offset?: number;
  readonly withRowId?: boolean;
}

export interface NearestOptions<S extends TableSpec> {
  readonly column: ColumnsOf<S, "float16_vector">;
  readonly vector: Float32Array;
  readonly select: readonly ColumnName<S>[];
  readonly limit: number;
  readonly where?: Predicate;
  readonly withRowId?: boolean;
  /** Partitions of the index to look into, and how many candidates to compare exactly. */
  readonly nprobes?: number;
  readonly refineFactor?: number;
}

/** Fastest to decode; a batch of long values that passes 2 GiB is asked for again in smaller ones. */
const BATCH_ROWS = 1024;
/** Row ids of one take. */
const TAKE_ROWS = 5000;
/** Rows without an index up to which one step is cheaper than two. */
const FEW_UNINDEXED = 500;
/** From here on one scan is cheaper than fetching row by row. */
const TWO_STEP_ROWS = 20_000;
/** Values of one IN list; measured as a good step for btree lookups. */
const IN_STEP = 500;

export async function scan<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
): Promise<Rows<S>> {
  if (options.where === undefined || !(await isTwoStep(handle, options))) return scanOnce(handle, options);
  const keys = await scanOnce(handle, { ...options, select: [], withRowId: true });
  if (keys.length > TWO_STEP_ROWS) return scanOnce(handle, options);
  return secondStep(handle, keys, options.select);
}

/**
 * Of rows that no index covers yet the engine decodes every column that is selected, whether the filter takes the row or
 * not: long columns are never worth that, short ones only while there are few such rows. 5,000 of them made the parts of
 * a session cost 14 ms of CPU instead of 2; in two steps it is 5. Where an index covers all rows, a step is saved.
 */
async function isTwoStep<S extends TableSpec>(
  handle: Handle<S>,
  { select, few }: ScanOptions<S>,
): Promise<boolean> {
  const isLong = select.some((name) => isWideIn(handle.spec, name));
  if (few !== true) return isLong;
  const unindexed = await unindexedRows(handle);
  return unindexed === undefined ? isLong : unindexed > (isLong ? 0 : FEW_UNINDEXED);
}

/** Undefined where there is no index yet. */
async function unindexedRows(handle: Handle): Promise<number | undefined> {
  const name = indexName({ column: handle.spec.primaryKey[0], kind: "btree" });
  const { value } = await call(handle, "read the indexes of", (table) => table.indexStats(name));
  return value?.numUnindexedRows;
}

/**
 * Streams a scan in bounded memory. Where a batch of long values is too long for itself, it goes on in
 * smaller ones.
 */
export async function* scanBatches<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
): AsyncGenerator<Rows<S>> {
  let delivered = 0;
  for (const size of [BATCH_ROWS, 1])
    try {
      const rest = {
        ...options,
        offset: (options.offset ?? 0) + delivered,
        ...(options.limit === undefined ? {} : { limit: options.limit - delivered }),
      };
      for await (const buffer of batchesOf(handle, rest, size)) {
        const rows = Rows.fromIpc<S>(handle.lance, [buffer]);
        delivered += rows.length;
        yield rows;
      }
      return;
    } catch (error) {
      if (size === 1 || !isOverflow(error)) throw error;
    }
}

/** Retried until the first batch is there, then it is one stream. */
async function* batchesOf<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
  size: number,
): AsyncGenerator<Buffer> {
  const { value: stream } = await call(handle, "read", async (table) => {
    const batches = nativeBatches(scanQuery(handle, table, options), size);
    return { first: await batches.next(), batches };
  });
  for (let next = stream.first; next.done !== true; next = await nextOf(handle, stream.batches))
    yield next.value;
}

/** An error in the middle of a stream is translated, not retried: what was delivered cannot be taken back. */
async function nextOf(handle: Handle, batches: AsyncGenerator<Buffer>): Promise<IteratorResult<Buffer>> {
  try {
    return await batches.next();
  } catch (error) {
    throw engineError(error, { what: `read ${handle.spec.name}`, where: handle.where, attempts: 1 });
  }
}

/** A scan over a list of values of one column, in steps; the rows of a step come together. */
export async function* scanIn<S extends TableSpec>(
  handle: Handle<S>,
  list: { readonly column: ColumnName<S>; readonly values: Iterable<string> },
  options: ScanOptions<S>,
): AsyncGenerator<Rows<S>> {
  const values = [...new Set(list.values)];
  for (let start = 0; start < values.length; start += IN_STEP) {
    const step = isIn(list.column, values.slice(start, start + IN_STEP));
    yield await scan(handle, {
      ...options,
      where: options.where === undefined ? step : and(step, options.where),
    });
  }
}

/** Rows by the engine's row ids, in the order of the ids given. */
export async function take<S extends TableSpec>(
  handle: Handle<S>,
  rowIds: readonly bigint[],
  select: readonly ColumnName<S>[],
): Promise<Rows<S>> {
  const buffers: Buffer[] = [];
  for (let start = 0; start < rowIds.length; start += TAKE_ROWS)
    buffers.push(...(await takeStep(handle, rowIds.slice(start, start + TAKE_ROWS), select)));
  return Rows.fromIpc<S>(handle.lance, buffers).inOrder(rowIds);
}

/** The engine answers a take in one batch; one that is too long for itself is asked for in halves. */
async function takeStep(
  handle: Handle,
  rowIds: readonly bigint[],
  select: readonly string[],
): Promise<Buffer[]> {
  try {
    const build = (table: LanceTable): AnyQuery =>
      table
        .takeRowIds([...rowIds])
        .select([...select])
        .withRowId();
    return await collectBy(BATCH_ROWS, { handle, verb: "read", build });
  } catch (error) {
    if (rowIds.length === 1 || !isOverflow(error)) throw error;
    const middle = rowIds.length >> 1;
    const first = await takeStep(handle, rowIds.slice(0, middle), select);
    return [...first, ...(await takeStep(handle, rowIds.slice(middle), select))];
  }
}

export async function count(handle: Handle, where?: Predicate): Promise<number> {
  const filter = where === undefined ? undefined : renderPredicate(where, handle.spec);
  return (await call(handle, "count", (table) => table.countRows(filter))).value;
}

/** Full text, best first; `rows.score(i)`. Rows that no index covers yet are found too. */
export async function search<S extends TableSpec>(
  handle: Handle<S>,
  options: SearchOptions<S>,
): Promise<Rows<S>> {
  return ranked(handle, options, (table, select) => searchQuery(handle, table, { ...options, select }));
}

/**
 * Nearest vectors by cosine, nearest first; `rows.distance(i)`. Rows that no index covers yet are found
 * too.
 */
export async function nearest<S extends TableSpec>(
  handle: Handle<S>,
  options: NearestOptions<S>,
): Promise<Rows<S>> {
  return ranked(handle, options, (table, select) => {
    const query = table.query().nearestTo(options.vector).column(options.column).distanceType("cosine");
    if (options.where !== undefined) query.where(renderPredicate(options.where, handle.spec));
    if (options.nprobes !== undefined) query.nprobes(options.nprobes);
    if (options.refineFactor !== undefined) query.refineFactor(options.refineFactor);
    return query
      .select([...select, "_distance"])
      .withRowId()
      .limit(options.limit);
  });
}

/** Payloads of a blob column in the order of the row ids; null where there is none. */
export async function fetchBlobs<S extends TableSpec>(
  handle: Handle<S>,
  column: ColumnsOf<S, "blob">,
  rowIds: readonly bigint[],
): Promise<(Uint8Array | null)[]> {
  if (rowIds.length === 0) return [];
  return (await call(handle, "read", (table) => table.fetchBlobs(column, [...rowIds]))).value;
}

/** How the engine will run a scan or a search: shows which filters an index answers. */
export async function explain<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S> | SearchOptions<S>,
): Promise<string> {
  const plan = (table: LanceTable): Promise<string> =>
    "query" in options
      ? searchQuery(handle, table, options).explainPlan()
      : scanQuery(handle, table, options).explainPlan();
  return (await call(handle, "explain", plan)).value;
}

async function scanOnce<S extends TableSpec>(handle: Handle<S>, options: ScanOptions<S>): Promise<Rows<S>> {
  return Rows.fromIpc<S>(
    handle.lance,
    await collect(handle, "read", (table) => scanQuery(handle, table, options)),
  );
}

interface Ranked<S extends TableSpec> {
  readonly select: readonly ColumnName<S>[];
}

/** Ranks on short columns, then reads the long ones of the rows that won. */
async function ranked<S extends TableSpec>(
  handle: Handle<S>,
  { select }: Ranked<S>,
  build: (table: LanceTable, select: readonly ColumnName<S>[]) => AnyQuery,
): Promise<Rows<S>> {
  const short = select.filter((name) => !isWideIn(handle.spec, name));
  const first = Rows.fromIpc<S>(
    handle.lance,
    await collect(handle, "search", (table) => build(table, short)),
  );
  if (short.length === select.length) return first;
  return secondStep(handle, first, select);
}

async function secondStep<S extends TableSpec>(
  handle: Handle<S>,
  first: Rows<S>,
  select: readonly ColumnName<S>[],
): Promise<Rows<S>> {
  if (first.length === 0) return first;
  const rows = await take(handle, first.rowIds(), select);
  return rows.beside(first);
}

function scanQuery<S extends TableSpec>(
  handle: Handle<S>,
  table: LanceTable,
  options: ScanOptions<S>,
): LanceDb.Query {
  const query = table.query();
  if (options.where !== undefined) query.where(renderPredicate(options.where, handle.spec));
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

function searchQuery<S extends TableSpec>(
  handle: Handle<S>,
  table: LanceTable,
  options: SearchOptions<S>,
): LanceDb.Query {
  const query = table.query().fullTextSearch(toEngineQuery(handle.lance, options.query, options.column));
  if (options.where !== undefined) query.where(renderPredicate(options.where, handle.spec));
  if (options.offset !== undefined) query.offset(options.offset);
  return query
    .select([...options.select, "_score"])
    .withRowId()
    .limit(options.limit);
}

/** All batches of a query; where one is too long for itself, all again in smaller ones. */
async function collect(
  handle: Handle,
  verb: string,
  build: (table: LanceTable) => AnyQuery,
): Promise<Buffer[]> {
  try {
    return await collectBy(BATCH_ROWS, { handle, verb, build });
  } catch (error) {
    if (!isOverflow(error)) throw error;
    return collectBy(1, { handle, verb, build });
  }
}

interface Collection {
  readonly handle: Handle;
  readonly verb: string;
  readonly build: (table: LanceTable) => AnyQuery;
}

async function collectBy(rows: number, { handle, verb, build }: Collection): Promise<Buffer[]> {
  return (await call(handle, verb, (table) => Array.fromAsync(nativeBatches(build(table), rows)))).value;
}

/** Text offsets are 32-bit, so a batch of long values can be too long for itself. */
const isOverflow = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && /Offset overflow/i.test(error.cause.message);

const isWideIn = (spec: TableSpec, name: string): boolean => {
  const column = spec.columns[name];
  return column !== undefined && isWide(column);
};
