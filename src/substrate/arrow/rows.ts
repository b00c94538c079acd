/**
 * Query results read by column: no object per row, text decoded only when asked for. Row numbers are positions
 * in the answer's own order.
 */
import { PondError } from "../../base/errors.ts";
import type { Arrow, Lance } from "../lance.ts";
import type { ColumnName, ColumnsOf, TableSpec } from "../spec.ts";
import { fromHalf } from "./half.ts";

interface Chunk {
  readonly start: number;
  readonly length: number;
  readonly columns: ReadonlyMap<string, Arrow.Data>;
}

interface Cell {
  readonly data: Arrow.Data;
  readonly at: number;
}

const WORD = 0x1_0000_0000;

export class Rows<S extends TableSpec = TableSpec> {
  readonly length: number;
  readonly #chunks: readonly Chunk[];
  /** Answer position to stored position, where the answer's order is not the engine's. */
  readonly #order: Uint32Array | undefined;
  /** The first step of a two-step read: it has the columns that belong to the query, such as _score. */
  readonly #first: Rows<S> | undefined;
  #chunk: Chunk | undefined;

  /** @internal */
  constructor(chunks: readonly Chunk[], order?: Uint32Array, first?: Rows<S>) {
    this.#chunks = chunks;
    this.#order = order;
    this.#first = first;
    this.length = order?.length ?? chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** @internal Reads Arrow IPC buffers, one record batch each. */
  static fromIpc<S extends TableSpec>({ arrow }: Lance, buffers: readonly Buffer[]): Rows<S> {
    const chunks: Chunk[] = [];
    let start = 0;
    for (const buffer of buffers)
      for (const batch of arrow.tableFromIPC(buffer).batches) {
        if (batch.numRows === 0) continue;
        const columns = new Map(
          batch.schema.fields.flatMap((field, i) => pair(field.name, batch.data.children[i])),
        );
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

  isNull(column: ColumnName<S>, row: number): boolean {
    const { data, at } = this.#locate(column, row);
    return isNullAt(data, at);
  }

  /** Throws on null; see stringOrNull. */
  string(column: ColumnsOf<S, "utf8">, row: number): string {
    return this.stringOrNull(column, row) ?? this.#unexpectedNull(column, row);
  }

  stringOrNull(column: ColumnsOf<S, "utf8">, row: number): string | null {
    const { data, at } = this.#locate(column, row);
    return isNullAt(data, at) ? null : textAt(data, at);
  }

  /** The UTF-8 bytes of a text value, a view into the answer. */
  utf8(column: ColumnsOf<S, "utf8">, row: number): Uint8Array | null {
    const { data, at } = this.#locate(column, row);
    return isNullAt(data, at) ? null : bytesAt(data, at);
  }

  /** int32, or int64 within the safe range. */
  int(column: ColumnsOf<S, "int32" | "int64">, row: number): number {
    return this.intOrNull(column, row) ?? this.#unexpectedNull(column, row);
  }

  intOrNull(column: ColumnsOf<S, "int32" | "int64">, row: number): number | null {
    return this.#integer(column, row);
  }

  bigint(column: ColumnsOf<S, "int64">, row: number): bigint | null {
    const { data, at } = this.#locate(column, row);
    if (isNullAt(data, at)) return null;
    return data.values instanceof BigInt64Array ? (data.values[at] ?? 0n) : BigInt(Number(data.values[at]));
  }

  /** Whole microseconds since 1970, exact. */
  timestamp(column: ColumnsOf<S, "timestamp_us">, row: number): number {
    return this.timestampOrNull(column, row) ?? this.#unexpectedNull(column, row);
  }

  timestampOrNull(column: ColumnsOf<S, "timestamp_us">, row: number): number | null {
    return this.#integer(column, row);
  }

  bool(column: ColumnsOf<S, "bool">, row: number): boolean {
    return this.boolOrNull(column, row) ?? this.#unexpectedNull(column, row);
  }

  boolOrNull(column: ColumnsOf<S, "bool">, row: number): boolean | null {
    const { data, at } = this.#locate(column, row);
    if (isNullAt(data, at)) return null;
    const bit = data.offset + at;
    return ((Number(data.values[bit >> 3]) >> (bit & 7)) & 1) === 1;
  }

  vector(column: ColumnsOf<S, "float16_vector">, row: number): Float32Array | null {
    const { data, at } = this.#locate(column, row);
    const items = data.children[0];
    if (isNullAt(data, at) || items === undefined) return null;
    const dim = items.length / data.length;
    const halves: ArrayLike<number> = items.values;
    return Float32Array.from({ length: dim }, (_, i) => fromHalf(halves[at * dim + i] ?? 0));
  }

  /** Stored size of a blob, without reading it; null where there is none. */
  blobSize(column: ColumnsOf<S, "blob">, row: number): number | null {
    const { data, at } = this.#locate(column, row);
    const { type } = data;
    const position =
      "children" in type && Array.isArray(type.children)
        ? type.children.findIndex((field) => field.name === "size")
        : -1;
    const size = data.children[position];
    return isNullAt(data, at) || size === undefined ? null : Number(size.values[at]);
  }

  /** Bytes of a text value that was asked for by `bytesOf`; null where the value is null. */
  byteLength(column: ColumnsOf<S, "utf8">, row: number): number | null {
    return this.#integer(byteLengthColumn(column), row);
  }

  /** Relevance of a full-text answer, higher is better. */
  score(row: number): number {
    return this.#float("_score", row);
  }

  /** Distance of a vector answer, lower is better. */
  distance(row: number): number {
    return this.#float("_distance", row);
  }

  /** The engine's stable row id; only where the query asked `withRowId`. */
  rowId(row: number): bigint {
    const { data, at } = this.#locate("_rowid", row);
    return BigInt(data.values[at] ?? 0);
  }

  rowIds(): bigint[] {
    return Array.from({ length: this.length }, (_, row) => this.rowId(row));
  }

  /** @internal The raw columns of each record batch, in the engine's order. */
  get chunks(): readonly Chunk[] {
    return this.#chunks;
  }

  #integer(column: string, row: number): number | null {
    const { data, at } = this.#locate(column, row);
    if (isNullAt(data, at)) return null;
    const { values } = data;
    if (!(values instanceof BigInt64Array) && !(values instanceof BigUint64Array)) return Number(values[at]);
    const words = new Int32Array(values.buffer, values.byteOffset + at * 8, 2);
    const value = (words[1] ?? 0) * WORD + ((words[0] ?? 0) >>> 0);
    if (!Number.isSafeInteger(value))
      throw new PondError("internal", `column ${column} holds an integer beyond 2^53; read it with bigint()`);
    return value;
  }

  #float(column: string, row: number): number {
    const { data, at } = this.#locate(column, row);
    return Number(data.values[at]);
  }

  #locate(column: string, row: number): Cell {
    const stored = this.#order === undefined ? row : (this.#order[row] ?? -1);
    let chunk = this.#chunk;
    if (chunk === undefined || stored < chunk.start || stored >= chunk.start + chunk.length) {
      chunk = this.#chunks[chunkOf(this.#chunks, stored)];
      if (chunk === undefined || row < 0) throw new PondError("internal", `row ${row} of ${this.length}`);
      this.#chunk = chunk;
    }
    const data = chunk.columns.get(column);
    if (data !== undefined) return { data, at: stored - chunk.start };
    if (this.#first !== undefined) return this.#first.#locate(column, row);
    throw new PondError("internal", `column ${column} was not selected`);
  }

  #unexpectedNull(column: string, row: number): never {
    throw new PondError("internal", `column ${column} is null in row ${row}`, { reason: "corrupt" });
  }
}

