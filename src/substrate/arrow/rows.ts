/**
 * Query results read by column: no object per row, text decoded only when asked for. Row numbers are
 * positions in the answer's own order.
 */
import { PondError } from "../../base/errors.ts";
import type { ArrowLibrary } from "../engine/lance.ts";
import type { ColumnName, ColumnsOf, TableSpec } from "../engine/spec.ts";
import { type RawColumn, StoredColumn } from "./stored-column.ts";

interface Chunk {
  readonly start: number;
  readonly length: number;
  readonly columns: ReadonlyMap<string, StoredColumn>;
}

export class Rows<S extends TableSpec = TableSpec> {
  readonly length: number;
  readonly #chunks: readonly Chunk[];
  /** Answer position to stored position, where the answer's order is not the engine's. */
  readonly #order: Uint32Array | undefined;
  /** The first step of a two-step read: it has the columns that belong to the query, such as _score. */
  readonly #first: Rows<S> | undefined;
  /** Where the last access was: most are in order. */
  #chunk: Chunk | undefined;

  /** @internal */
  constructor(chunks: readonly Chunk[], order?: Uint32Array, first?: Rows<S>) {
    this.#chunks = chunks;
    this.#order = order;
    this.#first = first;
    this.length = order?.length ?? chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** @internal Reads Arrow IPC buffers. */
  static fromIpc<S extends TableSpec>({ arrow }: ArrowLibrary, buffers: readonly Buffer[]): Rows<S> {
    const chunks: Chunk[] = [];
    let start = 0;
    for (const buffer of buffers)
      for (const batch of arrow.tableFromIPC(buffer).batches) {
        if (batch.numRows === 0) continue;
        const columns = new Map<string, StoredColumn>();
        for (const [i, field] of batch.schema.fields.entries()) {
          const data = batch.data.children[i];
          if (data !== undefined) columns.set(field.name, new StoredColumn(data));
        }
        chunks.push({ start, length: batch.numRows, columns });
        start += batch.numRows;
      }
    return new Rows(chunks);
  }

  /** @internal These rows in the order of `rowIds`, which must all be there. */
  inOrder(rowIds: readonly bigint[]): Rows<S> {
    const position = new Map<bigint, number>();
    for (let row = 0; row < this.length; row++) position.set(this.rowId(row), row);
    return new Rows(
      this.#chunks,
      Uint32Array.from(rowIds, (id) => position.get(id) ?? missingRow(id)),
    );
  }

  /** @internal These rows with the columns of `first`, whose rows they are, beside their own. */
  beside(first: Rows<S>): Rows<S> {
    return new Rows(this.#chunks, this.#order, first);
  }

  /** Whether a column was selected; of no rows there is none. */
  has(column: ColumnName<S>): boolean {
    return this.#chunks[0]?.columns.has(column) === true;
  }

  isNull(column: ColumnName<S>, row: number): boolean {
    return this.#read(column, row, NOT_NULL) === null;
  }

  /** Throws on null; see stringOrNull. */
  string(column: ColumnsOf<S, "utf8">, row: number): string {
    return this.stringOrNull(column, row) ?? unexpectedNull(column, row);
  }

  stringOrNull(column: ColumnsOf<S, "utf8">, row: number): string | null {
    return this.#read(column, row, TEXT);
  }

  /** The UTF-8 bytes of a text value, a view into the answer. */
  utf8(column: ColumnsOf<S, "utf8">, row: number): Uint8Array | null {
    return this.#read(column, row, BYTES);
  }

  /** A view into the answer. */
  bytes(column: ColumnsOf<S, "binary">, row: number): Uint8Array | null {
    return this.#read(column, row, BYTES);
  }

  /** int32, or int64 within the safe range. */
  int(column: ColumnsOf<S, "int32" | "int64">, row: number): number {
    return this.intOrNull(column, row) ?? unexpectedNull(column, row);
  }

  intOrNull(column: ColumnsOf<S, "int32" | "int64">, row: number): number | null {
    return this.#read(column, row, INTEGER);
  }

  bigint(column: ColumnsOf<S, "int64">, row: number): bigint | null {
    return this.#read(column, row, BIGINT);
  }

  /** Whole microseconds since 1970, exact. */
  timestamp(column: ColumnsOf<S, "timestamp_us">, row: number): number {
    return this.timestampOrNull(column, row) ?? unexpectedNull(column, row);
  }

  timestampOrNull(column: ColumnsOf<S, "timestamp_us">, row: number): number | null {
    return this.#read(column, row, INTEGER);
  }

  bool(column: ColumnsOf<S, "bool">, row: number): boolean {
    return this.boolOrNull(column, row) ?? unexpectedNull(column, row);
  }

  boolOrNull(column: ColumnsOf<S, "bool">, row: number): boolean | null {
    return this.#read(column, row, BOOL);
  }

  vector(column: ColumnsOf<S, "float16_vector">, row: number): Float32Array | null {
    return this.#read(column, row, VECTOR);
  }

  /** Stored size of a blob, without reading it; null where there is none. */
  blobSize(column: ColumnsOf<S, "blob">, row: number): number | null {
    return this.#read(column, row, BLOB_SIZE);
  }

  /** The bytes of a blob in rows that were built and not stored yet: the engine answers with a descriptor instead. */
  payload(column: ColumnsOf<S, "blob">, row: number): Uint8Array | null {
    return this.#read(column, row, PAYLOAD);
  }

  /** Bytes of a text value that was asked for by `bytesOf`; null where the value is null. */
  byteLength(column: ColumnsOf<S, "utf8">, row: number): number | null {
    return this.#read(byteLengthColumn(column), row, INTEGER);
  }

  /** Characters (code points) before the first match of a pattern in a text value; undefined where there is none. */
  matchAt(column: ColumnsOf<S, "utf8">, row: number): number | undefined {
    const from1 = this.#read(matchColumn(column), row, INTEGER) ?? 0;
    return from1 === 0 ? undefined : from1 - 1;
  }

  /** Characters (code points) of that match; undefined where the engine cannot tell. */
  matchLength(column: ColumnsOf<S, "utf8">, row: number): number | undefined {
    return this.#read(matchLengthColumn(column), row, INTEGER) ?? undefined;
  }

  /** Relevance of a full-text answer, higher is better. */
  score(row: number): number {
    return this.#read("_score", row, FLOAT) ?? 0;
  }

  /** Distance of a vector answer, lower is better. */
  distance(row: number): number {
    return this.#read("_distance", row, FLOAT) ?? 0;
  }

  /** The engine's stable row id; only where the query asked `withRowId`. */
  rowId(row: number): bigint {
    return this.#read("_rowid", row, BIGINT) ?? 0n;
  }

  rowIds(): bigint[] {
    return Array.from({ length: this.length }, (_, row) => this.rowId(row));
  }

  /** The buffers of a column, one for each record batch, in the engine's order. */
  raw(column: ColumnName<S>): RawColumn[] {
    if (this.#order !== undefined)
      throw new PondError("internal", "rows in an order of their own have no raw columns");
    return this.#chunks.map(({ columns }) => columns.get(column)?.raw() ?? notSelected(column));
  }

  #read<T>(column: string, row: number, read: (stored: StoredColumn, at: number) => T): T | null {
    const stored = this.#order === undefined ? row : (this.#order[row] ?? -1);
    let chunk = this.#chunk;
    if (chunk === undefined || stored < chunk.start || stored >= chunk.start + chunk.length) {
      chunk = chunkAt(this.#chunks, stored);
      if (chunk === undefined) throw new PondError("internal", `row ${row} of ${this.length}`);
      this.#chunk = chunk;
    }
    const values = chunk.columns.get(column);
    if (values === undefined) {
      if (this.#first !== undefined) return this.#first.#read(column, row, read);
      notSelected(column);
    }
    const at = stored - chunk.start;
    return values.isNull(at) ? null : read(values, at);
  }
}

const NOT_NULL = (): true => true;
const TEXT = (stored: StoredColumn, at: number): string => stored.text(at);
const BYTES = (stored: StoredColumn, at: number): Uint8Array => stored.bytes(at);
const INTEGER = (stored: StoredColumn, at: number): number => stored.integer(at);
const BIGINT = (stored: StoredColumn, at: number): bigint => stored.bigint(at);
const BOOL = (stored: StoredColumn, at: number): boolean => stored.bool(at);
const FLOAT = (stored: StoredColumn, at: number): number => stored.float(at);
const VECTOR = (stored: StoredColumn, at: number): Float32Array => stored.vector(at);
const PAYLOAD = (stored: StoredColumn, at: number): Uint8Array => stored.payload(at);
const BLOB_SIZE = (stored: StoredColumn, at: number): number => stored.blobSize(at);

/** Name of the computed column that carries the byte length of a text column. */
export const byteLengthColumn = (column: string): string => `${column}__bytes`;

/** Name of the computed column that tells where a pattern first matches in a text column. */
export const matchColumn = (column: string): string => `${column}__match`;

/** Name of the computed column that tells how long that match is. */
export const matchLengthColumn = (column: string): string => `${column}__match_length`;

function notSelected(column: string): never {
  throw new PondError("internal", `column ${column} was not selected`);
}

function unexpectedNull(column: string, row: number): never {
  throw new PondError("internal", `column ${column} is null in row ${row}`, { reason: "corrupt" });
}

function missingRow(id: bigint): never {
  throw new PondError("internal", `row id ${id} is gone between two steps of a read`, { reason: "corrupt" });
}

/** The chunk that holds a stored position. */
function chunkAt(chunks: readonly Chunk[], stored: number): Chunk | undefined {
  let low = 0;
  let high = chunks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const chunk = chunks[middle];
    if (chunk === undefined) return undefined;
    if (stored < chunk.start) high = middle - 1;
    else if (stored >= chunk.start + chunk.length) low = middle + 1;
    else return chunk;
  }
  return undefined;
}
