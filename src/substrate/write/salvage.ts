/** Puts the rows of an overwritten table back: all rows of its fullest version are inserted where absent. */
import { BatchBuilder } from "../arrow/batch.ts";
import type { Rows } from "../arrow/rows.ts";
import { call, type Handle } from "../handle/handle.ts";
import type { LanceTable } from "../engine/lance.ts";
import { scanBatches } from "../read/scan.ts";
import { fetchBlobs } from "../read/take.ts";
import type { TableSpec } from "../engine/spec.ts";
import { insert } from "./write.ts";

/** @param open opens the table at a version, read-only */
export async function salvage(handle: Handle, open: (version: number) => Promise<LanceTable>): Promise<void> {
  const versions = (await call(handle, "read the versions of", (table) => table.listVersions())).value;
  let fullest: { readonly table: LanceTable; readonly rows: number } | undefined;
  for (const { version } of versions) {
    const table = await open(version);
    const rows = await table.countRows();
    if (rows > (fullest?.rows ?? 0)) fullest = { table, rows };
  }
  if (fullest !== undefined) await copyRows({ ...handle, native: fullest.table }, handle);
}

async function copyRows(from: Handle, to: Handle): Promise<void> {
  let builder = new BatchBuilder(to.lance, to.spec);
  for await (const rows of scanBatches(from, { select: Object.keys(from.spec.columns), withRowId: true }))
    for (const values of await wholeRows(from, rows)) {
      if (builder.addUntyped(values) !== "full") continue;
      await insert(to, builder.finish());
      builder = new BatchBuilder(to.lance, to.spec);
      builder.addUntyped(values);
    }
  if (builder.rows > 0) await insert(to, builder.finish());
}

/** Rows that were read with all columns and their row ids, as they are written, payloads included. */
export async function wholeRows(from: Handle, rows: Rows): Promise<Readonly<Record<string, unknown>>[]> {
  const names = Object.keys(from.spec.columns);
  const blobs = names.filter((name) => from.spec.columns[name]?.type === "blob");
  const ids = rows.rowIds();
  const payloads = new Map(
    await Promise.all(blobs.map(async (name) => [name, await fetchBlobs(from, name, ids)] as const)),
  );
  return ids.map((_, row) =>
    Object.fromEntries(
      names.map((name) => [name, payloads.get(name)?.[row] ?? valueOf(from.spec, rows, { name, row })]),
    ),
  );
}

/** A row of a batch as it was built, payload included. */
export function keptValues(spec: TableSpec, rows: Rows, row: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(spec.columns).map((name) => [
      name,
      spec.columns[name]?.type === "blob" ? rows.payload(name, row) : valueOf(spec, rows, { name, row }),
    ]),
  );
}

function valueOf(
  spec: TableSpec,
  rows: Rows,
  { name, row }: { readonly name: string; readonly row: number },
): unknown {
  switch (spec.columns[name]?.type) {
    case "utf8":
      return rows.stringOrNull(name, row);
    case "binary":
      return rows.bytes(name, row);
    case "int32":
      return rows.intOrNull(name, row);
    case "int64":
      return rows.bigint(name, row);
    case "timestamp_us":
      return rows.timestampOrNull(name, row);
    case "bool":
      return rows.boolOrNull(name, row);
    case "float16_vector":
      return rows.vector(name, row);
    case "blob":
    case undefined:
      return null;
  }
}
