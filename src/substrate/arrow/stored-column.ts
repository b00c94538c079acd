/** One column of one record batch: values by position, straight from the Arrow buffers. */
import { PondError } from "../../base/errors.ts";
import type { Arrow } from "../engine/lance.ts";
import { fromHalf } from "./half.ts";

const WORD = 0x1_0000_0000;

/** The buffers of a column of one record batch in Arrow's layout, for bulk copies into another engine. */
export interface RawColumn {
  readonly length: number;
  /** Least significant bit first, a set bit is a value; undefined where nothing is null. */
  readonly validity: Uint8Array | undefined;
  /** Text: byte `offsets[i]` to `offsets[i + 1]` of values. */
  readonly offsets: Int32Array | undefined;
  readonly values: ArrayBufferView;
}

export class StoredColumn {
  readonly #data: Arrow.Data;
  readonly #nulls: Uint8Array | undefined;
  /** The bytes of a text column: a Buffer decodes a part of itself without a view for each value. */
  readonly #bytes: Buffer;
  readonly #offsets: ArrayLike<number | bigint>;

  constructor(data: Arrow.Data) {
    const { values, nullBitmap, nullCount } = data;
    this.#data = data;
    this.#nulls = nullCount > 0 && nullBitmap !== undefined && nullBitmap.length > 0 ? nullBitmap : undefined;
    this.#bytes =
      values instanceof Uint8Array
        ? Buffer.from(values.buffer, values.byteOffset, values.byteLength)
        : Buffer.alloc(0);
    this.#offsets = data.valueOffsets ?? [];
  }

  isNull(at: number): boolean {
    const nulls = this.#nulls;
    if (nulls === undefined) return false;
    const bit = this.#data.offset + at;
    return (((nulls[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 0;
  }

  text(at: number): string {
    return this.#bytes.toString("utf8", Number(this.#offsets[at]), Number(this.#offsets[at + 1]));
  }

  /** A view, valid as long as the answer. */
  bytes(at: number): Uint8Array {
    return this.#bytes.subarray(Number(this.#offsets[at]), Number(this.#offsets[at + 1]));
  }

  bool(at: number): boolean {
    const bit = this.#data.offset + at;
    return (((this.#bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
  }

  float(at: number): number {
    return Number(this.#data.values[at]);
  }

  bigint(at: number): bigint {
    return BigInt(this.#data.values[at] ?? 0);
  }

  /** Exact: a 64-bit integer beyond 2^53 throws. No BigInt is made on the way. */
  integer(at: number): number {
    const { values } = this.#data;
    if (!(values instanceof BigInt64Array) && !(values instanceof BigUint64Array)) return Number(values[at]);
    const words = new Int32Array(values.buffer, values.byteOffset + at * 8, 2);
    const value = (words[1] ?? 0) * WORD + ((words[0] ?? 0) >>> 0);
    if (Number.isSafeInteger(value)) return value;
    throw new PondError("internal", "an integer beyond 2^53; read it with bigint()");
  }

  vector(at: number): Float32Array {
    const items = this.#data.children[0];
    const dim = items === undefined ? 0 : items.length / this.#data.length;
    const halves: ArrayLike<number> = items?.values ?? [];
    return Float32Array.from({ length: dim }, (_, i) => fromHalf(halves[at * dim + i] ?? 0));
  }

  raw(): RawColumn {
    const { length, values, valueOffsets } = this.#data;
    return {
      length,
      validity: this.#nulls,
      offsets: valueOffsets instanceof Int32Array ? valueOffsets : undefined,
      values,
    };
  }

  /** The bytes of a blob as a batch is built of it: the first member of its struct. */
  payload(at: number): Uint8Array {
    const [data] = this.#data.children;
    return data === undefined ? new Uint8Array(0) : new StoredColumn(data).bytes(at);
  }

  /** Size of a blob, from the descriptor that the engine answers in its place. */
  blobSize(at: number): number {
    const fields: readonly Arrow.Field[] = this.#data.type.children;
    const size = this.#data.children[fields.findIndex(({ name }) => name === "size")];
    return Number(size?.values[at] ?? 0);
  }
}