/** Name of the computed column that carries the byte length of a text column. */
export const byteLengthColumn = (column: string): string => `${column}__bytes`;

function missingRow(id: bigint): never {
  throw new PondError("internal", `row id ${id} is gone between two steps of a read`, { reason: "corrupt" });
}

/** Index of the chunk that holds a stored position, or -1. */
function chunkOf(chunks: readonly Chunk[], stored: number): number {
  let low = 0;
  let high = chunks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const chunk = chunks[middle];
    if (chunk === undefined) return -1;
    if (stored < chunk.start) high = middle - 1;
    else if (stored >= chunk.start + chunk.length) low = middle + 1;
    else return middle;
  }
  return -1;
}

function isNullAt(data: Arrow.Data, at: number): boolean {
  const bitmap = data.nullBitmap;
  if (data.nullCount === 0 || bitmap === undefined || bitmap.length === 0) return false;
  const bit = data.offset + at;
  return (((bitmap[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 0;
}

function bytesAt(data: Arrow.Data, at: number): Uint8Array {
  const offsets: ArrayLike<number | bigint> = data.valueOffsets;
  const values: Uint8Array = data.values;
  return values.subarray(Number(offsets[at]), Number(offsets[at + 1]));
}

function textAt(data: Arrow.Data, at: number): string {
  const { buffer, byteOffset, byteLength } = bytesAt(data, at);
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}

const pair = <T>(name: string, value: T | undefined): [string, T][] =>
  value === undefined ? [] : [[name, value]];
