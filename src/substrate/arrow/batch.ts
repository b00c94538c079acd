/**
 * Builds one batch of a declared table, column by column, as the Arrow IPC file that a merge takes. A key can
 * be in a batch only once: the engine would insert both rows (spec.md#adapter-integrity-additive-sync).
 */
import { PondError } from "../../base/errors.ts";
import type { ArrowLibrary } from "../engine/lance.ts";
import { type ColumnsOf, joinKey, type RowOf, type TableSpec } from "../engine/spec.ts";
import { type ColumnSet, giveBack, takeColumns } from "./column-set.ts";
import { schemaOf } from "./schema.ts";
import { sizeOrProblem } from "./value.ts";

/** A batch stays below this; text offsets are 32-bit and the engine holds a batch several times over. */
export const MAX_BATCH_BYTES = 64_000_000;
/**
 * One row alone may pass the batch bound. Of rows of this size the engine gave every byte back, of two texts of 500 MB as
 * of a blob of 1.1 GB, before and after maintenance; it takes five times as much memory to write one.
 */
const MAX_ROW_BYTES = 1_000_000_000;
/** More rows a batch gain nothing. */
const MAX_BATCH_ROWS = 50_000;

export type Added = "added" | "duplicate" | "full";

/** A finished batch on its way to another thread. */
export interface MovedBatch {
  /** The Arrow IPC file. */
  readonly ipc: ArrayBuffer;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * A finished batch. Only a BatchBuilder makes one, so its keys are distinct and its columns are the
 * table's.
 */
export class Batch<S extends TableSpec = TableSpec> {
  readonly spec: S;
  readonly rows: number;
  readonly bytes: number;
  readonly #ipc: Buffer;

  /** @internal */
  constructor(spec: S, content: { readonly ipc: Buffer; readonly rows: number; readonly bytes: number }) {
    this.spec = spec;
    this.rows = content.rows;
    this.bytes = content.bytes;
    this.#ipc = content.ipc;
  }

  /** The batch that another thread built with the same declaration. */
  static arrived<S extends TableSpec>(spec: S, { ipc, rows, bytes }: MovedBatch): Batch<S> {
    return new Batch(spec, { ipc: Buffer.from(ipc), rows, bytes });
  }

