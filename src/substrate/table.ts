/**
 * A table of the store as its consumer sees it: read, write, maintain. Everything it does is one call
 * below.
 */
import { type Batch, BatchBuilder } from "./arrow/batch.ts";
import type { Rows } from "./arrow/rows.ts";
import type { Handle } from "./handle/handle.ts";
import {
  health,
  maintain,
  type MaintainOptions,
  type MaintenanceReport,
  type TableHealth,
} from "./maintain/run.ts";
import { remakeIndexes } from "./maintain/mend.ts";
import type { Predicate } from "./engine/predicate.ts";
import { explain, type NearestOptions, type ScanOptions, type SearchOptions } from "./read/query.ts";
import { nearest, search } from "./read/ranked.ts";
import { checkPattern, count, scan, scanBatches, scanIn } from "./read/scan.ts";
import { fetchBlobs, take, takeMatches, takePresent } from "./read/take.ts";
import type { ColumnName, ColumnsOf, RowOf, TableSpec } from "./engine/spec.ts";
import {
  firstKeysOf,
  isReadable,
  type Judge,
  type KeyBeginnings,
  type Kept,
  keptRows,
  type PutBack,
  putBack,
  takeOut,
  takeOutKeys,
  type TakenOut,
} from "./write/take-out.ts";
import * as write from "./write/write.ts";

export class Table<S extends TableSpec = TableSpec> {
  readonly spec: S;
  readonly #handle: Handle<S>;

  /** @internal */
  constructor(handle: Handle<S>) {
    this.spec = handle.spec;
    this.#handle = handle;
  }

  /** The number of the newest commit. Grows with every write and every maintenance, by any process. */
  version(): Promise<number> {
    return write.version(this.#handle);
  }

  /** A builder for one batch; see `insert`. */
  batch(): BatchBuilder<S> {
    return new BatchBuilder(this.#handle.lance, this.spec);
  }

  /** Inserts the rows whose keys are absent. When it returns they survive a crash. */
  insert(batch: Batch<S>): Promise<write.InsertResult> {
    return write.insert(this.#handle, batch);
  }

  /** The same for rows at hand: looks up known keys first, and splits into batches. */
  insertRows(rows: Iterable<RowOf<S>>): Promise<write.InsertRowsResult> {
    return write.insertRows(this.#handle, rows);
  }

  /** Stored keys that have one of these values in the first or second column of the key. */
  knownKeys(values: Iterable<string>, place?: write.KeyPlace): Promise<write.KeySet> {
    return write.knownKeys(this.#handle, values, place);
  }

  /** Makes sure that what was read of it survives a crash: another process may not have come to it yet. */
  settle(): Promise<void> {
    return this.#handle.settle();
  }

  scan(options: ScanOptions<S>): Promise<Rows<S>> {
    return scan(this.#handle, options);
  }

  /** Streams in bounded memory. */
  scanBatches(options: ScanOptions<S>): AsyncIterable<Rows<S>> {
    return scanBatches(this.#handle, options);
  }

  /** Scans for a list of any length of values of one column, 500 at a time. */
  scanIn(
    column: ColumnsOf<S, "utf8"> & ColumnName<S>,
    values: Iterable<string>,
    options: ScanOptions<S>,
  ): AsyncIterable<Rows<S>> {
    return scanIn(this.#handle, { column, values }, options);
  }

  /** Rows by row id, in the order of the ids. */
  take(rowIds: readonly bigint[], select: readonly ColumnName<S>[]): Promise<Rows<S>> {
    return take(this.#handle, rowIds, select);
  }

  /** Those of the rows that are there, in the order of the store: others may have been taken out since. */
  takePresent(rowIds: readonly bigint[], select: readonly ColumnName<S>[]): Promise<Rows<S>> {
    return takePresent(this.#handle, rowIds, select);
  }

  /** Rows by row id with where a pattern first stands in a text column; see `matches`. */
  takeMatches(
    rowIds: readonly bigint[],
    find: {
      readonly column: ColumnsOf<S, "utf8">;
      readonly pattern: string;
      readonly select: readonly ColumnName<S>[];
    },
  ): Promise<Rows<S>> {
    return takeMatches(this.#handle, rowIds, find);
  }

  count(where?: Predicate<S>): Promise<number> {
    return count(this.#handle, where);
  }

  /** Throws where the engine refuses a pattern; see `matches`. */
  checkPattern(pattern: string): Promise<void> {
    return checkPattern(this.#handle, pattern);
  }

  /** Payloads of a blob column, in the order of the row ids. */
  fetchBlobs(column: ColumnsOf<S, "blob">, rowIds: readonly bigint[]): Promise<(Uint8Array | null)[]> {
    return fetchBlobs(this.#handle, column, rowIds);
  }

  /** Full text, best first. */
  search(options: SearchOptions<S>): Promise<Rows<S>> {
    return search(this.#handle, options);
  }

  /** Vectors, nearest first. */
  nearest(options: NearestOptions<S>): Promise<Rows<S>> {
    return nearest(this.#handle, options);
  }

  /** The engine's plan for a scan or search. */
  explain(options: ScanOptions<S> | SearchOptions<S> | NearestOptions<S>): Promise<string> {
    return explain(this.#handle, options);
  }

  /** Builds and folds indexes, merges fragments, removes old versions: what is due and worth it. */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport> {
    return maintain(this.#handle, options);
  }

  /** Drops these indexes, whatever is left of them, and makes them again. */
  remakeIndexes(names: ReadonlySet<string>): Promise<void> {
    return remakeIndexes(this.#handle, names);
  }

  /** The values of the first key column of what can be read of some fragments. */
  firstKeysOf(fragments: readonly number[]): Promise<ReadonlySet<string>> {
    return firstKeysOf(this.#handle, fragments);
  }

  /** Takes damaged fragments out; what can still be read of them is kept until `putBack`. */
  takeOut(fragments: readonly number[], isProven: (firstKey: string) => boolean): Promise<TakenOut> {
    return takeOut(this.#handle, fragments, isProven);
  }

  /** Takes out rows by the first columns of their keys; they are kept until `putBack`. Says how many. */
  takeOutKeys(keys: KeyBeginnings): Promise<number> {
    return takeOutKeys(this.#handle, keys);
  }

  /** True where every value of a fragment can be read. */
  isReadable(fragment: number): Promise<boolean> {
    return isReadable(this.#handle, fragment);
  }

  /** Rows that were taken out and kept, a file at a time. */
  keptRows(which: Kept): AsyncIterable<Rows<S>> {
    return keptRows(this.#handle, which);
  }

  /** Stores kept rows again whose keys are absent, as far as they are wanted. */
  putBack(which: Kept, judge: Judge<S>): Promise<PutBack> {
    return putBack(this.#handle, which, judge);
  }

  /** Numbers of the table, and what maintenance would do. */
  health(): Promise<TableHealth> {
    return health(this.#handle);
  }
}
