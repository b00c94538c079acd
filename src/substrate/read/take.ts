/** Rows by the engine's row ids: the second step of a read, once a filter has decided which (spec.md#lance-chokepoints-read). */
import { matchColumn, matchLengthColumn, Rows } from "../arrow/rows.ts";
import { call, type Handle } from "../handle/handle.ts";
import type { AnyQuery, LanceTable } from "../engine/lance.ts";
import { renderMatchLength, renderMatchPosition } from "../engine/predicate.ts";
import type { ColumnName, ColumnsOf, TableSpec } from "../engine/spec.ts";
import { BATCH_ROWS, collectBy, isOverflow } from "./collect.ts";

/** Row ids of one take. */
const TAKE_ROWS = 5000;

/** In the order of the ids given. */
export async function take<S extends TableSpec>(
  handle: Handle<S>,
  rowIds: readonly bigint[],
  select: readonly ColumnName<S>[],
): Promise<Rows<S>> {
  return takeAll(handle, rowIds, [...select]);
}

/** Those of the rows that are there, in the order of the store: others may have been taken out since. `rows.rowId(i)`. */
export async function takePresent<S extends TableSpec>(
  handle: Handle<S>,
  rowIds: readonly bigint[],
  select: readonly ColumnName<S>[],
): Promise<Rows<S>> {
  return Rows.fromIpc<S>(handle.lance, await buffersOf(handle, rowIds, [...select]));
}

/** The same with where a pattern of the engine (`matches`) first stands in a text column: `rows.matchAt(column, i)` and `rows.matchLength(column, i)`. */
export function takeMatches<S extends TableSpec>(
  handle: Handle<S>,
  rowIds: readonly bigint[],
  find: {
    readonly column: ColumnsOf<S, "utf8">;
    readonly pattern: string;
    readonly select: readonly ColumnName<S>[];
  },
): Promise<Rows<S>> {
  const { column, pattern } = find;
  const computed: Selection = new Map([
    ...find.select.map((name): [string, string] => [name, name]),
    [matchColumn(column), renderMatchPosition(column, pattern, handle.spec)],
    [matchLengthColumn(column), renderMatchLength(column, pattern, handle.spec)],
  ]);
  return takeAll(handle, rowIds, computed);
}

/** Names of columns, or by their names what is computed. */
type Selection = string[] | Map<string, string>;

async function takeAll<S extends TableSpec>(
  handle: Handle<S>,
  rowIds: readonly bigint[],
  select: Selection,
): Promise<Rows<S>> {
  return Rows.fromIpc<S>(handle.lance, await buffersOf(handle, rowIds, select)).inOrder(rowIds);
}

async function buffersOf(handle: Handle, rowIds: readonly bigint[], select: Selection): Promise<Buffer[]> {
  const buffers: Buffer[] = [];
  for (let start = 0; start < rowIds.length; start += TAKE_ROWS)
    buffers.push(...(await takeStep(handle, rowIds.slice(start, start + TAKE_ROWS), select)));
  return buffers;
}

/** The rows that the first step of a read found, with these columns beside what it knows of them. */
export async function secondStep<S extends TableSpec>(
  handle: Handle<S>,
  first: Rows<S>,
  select: readonly ColumnName<S>[],
): Promise<Rows<S>> {
  if (first.length === 0) return first;
  const rows = await take(handle, first.rowIds(), select);
  return rows.beside(first);
}

/** Payloads of a blob column in the order of the row ids; null where there is none. */
export async function fetchBlobs<S extends TableSpec>(
  handle: Handle<S>,
  column: ColumnsOf<S, "blob">,
  rowIds: readonly bigint[],
): Promise<(Uint8Array | null)[]> {
  if (rowIds.length === 0) return [];
  return (await call(handle, "read", (table) => table.fetchBlobs(column, [...rowIds]))).value;
}

/** The engine answers a take in one batch; one that is too long for itself is asked for in halves. */
async function takeStep(handle: Handle, rowIds: readonly bigint[], select: Selection): Promise<Buffer[]> {
  try {
    const build = (table: LanceTable): AnyQuery =>
      table
        .takeRowIds([...rowIds])
        .select(select)
        .withRowId();
    return await collectBy(BATCH_ROWS, { handle, verb: "read", build });
  } catch (error) {
    if (rowIds.length === 1 || !isOverflow(error)) throw error;
    const middle = rowIds.length >> 1;
    const first = await takeStep(handle, rowIds.slice(0, middle), select);
    return [...first, ...(await takeStep(handle, rowIds.slice(middle), select))];
  }
}