  /** As plain data. The buffer may be moved; this batch is of no further use then. */
  toMove(): MovedBatch {
    const { buffer, byteOffset, byteLength } = this.#ipc;
    const isAlone = buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength;
    return { ipc: isAlone ? buffer : new Uint8Array(this.#ipc).buffer, rows: this.rows, bytes: this.bytes };
  }

  /** @internal */
  get ipc(): Buffer {
    return this.#ipc;
  }
}

export class BatchBuilder<S extends TableSpec = TableSpec> {
  readonly spec: S;
  readonly #library: ArrowLibrary;
  readonly #columns: ColumnSet;
  #keys = new Set<string>();
  #bytes = 0;
  #offered = 0;
  #finished = false;

  constructor(library: ArrowLibrary, spec: S) {
    this.#library = library;
    this.spec = spec;
    this.#columns = takeColumns(spec);
  }

  get rows(): number {
    return this.#keys.size;
  }

  /** Rows that were given, those included whose key was there already. */
  get offered(): number {
    return this.#offered;
  }

  /** Bytes of the values so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a row. `duplicate`: its key is in this batch already, nothing was added. `full`: it does not fit any
   * more; write this batch and add the row to a new one. Throws `validation_failed` for a row that the table
   * cannot hold, and stays as it was.
   */
  add(row: RowOf<S>): Added {
    return this.addUntyped(row);
  }

  /** The same for a row whose types are only known at run time; they are checked either way. */
  addUntyped(values: Readonly<Record<string, unknown>>): Added {
    this.#mustBeOpen();
    const key = this.#primaryKeyOf(values);
    if (this.#keys.has(key)) {
      this.#offered += 1;
      return "duplicate";
    }
    if (!this.#fits(values, key)) return "full";
    for (const { name, writer } of this.#columns) this.#bytes += writer.append(values[name]);
    this.#keys.add(key);
    this.#offered += 1;
    return "added";
  }

  /** Throws what `add` would for a row that the table cannot hold. */
  check(row: RowOf<S>): void {
    this.#fits(row, this.#primaryKeyOf(row));
  }

  /** Drops the rows with these keys. */
  drop(keys: { hasKey(joined: string): boolean }): void {
    this.#mustBeOpen();
    const all = [...this.#keys];
    const kept = Int32Array.from(all.keys()).filter((row) => !keys.hasKey(all[row] ?? ""));
    if (kept.length === all.length) return;
    for (const { writer } of this.#columns) writer.keep(kept);
    this.#keys = new Set(Array.from(kept, (row) => all[row] ?? ""));
  }

  /** Keeps the rows at these places and drops the others. */
  keep(rows: Int32Array): void {
    this.#mustBeOpen();
    const all = [...this.#keys];
    if (rows.length === all.length) return;
    for (const { writer } of this.#columns) writer.keep(rows);
    this.#keys = new Set(Array.from(rows, (row) => all[row] ?? ""));
  }

  /** Gives each row another key; the values of the key columns in key order, one list a row. */
  rekey(keys: readonly (readonly string[])[]): void {
    this.#mustBeOpen();
    for (const [place, column] of this.spec.primaryKey.entries()) {
      const writer = this.#columns.find(({ name }) => name === column)?.writer;
      writer?.clear();
      for (const key of keys) writer?.append(key[place] ?? "");
    }
    this.#keys = new Set(keys.map((key) => joinKey(key)));
    if (this.#keys.size !== keys.length)
      throw new PondError("internal", `two rows of ${this.spec.name} were given one key`);
  }

  /** Writes a text column anew, one value a row. */
  refill(column: ColumnsOf<S, "utf8">, values: Iterable<string>): void {
    this.#mustBeOpen();
    const writer = this.#columns.find(({ name }) => name === column)?.writer;
    writer?.clear();
    for (const value of values) writer?.append(value);
  }

  /** The batch; the builder is of no further use. */
  finish(): Batch<S> {
    this.#mustBeOpen();
    this.#finished = true;
    const { arrow } = this.#library;
    const schema = schemaOf(this.#library, this.spec);
    const children = this.#columns.map((each) => each.writer.finish(this.#library));
    const writer = new arrow.RecordBatchFileWriter();
    const data = arrow.makeData({
      type: new arrow.Struct(schema.fields),
      length: this.rows,
      nullCount: 0,
      children,
    });
    writer.write(new arrow.RecordBatch(schema, data));
    writer.finish();
    // A copy of everything: from here on the columns may serve the next batch.
    const ipc = writer.toUint8Array(true);
    giveBack(this.spec, this.#columns);
    return new Batch(this.spec, {
      ipc: Buffer.from(ipc.buffer, ipc.byteOffset, ipc.byteLength),
      rows: this.rows,
      bytes: this.#bytes,
    });
  }

  /** Its columns belong to another batch by now. */
  #mustBeOpen(): void {
    if (this.#finished) throw new PondError("internal", "this batch is finished");
  }

  /** Two ids that differ only in a lone surrogate would become one key in UTF-8: refused. */
  #primaryKeyOf(values: Readonly<Record<string, unknown>>): string {
    const parts: string[] = [];
    for (const column of this.spec.primaryKey) {
      const value = values[column];
      if (typeof value !== "string") throw this.#rejected("", `key column ${column} must be text`);
      if (!value.isWellFormed())
        throw this.#rejected(
          value,
          `key column ${column} contains a lone surrogate, which UTF-8 cannot represent`,
        );
      parts.push(value);
    }
    return joinKey(parts);
  }

  /** Checks every value. A cheap upper bound decides; text is measured only when that is too close. */
  #fits(values: Readonly<Record<string, unknown>>, key: string): boolean {
    let size = 0;
    for (const { name, column } of this.#columns) {
      const answer = sizeOrProblem(column, values[name]);
      if (typeof answer === "string") throw this.#rejected(key, `column ${name} ${answer}`);
      size += answer;
    }
    if (this.rows >= MAX_BATCH_ROWS) return false;
    if (this.#bytes + size <= MAX_BATCH_BYTES) return true;
    size = this.#columns.reduce((sum, { name }) => sum + exactSize(values[name]), 0);
    if (size > MAX_ROW_BYTES)
      throw this.#rejected(key, `a row of ${size} bytes is past the bound of ${MAX_ROW_BYTES}`, "limit");
    return this.rows === 0 || this.#bytes + size <= MAX_BATCH_BYTES;
  }

  #rejected(key: string, message: string, reason?: "limit"): PondError {
    return new PondError("validation_failed", `table ${this.spec.name}: ${message}`, {
      ...(reason === undefined ? {} : { reason }),
      data: { table: this.spec.name, key: key.toWellFormed().slice(0, 200), row: this.rows },
    });
  }
}

function exactSize(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 4;
  return value instanceof Uint8Array ? value.length + 12 : 8;
}
