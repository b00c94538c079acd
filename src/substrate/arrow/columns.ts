/**
 * Growing column buffers in Arrow layout: values go straight into them, no object is kept per value. Values
 * are checked first (value.ts), so appending cannot fail half way through a row.
 */
import type { Arrow, ArrowLibrary } from "../engine/lance.ts";
import type { Column } from "../engine/spec.ts";
import { toHalf } from "./half.ts";
import { typeOf } from "./schema.ts";

export interface ColumnWriter {
  /** Appends one checked value and tells its bytes. Null and undefined are the Arrow null. */
  append(value: unknown): number;
  /** Drops all rows but these, which are in ascending order. */
  keep(rows: Int32Array): void;
  /** Drops all rows. What `finish` gave must be of no further use. */
  clear(): void;
  finish(library: ArrowLibrary): Arrow.Data;
}

export function columnWriter(column: Column): ColumnWriter {
  switch (column.type) {
    case "utf8":
      return new TextWriter();
    case "binary":
      return new BinaryWriter();
    case "int32":
      return new Int32Writer();
    case "bool":
      return new BoolWriter();
    case "int64":
    case "timestamp_us":
      return new Int64Writer(column);
    case "float16_vector":
      return new VectorWriter(column);
    case "blob":
      return new BlobWriter(column);
  }
}

/** Row count and null bitmap of a column. */
class Validity {
  length = 0;
  #nulls = 0;
  #bitmap: Uint8Array | undefined;

