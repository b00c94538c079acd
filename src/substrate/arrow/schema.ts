/**
 * The Arrow schema of a declared table, with the metadata that the engine acts on
 * (spec.md#lance-table-creation).
 */
import type { Arrow, ArrowLibrary } from "../engine/lance.ts";
import { SCHEMA_VERSION } from "../local/peek.ts";
import { type Column, isNullable, type TableSpec } from "../engine/spec.ts";

/**
 * How long text is packed: fast while it comes in, tight where maintenance rewrites it anyway. The engine packs by the
 * metadata of the table, so this is a state that the table is in.
 */
export type Packing = "fresh" | "tight";

/**
 * Long text in zstd, by chunks: the larger, the more repetition it finds, and the more is decoded for one row. Rows that
 * are read with their neighbours stand in larger chunks than those that are read one here, one there. Without the first
 * two settings zstd decodes 10 times slower; the last is for pages that the engine stores as a dictionary of values.
 */
const ZSTD: Readonly<Record<string, string>> = {
  "lance-encoding:compression": "zstd",
  "lance-encoding:structural-encoding": "miniblock",
  "lance-encoding:dict-values-compression": "zstd",
};
const CHUNK = "lance-encoding:minichunk-size";
const LEVEL = "lance-encoding:compression-level";

/** Tight takes five times as long to write (20 MB/s a core), and a quarter less space for the samples of Claude Code. */
const TIGHT_LEVEL = "11";
const CHUNKS = {
  fresh: { together: 512 << 10, scattered: 128 << 10 },
  tight: { together: 2 << 20, scattered: 512 << 10 },
} as const;

/** What to set on the packed columns of a table, null where nothing must be set. */
export function packingUpdates(spec: TableSpec, packing: Packing): PackingUpdate[] {
  return Object.entries(spec.columns).flatMap(([path, { packed }]): PackingUpdate[] => {
    if (packed === undefined) return [];
    const level = packing === "tight" ? TIGHT_LEVEL : null;
    return [{ path, metadata: { [CHUNK]: String(CHUNKS[packing][packed]), [LEVEL]: level } }];
  });
}

interface PackingUpdate {
  readonly path: string;
  readonly metadata: Record<string, string | null>;
}

/** How a stored table packs what is written to it now. */
export function packingOf(schema: Arrow.Schema): Packing {
  return schema.fields.some(({ metadata }) => metadata.has(LEVEL)) ? "tight" : "fresh";
}

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
  const metadata = new Map<string, string>();
  if (column.packed !== undefined) {
    for (const [key, value] of Object.entries(ZSTD)) metadata.set(key, value);
    metadata.set(CHUNK, String(CHUNKS.fresh[column.packed]));
  }
  if (column.type === "blob") metadata.set("ARROW:extension:name", "lance.blob.v2");
  const position = spec.primaryKey.indexOf(name);
  if (position >= 0) {
    // What makes concurrent insert-if-absent safe: with it the engine detects that two writers add one key
    // (spec.md#lance-table-creation-unenforced-pk).
    metadata.set("lance-schema:unenforced-primary-key", "true");
    metadata.set("lance-schema:unenforced-primary-key:position", String(position + 1));
  }
  return new library.arrow.Field(name, typeOf(library, column), isNullable(column), metadata);
}

export function typeOf({ arrow }: ArrowLibrary, column: Column): Arrow.DataType {
  switch (column.type) {
    case "utf8":
      return new arrow.Utf8();
    case "binary":
      return new arrow.Binary();
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
