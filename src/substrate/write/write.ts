/**
 * The one way in: insert rows whose key is absent (spec.md#lance-chokepoints-write,
 * spec.md#lance-append-only). By a look for the keys and an append, where the table's lock can be had alone; by a merge
 * otherwise. The merge is always on the primary key in its declared order: on any other columns or order the engine does
 * not notice that two writers add the same key, and keeps both.
 */
import { PondError } from "../../base/errors.ts";
import { mayAppend, sayNever } from "../handle/append.ts";
import { type Batch, BatchBuilder } from "../arrow/batch.ts";
import { besideMergers, call, type Handle } from "../handle/handle.ts";
import { BatchKeys, isTextOf } from "./key-lookup.ts";
import { nativeAppend, nativeMerge } from "../engine/lance.ts";
import { scanIn } from "../read/scan.ts";
import { joinKey, type RowOf, type TableSpec } from "../engine/spec.ts";

export interface InsertResult {
  /** Rows that were absent; the others are there already and stay as they are. */
  readonly inserted: number;
  /** Tries it took, the engine's own included. */
  readonly attempts: number;
  /** The table's version that holds all rows of the batch. */
  readonly version: number;
}

export interface InsertRowsResult {
  readonly inserted: number;
  /** Rows whose key was there before. */
  readonly matched: number;
  /** Rows whose key came twice in the input; the first one counts. */
  readonly duplicates: number;
}

/** How long to try to be alone: less than a merge takes in the tables where that matters. */
const ALONE_WAIT_MS = 150;

/** Inserts what is absent. When it returns, the rows survive a crash of the process and of the machine. */
export async function insert<S extends TableSpec>(handle: Handle<S>, batch: Batch<S>): Promise<InsertResult> {
  if (batch.spec !== handle.spec)
    throw new PondError("internal", `a batch of ${batch.spec.name} for ${handle.spec.name}`);
  if (batch.rows === 0) return { inserted: 0, attempts: 0, version: await version(handle) };
  const { lock, policy } = handle;
  if (lock === undefined && handle.directory !== undefined) await sayNever(handle);
  const alone = await lock?.exclusive(policy.clock, ALONE_WAIT_MS, () => appendOrMerge(handle, batch));
  const result = alone?.value ?? (await besideMergers(handle, () => merge(handle, batch)));
  await handle.settle();
  return result;
}

/** For the one who holds the lock alone: what it does not find stored now is absent until it has appended it. */
async function appendOrMerge<S extends TableSpec>(handle: Handle<S>, batch: Batch<S>): Promise<InsertResult> {
  await call(handle, "read", (table) => table.checkoutLatest());
  const before = await version(handle);
  // The version of one's own last append says what it said then.
  if (!handle.ownAppends.knows(before) && !(await mayAppend(handle))) return merge(handle, batch);
  const keys = new BatchKeys(handle, batch);
  const stored = await keys.stored(handle, handle.ownAppends, before);
  if (stored === "some") return merge(handle, batch);
  try {
    const { version: after } = await nativeAppend(handle.native, batch.ipc);
    handle.ownAppends.appended(keys, { before, after, isNew: stored === "new_groups" });
    return { inserted: batch.rows, attempts: 1, version: after };
  } catch {
    // It may have been committed, so it is never called again: a merge finds what there is. Nobody else wrote meanwhile.
    await call(handle, "read", (table) => table.checkoutLatest());
    const merged = await merge(handle, batch);
    return { ...merged, inserted: batch.rows, attempts: merged.attempts + 1 };
  }
}

async function merge(handle: Handle, batch: Batch): Promise<InsertResult> {
  const { value, attempts } = await call(handle, "write to", async (table) => {
    const useIndex = await handle.mergeChoice.useIndex(table, handle.spec, batch.rows);
    return nativeMerge(table, handle.spec.primaryKey).useIndex(useIndex).execute(batch.ipc);
  });
  return {
    inserted: value.numInsertedRows,
    attempts: attempts - 1 + value.numAttempts,
    version: value.version,
  };
}

/** Looks up which keys are there, drops those rows, and inserts the rest in batches. */
export async function insertRows<S extends TableSpec>(
  handle: Handle<S>,
  rows: Iterable<RowOf<S>>,
): Promise<InsertRowsResult> {
  const all = [...rows];
  const known = await knownKeys(handle, new Set(all.map((row) => keyPart(row, handle.spec.primaryKey[0]))));
  const seen = new Set<string>();
  const absent: RowOf<S>[] = [];
  let duplicates = 0;
  for (const row of all) {
    const key = joinKey(handle.spec.primaryKey.map((column) => keyPart(row, column)));
    if (seen.has(key)) duplicates++;
    else if (!known.hasKey(key)) absent.push(row);
    seen.add(key);
  }
  let inserted = 0;
  for (const batch of batches(handle, absent)) inserted += (await insert(handle, batch)).inserted;
  return { inserted, matched: all.length - duplicates - inserted, duplicates };
}

function* batches<S extends TableSpec>(handle: Handle<S>, rows: readonly RowOf<S>[]): Generator<Batch<S>> {
  let builder = new BatchBuilder(handle.lance, handle.spec);
  for (const row of rows) {
    if (builder.add(row) !== "full") continue;
    yield builder.finish();
    builder = new BatchBuilder(handle.lance, handle.spec);
    builder.add(row);
  }
  if (builder.rows > 0) yield builder.finish();
}

/** Which column of a primary key. */
export type KeyPlace = 0 | 1;

/** Keys that are stored. */
export class KeySet {
  readonly #keys: Set<string>;

  constructor(joined: Iterable<string> = []) {
    this.#keys = new Set(joined);
  }

  /** Each key as `joinKey` spells it. */
  get joined(): ReadonlySet<string> {
    return this.#keys;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The values of the key columns in key order. */
  has(...parts: readonly string[]): boolean {
    return this.#keys.has(joinKey(parts));
  }

  hasKey(joined: string): boolean {
    return this.#keys.has(joined);
  }

  /** @internal */
  add(joined: string): void {
    this.#keys.add(joined);
  }
}

/**
 * All stored keys that have one of these values in a column of the key, the first if not told otherwise. Reads key
 * columns only. What it names is as safe from a power cut as an insert, so a caller may report those rows as stored.
 */
export async function knownKeys<S extends TableSpec>(
  handle: Handle<S>,
  values: Iterable<string>,
  place: KeyPlace = 0,
): Promise<KeySet> {
  const names = handle.spec.primaryKey.filter(isTextOf(handle.spec));
  const column = names[place];
  const keys = new KeySet();
  if (column === undefined) return keys;
  for await (const rows of scanIn(handle, { column, values }, { select: names }))
    for (let row = 0; row < rows.length; row++)
      keys.add(joinKey(names.map((name) => rows.string(name, row))));
  if (keys.size > 0) await handle.settle();
  return keys;
}

export async function version(handle: Handle): Promise<number> {
  return (await call(handle, "read", (table) => table.version())).value;
}

function keyPart(row: Readonly<Record<string, unknown>>, column: string): string {
  const value = row[column];
  if (typeof value !== "string")
    throw new PondError("validation_failed", `key column ${column} must be text`);
  return value;
}