  /** Counts the next row and gives its number. */
  next(value: unknown): number {
    const row = this.length++;
    const isNull = value === null || value === undefined;
    if (!isNull && this.#bitmap === undefined) return row;
    let bitmap = (this.#bitmap ??= new Uint8Array((row >> 3) + 64).fill(255));
    if (row >> 3 >= bitmap.length) {
      const larger = new Uint8Array(bitmap.length * 2).fill(255);
      larger.set(bitmap);
      bitmap = this.#bitmap = larger;
    }
    if (isNull) {
      this.#nulls++;
      bitmap[row >> 3] = (bitmap[row >> 3] ?? 0) & ~(1 << (row & 7));
    }
    return row;
  }

  clear(): void {
    this.length = 0;
    this.#nulls = 0;
    this.#bitmap?.fill(255);
  }

  keep(rows: Int32Array): void {
    this.length = rows.length;
    const bitmap = this.#bitmap;
    if (bitmap === undefined) return;
    this.#nulls = 0;
    for (let to = 0; to < rows.length; to++) {
      const from = rows[to] ?? 0;
      const isNull = ((bitmap[from >> 3] ?? 0) & (1 << (from & 7))) === 0;
      const byte = bitmap[to >> 3] ?? 0;
      bitmap[to >> 3] = isNull ? byte & ~(1 << (to & 7)) : byte | (1 << (to & 7));
      if (isNull) this.#nulls++;
    }
    // What follows is taken for valid until a null is written there.
    for (let to = rows.length; to < bitmap.length << 3; to++)
      bitmap[to >> 3] = (bitmap[to >> 3] ?? 0) | (1 << (to & 7));
  }

  props(): { readonly length: number; readonly nullCount: number; readonly nullBitmap?: Uint8Array } {
    const { length } = this;
    const nullBitmap = this.#bitmap?.subarray(0, (length + 7) >> 3);
    return { length, nullCount: this.#nulls, ...(nullBitmap === undefined ? {} : { nullBitmap }) };
  }
}

/** A buffer that grew beyond this is not kept for the next batch. */
const MAX_KEPT_BYTES = 16_000_000;

/** Text into one growing buffer. A lone surrogate becomes U+FFFD, as UTF-8 has no spelling for it. */
class TextWriter implements ColumnWriter {
  readonly #validity = new Validity();
  #bytes = Buffer.allocUnsafeSlow(1024);
  #offsets: Int32Array = new Int32Array(65);
  #end = 0;

  append(value: unknown): number {
    const row = this.#validity.next(value);
    const start = this.#end;
    if (typeof value === "string") {
      // Three bytes a UTF-16 unit is the most UTF-8 needs; measure only when that does not fit.
      if (this.#bytes.length - start < value.length * 3) this.#reserve(start + Buffer.byteLength(value));
      this.#end += this.#bytes.write(value, start, "utf8");
    }
    if (row + 1 >= this.#offsets.length) this.#offsets = grown(this.#offsets, row + 2);
    this.#offsets[row + 1] = this.#end;
    return this.#end - start + 4;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    let end = 0;
    for (let to = 0; to < rows.length; to++) {
      const from = rows[to] ?? 0;
      const start = this.#offsets[from] ?? 0;
      const stop = this.#offsets[from + 1] ?? 0;
      this.#bytes.copyWithin(end, start, stop);
      end += stop - start;
      this.#offsets[to + 1] = end;
    }
    this.#end = end;
  }

  clear(): void {
    this.#validity.clear();
    this.#end = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(1024);
  }

  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }

  finish({ arrow }: ArrowLibrary): Arrow.Data {
    return arrow.makeData({
      type: new arrow.Utf8(),
      ...this.#validity.props(),
      valueOffsets: this.#offsets.subarray(0, this.#validity.length + 1),
      data: new Uint8Array(this.#bytes.buffer, 0, this.#end),
    });
  }
}

const NOTHING = new Uint8Array(0);

/** Short runs of bytes, as text is stored. */
class BinaryWriter implements ColumnWriter {
  readonly #validity = new Validity();
  /** One a row, empty where the value is null. */
  #chunks: Uint8Array[] = [];

  append(value: unknown): number {
    this.#validity.next(value);
    const chunk = value instanceof Uint8Array ? value : NOTHING;
    this.#chunks.push(chunk);
    return chunk.length + 4;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    this.#chunks = Array.from(rows, (row) => this.#chunks[row] ?? NOTHING);
  }

  clear(): void {
    this.#validity.clear();
    this.#chunks = [];
  }

  finish({ arrow }: ArrowLibrary): Arrow.Data {
    const offsets = new Int32Array(this.#chunks.length + 1);
    for (const [row, { length }] of this.#chunks.entries()) offsets[row + 1] = (offsets[row] ?? 0) + length;
    return arrow.makeData({
      type: new arrow.Binary(),
      ...this.#validity.props(),
      valueOffsets: offsets,
      data: Buffer.concat(this.#chunks),
    });
  }
}

class Int32Writer implements ColumnWriter {
  readonly #validity = new Validity();
  #values: Int32Array = new Int32Array(64);

  append(value: unknown): number {
    const row = this.#validity.next(value);
    if (row >= this.#values.length) this.#values = grown(this.#values, row + 1);
    if (typeof value === "number") this.#values[row] = value;
    return 4;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    for (let to = 0; to < rows.length; to++) this.#values[to] = this.#values[rows[to] ?? 0] ?? 0;
  }

  clear(): void {
    this.#validity.clear();
  }

  finish({ arrow }: ArrowLibrary): Arrow.Data {
    const data = this.#values.subarray(0, this.#validity.length);
    return arrow.makeData({ type: new arrow.Int32(), ...this.#validity.props(), data });
  }
}

const WORD = 0x1_0000_0000;

/** 64-bit integers and timestamps, written as two halves: no BigInt is made from a number. */
class Int64Writer implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #column: Column;
  #words: Uint32Array = new Uint32Array(128);

  constructor(column: Column) {
    this.#column = column;
  }

  append(value: unknown): number {
    const row = this.#validity.next(value);
    if (row * 2 + 1 >= this.#words.length) this.#words = grown(this.#words, row * 2 + 2);
    if (typeof value === "number") {
      const high = Math.floor(value / WORD);
      this.#words[row * 2] = value - high * WORD;
      this.#words[row * 2 + 1] = high;
    } else if (typeof value === "bigint") {
      this.#words[row * 2] = Number(value & 0xffffffffn);
      this.#words[row * 2 + 1] = Number((value >> 32n) & 0xffffffffn);
    }
    return 8;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    for (let to = 0; to < rows.length; to++) {
      const from = (rows[to] ?? 0) * 2;
      this.#words.copyWithin(to * 2, from, from + 2);
    }
  }

  clear(): void {
    this.#validity.clear();
  }

  finish({ arrow }: ArrowLibrary): Arrow.Data {
    const data = new BigInt64Array(this.#words.buffer, 0, this.#validity.length);
    const props = { ...this.#validity.props(), data };
    if (this.#column.type === "int64") return arrow.makeData({ type: new arrow.Int64(), ...props });
    return arrow.makeData({ type: new arrow.TimestampMicrosecond("UTC"), ...props });
  }
}

class BoolWriter implements ColumnWriter {
  readonly #validity = new Validity();
  #bits: Uint8Array = new Uint8Array(64);

  append(value: unknown): number {
    const row = this.#validity.next(value);
    if (row >> 3 >= this.#bits.length) this.#bits = grown(this.#bits, (row >> 3) + 1);
    if (value === true) this.#bits[row >> 3] = (this.#bits[row >> 3] ?? 0) | (1 << (row & 7));
    return 1;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    for (let to = 0; to < rows.length; to++) {
      const from = rows[to] ?? 0;
      const isTrue = ((this.#bits[from >> 3] ?? 0) & (1 << (from & 7))) !== 0;
      const byte = this.#bits[to >> 3] ?? 0;
      this.#bits[to >> 3] = isTrue ? byte | (1 << (to & 7)) : byte & ~(1 << (to & 7));
    }
    // What follows is taken for false until a true is written there.
    for (let to = rows.length; to < this.#bits.length << 3; to++)
      this.#bits[to >> 3] = (this.#bits[to >> 3] ?? 0) & ~(1 << (to & 7));
  }

  clear(): void {
    this.#validity.clear();
    this.#bits.fill(0);
  }

  /**
   * The schema says Bool; the bits travel as a flat byte column, because Arrow's writer leaves out the
   * values of a Bool that is null throughout and the engine refuses that.
   */
  finish({ arrow }: ArrowLibrary): Arrow.Data {
    const data = this.#bits.subarray(0, (this.#validity.length + 7) >> 3);
    return arrow.makeData({ type: new arrow.Uint8(), ...this.#validity.props(), data });
  }
}

class VectorWriter implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #dim: number;
  #halves: Uint16Array;

  constructor(column: Column) {
    this.#dim = column.dim ?? 0;
    this.#halves = new Uint16Array(this.#dim * 8);
  }

  append(value: unknown): number {
    const start = this.#validity.next(value) * this.#dim;
    if (start + this.#dim > this.#halves.length) this.#halves = grown(this.#halves, start + this.#dim);
    if (value instanceof Float32Array || Array.isArray(value))
      for (let i = 0; i < this.#dim; i++) this.#halves[start + i] = toHalf(Number(value[i]));
    return this.#dim * 2;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    for (let to = 0; to < rows.length; to++) {
      const from = (rows[to] ?? 0) * this.#dim;
      this.#halves.copyWithin(to * this.#dim, from, from + this.#dim);
    }
  }

  clear(): void {
    this.#validity.clear();
  }

  finish({ arrow }: ArrowLibrary): Arrow.Data {
    const length = this.#validity.length * this.#dim;
    const child = arrow.makeData({
      type: new arrow.Float16(),
      length,
      nullCount: 0,
      data: this.#halves.subarray(0, length),
    });
    const type = new arrow.FixedSizeList(this.#dim, new arrow.Field("item", new arrow.Float16(), true));
    return arrow.makeData({ type, ...this.#validity.props(), child });
  }
}

/** Bytes as the engine's blob struct `{data, uri}`; uri is never used. */
class BlobWriter implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #column: Column;
  /** One a row, empty where the value is null. */
  #chunks: Uint8Array[] = [];
  #offsets: BigInt64Array = new BigInt64Array(65);
  #end = 0;

  constructor(column: Column) {
    this.#column = column;
  }

  append(value: unknown): number {
    const row = this.#validity.next(value);
    const start = this.#end;
    const chunk = value instanceof Uint8Array ? value : NOTHING;
    this.#chunks.push(chunk);
    this.#end += chunk.length;
    if (row + 1 >= this.#offsets.length) this.#offsets = grown(this.#offsets, row + 2);
    this.#offsets[row + 1] = BigInt(this.#end);
    return this.#end - start + 12;
  }

  keep(rows: Int32Array): void {
    this.#validity.keep(rows);
    this.#chunks = Array.from(rows, (row) => this.#chunks[row] ?? NOTHING);
    this.#end = 0;
    for (const [to, { length }] of this.#chunks.entries()) {
      this.#end += length;
      this.#offsets[to + 1] = BigInt(this.#end);
    }
  }

  clear(): void {
    this.#validity.clear();
    this.#chunks = [];
    this.#end = 0;
  }

  finish(library: ArrowLibrary): Arrow.Data {
    const { arrow } = library;
    const props = this.#validity.props();
    const { length } = props;
    // A copy: the IPC writer joins neighbouring chunks that view the same bytes, and would write the bitmap once.
    const bitmap = props.nullBitmap === undefined ? {} : { nullBitmap: props.nullBitmap.slice() };
    const data = arrow.makeData({
      type: new arrow.LargeBinary(),
      ...props,
      ...bitmap,
      valueOffsets: this.#offsets.subarray(0, length + 1),
      data: Buffer.concat(this.#chunks, this.#end),
    });
    const uri = arrow.makeData({
      type: new arrow.Utf8(),
      length,
      nullCount: length,
      nullBitmap: new Uint8Array((length + 7) >> 3),
      valueOffsets: new Int32Array(length + 1),
      data: new Uint8Array(0),
    });
    const type = typeOf(library, this.#column);
    return arrow.makeData({ type: new arrow.Struct(type.children), ...props, children: [data, uri] });
  }
}

type Growable = Uint8Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array;

/** A copy with room for at least `needed` elements, doubled and zeroed. */
function grown<T extends Growable>(values: T, needed: number): T;
function grown(values: Growable, needed: number): Growable {
  const length = Math.max(needed, values.length * 2);
  if (values instanceof BigInt64Array) return copied(new BigInt64Array(length), values);
  if (values instanceof Uint8Array) return copied(new Uint8Array(length), values);
  if (values instanceof Uint16Array) return copied(new Uint16Array(length), values);
  if (values instanceof Int32Array) return copied(new Int32Array(length), values);
  return copied(new Uint32Array(length), values);
}

function copied<T extends { set(from: T): void }>(target: T, from: T): T {
  target.set(from);
  return target;
}
