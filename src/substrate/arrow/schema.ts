/**
 * The Arrow schema of a declared table, with the metadata that the engine acts on
 * (spec.md#lance-table-creation).
 */
import type { Arrow, ArrowLibrary } from "../lance.ts";
import { type Column, isNullable, type TableSpec } from "../spec.ts";

/**
 * Schema metadata at creation; on the first key column once columns were added (the former cannot change).
 */
export const SCHEMA_VERSION = "pond.schema_version";

/**
 * Long text in zstd, by chunks: the larger, the more repetition it finds, and the more is decoded for one row. Rows that
 * are read with their neighbours stand in chunks of 512 KiB, those that are read one here, one there in 128. Without the
 * two settings zstd decodes 10 times slower; the last is for pages that the engine stores as a dictionary of values.
 */
const packing = (chunk: number): readonly (readonly [string, string])[] => [
  ["lance-encoding:compression", "zstd"],
  ["lance-encoding:structural-encoding", "miniblock"],
  ["lance-encoding:minichunk-size", String(chunk)],
  ["lance-encoding:dict-values-compression", "zstd"],
];
const PACKING = { together: packing(512 << 10), scattered: packing(128 << 10) };

export function schemaOf(library: ArrowLibrary, spec: TableSpec): Arrow.Schema {
  const fields = Object.entries(spec.columns).map(([name, column]) =>
    fieldOf(library, { name, column, spec }),
  );
  return new library.arrow.Schema(fields, new Map([[SCHEMA_VERSION, String(spec.version)]]));
}

export interface NamedColumn {
  readonly name: string;
  readonly column: Column;
  readonly spec: TableSpec;
}

export function fieldOf(library: ArrowLibrary, { name, column, spec }: NamedColumn): Arrow.Field {
  const metadata = new Map<string, string>(column.packed === undefined ? [] : PACKING[column.packed]);
  if (column.type === "blob") metadata.set("ARROW:extension:name", "lance.blob.v2");
  const position = spec.primaryKey.indexOf(name);
  if (position >= 0) {
    // What makes concurrent insert-if-absent safe: with it the engine detects that two writers add one key.
    metadata.set("lance-schema:unenforced-primary-key", "true");
    metadata.set("lance-schema:unenforced-primary-key:position", String(position + 1));
  }
  return new library.arrow.Field(name, typeOf(library, column), isNullable(column), metadata);
}

export function typeOf({ arrow }: ArrowLibrary, column: Column): Arrow.DataType {
  switch (column.type) {
    case "utf8":
      return new arrow.Utf8();
    case "int32":
      return new arrow.Int32();
    case "int64":
      return new arrow.Int64();
    case "bool":
      return new arrow.Bool();
    case "timestamp_us":
      return new arrow.Timestamp(arrow.TimeUnit.MICROSECOND, "UTC");
    case "float16_vector":
      return new arrow.FixedSizeList(column.dim ?? 0, new arrow.Field("item", new arrow.Float16(), true));
    case "blob":
      // What the binding's own blob() gives, which is not at hand in every thread.
      return new arrow.Struct([
        new arrow.Field("data", new arrow.LargeBinary(), true),
        new arrow.Field("uri", new arrow.Utf8(), true),
      ]);
  }
}

/** A schema without rows, as the Arrow IPC file that the engine's private calls take. */
export function emptyIpc({ arrow }: ArrowLibrary, schema: Arrow.Schema): Buffer {
  const writer = new arrow.RecordBatchFileWriter();
  writer.reset(undefined, schema);
  writer.finish();
  const bytes = writer.toUint8Array(true);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
