/**
 * The only loader of the engine's binding (spec.md#lance-chokepoints). Loading costs 0.1-0.5 s, so it happens
 * when a store is opened, not when this room is imported.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type * as Arrow from "apache-arrow";
import type * as LanceDb from "@lancedb/lancedb";
import { ownedName, ownerOf } from "../../base/files/owned-name.ts";
import { TEMPORARY, unusable } from "../../base/files/unusable.ts";

export type { Arrow, LanceDb };
export type LanceTable = LanceDb.Table;
export type LanceConnection = LanceDb.Connection;

/** Enough to build batches: a thread that never opens a store needs no binding. */
export interface ArrowLibrary {
  readonly arrow: typeof Arrow;
}

export interface Lance extends ArrowLibrary {
  readonly lancedb: typeof LanceDb;
}

const require = createRequire(import.meta.url);
let loaded: Lance | undefined;

/**
 * Loads binding and Arrow once. Both through `require`: an ESM import of Arrow would be a second copy whose
 * classes the binding does not recognise.
 */
export function loadLance(): Lance {
  if (loaded !== undefined) return loaded;
  // The engine reads this once, while loading; its warnings would go to the stderr of every command.
  process.env["LANCEDB_LOG"] ??= "error";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- require is untyped; versions are pinned and tested
  loaded = { ...loadArrow(), lancedb: require("@lancedb/lancedb") as typeof LanceDb };
  return loaded;
}

let ownTemp: string | undefined;

/**
 * A cache of the engine. With it the engine makes a folder for temporary files and never takes it away: it is made inside
 * one of this process, which goes when the process ends.
 */
export function newSession(
  { lancedb }: Lance,
  cacheBytes: { readonly index: number; readonly metadata: number },
): LanceDb.Session {
  const before = process.env[TEMP_VARIABLE];
  ownTemp = ownTempNow();
  process.env[TEMP_VARIABLE] = ownTemp;
  try {
    return new lancedb.Session(BigInt(cacheBytes.index), BigInt(cacheBytes.metadata));
  } finally {
    if (before === undefined) delete process.env[TEMP_VARIABLE];
    else process.env[TEMP_VARIABLE] = before;
  }
}

/**
 * Runs what has the engine sort vectors. It does so in folders for temporary files, as large as the vectors, that it never
 * takes away, killed or not: they are made inside one that goes with the run. Never two at once.
 */
export async function inOwnTemp<T>(run: () => Promise<T>): Promise<T> {
  const before = process.env[TEMP_VARIABLE];
  ownTemp = ownTempNow();
  const folder = mkdtempSync(join(ownTemp, "run-"));
  process.env[TEMP_VARIABLE] = folder;
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env[TEMP_VARIABLE];
    else process.env[TEMP_VARIABLE] = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
  }
}

/** Where it was swept away under a process that runs for weeks, the engine would end the process. */
const ownTempNow = (): string => (ownTemp !== undefined && existsSync(ownTemp) ? ownTemp : makeOwnTemp());

const TEMP_VARIABLE = process.platform === "win32" ? "TMP" : "TMPDIR";
const TEMP_PREFIX = "pond-engine-";

function makeOwnTemp(): string {
  removeLeftBehind(tmpdir());
  const folder = inTemporary(tmpdir());
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 2 }));
  return folder;
}

/** Those of processes that were killed. What cannot be removed is no reason not to go on. */
function removeLeftBehind(folder: string): void {
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(TEMP_PREFIX) && ownerOf(TEMP_PREFIX, name) === "dead")
        rmSync(join(folder, name), { recursive: true, force: true });
  } catch {
    // The next one tries again.
  }
}

function inTemporary(folder: string): string {
  try {
    return mkdtempSync(join(folder, ownedName(TEMP_PREFIX)));
  } catch (error) {
    throw unusable(folder, TEMPORARY, error);
  }
}

/**
 * Arrow as the one file that its own package bundles, under the name by which the binding asks for it: 134 files take
 * 70 ms to load, the bundle 9 ms, at the start of every command that opens a store.
 */
export function loadArrow(): ArrowLibrary {
  const name = require.resolve("apache-arrow");
  const bundle = join(dirname(name), "Arrow.esnext.min.js");
  if (require.cache[name] === undefined && existsSync(bundle)) {
    require(bundle);
    require.cache[name] = require.cache[bundle];
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return { arrow: require("apache-arrow") as typeof Arrow };
}

export type AnyQuery = LanceDb.Query | LanceDb.VectorQuery | LanceDb.TakeQuery;

export interface MergeResult {
  readonly version: number;
  readonly numInsertedRows: number;
  readonly numAttempts: number;
}

interface NativeMerge {
  whenNotMatchedInsertAll(): NativeMerge;
  useIndex(use: boolean): NativeMerge;
  execute(ipcFile: Buffer): Promise<MergeResult>;
}

interface NativeBatches {
  next(): Promise<Buffer | null>;
}

/** The binding's private half, which takes and gives Arrow IPC without building JavaScript rows. */
interface NativeTable {
  add(ipcFile: Buffer, mode: "append"): Promise<{ readonly version: number }>;
  mergeInsert(on: string[]): NativeMerge;
  addColumnsWithSchema(ipcFile: Buffer): Promise<unknown>;
}

interface NativeQuery {
  execute(maxBatchLength?: number): Promise<NativeBatches>;
}

/** The private halves: plain properties in JavaScript, hidden only by the type declarations. */
/* oxlint-disable typescript/no-unsafe-type-assertion -- the one place that names the private field */
const innerTable = (table: LanceTable): NativeTable =>
  (table as unknown as { readonly inner: NativeTable }).inner;
const innerQuery = (query: AnyQuery): NativeQuery =>
  (query as unknown as { readonly inner: NativeQuery }).inner;
/* oxlint-enable typescript/no-unsafe-type-assertion */

/** Insert-if-absent of an Arrow IPC file on exactly these columns. Only write.ts calls it. */
export function nativeMerge(table: LanceTable, on: readonly string[]): NativeMerge {
  return innerTable(table)
    .mergeInsert([...on])
    .whenNotMatchedInsertAll();
}

/**
 * Appends an Arrow IPC file as it is, whatever is stored and whoever commits meanwhile. Only write.ts calls it, under the
 * table's lock, and never a second time for one batch: what fails may have been committed.
 */
export function nativeAppend(table: LanceTable, ipcFile: Buffer): Promise<{ readonly version: number }> {
  return innerTable(table).add(ipcFile, "append");
}

export function nativeAddColumns(table: LanceTable, schemaIpc: Buffer): Promise<unknown> {
  return innerTable(table).addColumnsWithSchema(schemaIpc);
}

/** Streams a query's record batches as Arrow IPC buffers. */
export async function* nativeBatches(query: AnyQuery, maxBatchLength: number): AsyncGenerator<Buffer> {
  const batches = await innerQuery(query).execute(maxBatchLength);
  for (let buffer = await batches.next(); buffer !== null; buffer = await batches.next()) yield buffer;
}
