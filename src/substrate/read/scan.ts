/**
 * Scans by a filter (spec.md#lance-chokepoints-read). Long columns are read by row id once the filter has decided,
 * because the engine otherwise decodes them for every row that no index covers yet.
 */
import { Rows } from "../arrow/rows.ts";
import { call, type Handle } from "../handle/handle.ts";
import { nativeBatches } from "../engine/lance.ts";
import { and, type Condition, isIn, renderAccepts, renderPredicate } from "../engine/predicate.ts";
import { engineError } from "../engine/retry.ts";
import type { ColumnName, TableSpec } from "../engine/spec.ts";
import { BATCH_ROWS, collect, isOverflow } from "./collect.ts";
import { unindexedRows } from "./coverage.ts";
import { isLongIn, scanQuery, type ScanOptions } from "./query.ts";
import { secondStep } from "./take.ts";

/** Rows without an index up to which one step is cheaper than two. */
const FEW_UNINDEXED = 500;
/** From here on one scan is cheaper than fetching row by row. */
const TWO_STEP_ROWS = 20_000;
/** Values of one IN list; measured as a good step for btree lookups. */
const IN_STEP = 500;

export async function scan<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
): Promise<Rows<S>> {
  if (options.where === undefined || !(await isTwoStep(handle, options))) return scanOnce(handle, options);
  const keys = await scanOnce(handle, { ...options, select: [], withRowId: true });
  if (keys.length > TWO_STEP_ROWS) return scanOnce(handle, options);
  return secondStep(handle, keys, options.select);
}

/**
 * Of rows that no index covers yet the engine decodes every column that is selected, whether the filter takes the row or
 * not: long columns are never worth that, short ones only while there are few such rows. 5,000 of them made the parts of
 * a session cost 14 ms of CPU instead of 2; in two steps it is 5. Where an index covers all rows, a step is saved.
 */
async function isTwoStep<S extends TableSpec>(
  handle: Handle<S>,
  { select, few }: ScanOptions<S>,
): Promise<boolean> {
  const isLong = select.some((name) => isLongIn(handle.spec, name));
  if (few !== true) return isLong;
  const unindexed = await unindexedRows(handle);
  return unindexed === undefined ? isLong : unindexed > (isLong ? 0 : FEW_UNINDEXED);
}

/**
 * Streams a scan in bounded memory. Where a batch of long values is too long for itself, it goes on in
 * smaller ones.
 */
export async function* scanBatches<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
): AsyncGenerator<Rows<S>> {
  let delivered = 0;
  for (const size of [BATCH_ROWS, 1])
    try {
      const rest = {
        ...options,
        offset: (options.offset ?? 0) + delivered,
        ...(options.limit === undefined ? {} : { limit: options.limit - delivered }),
      };
      for await (const buffer of batchesOf(handle, rest, size)) {
        const rows = Rows.fromIpc<S>(handle.lance, [buffer]);
        delivered += rows.length;
        yield rows;
      }
      return;
    } catch (error) {
      if (size === 1 || !isOverflow(error)) throw error;
    }
}

/** Retried until the first batch is there, then it is one stream. */
async function* batchesOf<S extends TableSpec>(
  handle: Handle<S>,
  options: ScanOptions<S>,
  size: number,
): AsyncGenerator<Buffer> {
  const { value: stream } = await call(handle, "read", async (table) => {
    const batches = nativeBatches(scanQuery(handle, table, options), size);
    return { first: await batches.next(), batches };
  });
  for (let next = stream.first; next.done !== true; next = await nextOf(handle, stream.batches))
    yield next.value;
}

/** An error in the middle of a stream is translated, not retried: what was delivered cannot be taken back. */
async function nextOf(handle: Handle, batches: AsyncGenerator<Buffer>): Promise<IteratorResult<Buffer>> {
  try {
    return await batches.next();
  } catch (error) {
    const { where, policy } = handle;
    const secrets = policy.secrets ?? [];
    throw engineError(error, { what: `read ${handle.spec.name}`, where, attempts: 1, secrets });
  }
}

/** A scan over a list of values of one column, in steps; the rows of a step come together. */
export async function* scanIn<S extends TableSpec>(
  handle: Handle<S>,
  list: { readonly column: ColumnName<S>; readonly values: Iterable<string> },
  options: ScanOptions<S>,
): AsyncGenerator<Rows<S>> {
  const values = [...new Set(list.values)];
  for (let start = 0; start < values.length; start += IN_STEP) {
    const step: Condition = isIn(list.column, values.slice(start, start + IN_STEP));
    yield await scan(handle, {
      ...options,
      where: options.where === undefined ? step : and(step, options.where),
    });
  }
}

export async function count(handle: Handle, where?: Condition): Promise<number> {
  const filter = where === undefined ? undefined : renderPredicate(where, handle.spec);
  return (await call(handle, "count", (table) => table.countRows(filter))).value;
}

/** Throws the engine's refusal of a pattern that it cannot read; looks at no row. */
export async function checkPattern(handle: Handle, pattern: string): Promise<void> {
  await call(handle, "read", (table) => {
    const query = table.query().where(renderAccepts(pattern)).select([]).withRowId().limit(1);
    return Array.fromAsync(nativeBatches(query, BATCH_ROWS));
  });
}

async function scanOnce<S extends TableSpec>(handle: Handle<S>, options: ScanOptions<S>): Promise<Rows<S>> {
  const buffers = await collect(handle, "read", (table) => scanQuery(handle, table, options));
  return Rows.fromIpc<S>(handle.lance, buffers);
}
