/**
 * The batches of a query, as the engine gives them. Text offsets are 32-bit, so a batch of long values can be too long
 * for itself: it is then asked for again in smaller ones.
 */
import { call, type Handle } from "../handle/handle.ts";
import { type AnyQuery, type LanceTable, nativeBatches } from "../engine/lance.ts";

/** Fastest to decode. */
export const BATCH_ROWS = 1024;

/** All batches of a query; where one is too long for itself, all again in smaller ones. */
export async function collect(
  handle: Handle,
  verb: string,
  build: (table: LanceTable) => AnyQuery,
): Promise<Buffer[]> {
  try {
    return await collectBy(BATCH_ROWS, { handle, verb, build });
  } catch (error) {
    if (!isOverflow(error)) throw error;
    return collectBy(1, { handle, verb, build });
  }
}

interface Collection {
  readonly handle: Handle;
  readonly verb: string;
  readonly build: (table: LanceTable) => AnyQuery;
}

export async function collectBy(rows: number, { handle, verb, build }: Collection): Promise<Buffer[]> {
  return (await call(handle, verb, (table) => Array.fromAsync(nativeBatches(build(table), rows)))).value;
}

export const isOverflow = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && /Offset overflow/i.test(error.cause.message);
