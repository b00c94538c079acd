/**
 * The column writers of one table, handed from batch to batch: an import fills dozens of batches of the same size, and
 * growing new buffers for each cost as much as filling them.
 */
import type { Column, TableSpec } from "../engine/spec.ts";
import { type ColumnWriter, columnWriter } from "./columns.ts";

export type ColumnSet = readonly {
  readonly name: string;
  readonly column: Column;
  readonly writer: ColumnWriter;
}[];

/** As many as one import fills at a time: a batch being filled, others waiting to be written. */
const MOST_KEPT = 2;

const kept = new WeakMap<TableSpec, ColumnSet[]>();

/** Empty columns of this table. */
export function takeColumns(spec: TableSpec): ColumnSet {
  return kept.get(spec)?.pop() ?? Object.entries(spec.columns).map(toEntry);
}

/** The caller has copied what it needs. */
export function giveBack(spec: TableSpec, columns: ColumnSet): void {
  const free = kept.get(spec) ?? [];
  kept.set(spec, free);
  if (free.length >= MOST_KEPT) return;
  for (const { writer } of columns) writer.clear();
  free.push(columns);
}

const toEntry = ([name, column]: [string, Column]): ColumnSet[number] => ({
  name,
  column,
  writer: columnWriter(column),
});
