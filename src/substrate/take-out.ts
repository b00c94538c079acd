/**
 * Taking damaged fragments out of a local table (spec.md#keep-repair): one file that cannot be read fails every scan of the
 * table. What can still be read of them is kept in files beside the table first, and stored again where its keys are absent
 * afterwards, so that a crash at any moment loses nothing that was readable.
 */
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isPondError } from "../base/errors.ts";
import { makeFolders } from "../base/folders.ts";
import { Batch, BatchBuilder } from "./arrow/batch.ts";
import { call, type Handle } from "./handle.ts";
import { SALVAGE } from "./local/check.ts";
import { ignoreMissing } from "./local/files.ts";
import { manifestNames, readManifest } from "./local/manifest.ts";
import { inFragment, renderPredicate } from "./predicate.ts";
import { collect } from "./read/collect.ts";
import { scanQuery } from "./read/query.ts";
import { Rows } from "./arrow/rows.ts";
import { wholeRows } from "./salvage.ts";
import { insert } from "./write.ts";

/** What became of the rows of fragments that were taken out. */
export interface TakenOut {
  /** Rows that the fragments had. */
  readonly rows: number;
  /** Of these, rows that could still be read. */
  readonly kept: number;
}

/** Which kept rows: those whose value is proven, and all others. */
export type Kept = "proven" | "unproven";

const FOLDER = SALVAGE;
/** Reads that fail one behind the other before a fragment is given up: none of its rows can be read then. */
const MOST_FAILURES = 64;

type Values = Readonly<Record<string, unknown>>;

/** The values of the first key column of what can be read of some fragments. */
export async function firstKeysOf(
  handle: Handle,
  fragments: readonly number[],
): Promise<ReadonlySet<string>> {
  const [column] = handle.spec.primaryKey;
  const keys = new Set<string>();
  for (const { id, rows } of await fragmentsOf(handle, fragments))
    await readable({ id, rows }, async (from, to) => {
      const found = await read(handle, [column], { id, from, to });
      for (let row = 0; row < found.length; row++) keys.add(found.string(column, row));
    });
  return keys;
}

/** Keeps what can be read of the fragments and deletes them. `isProven` tells by the value of the first key column. */
export async function takeOut(
  handle: Handle,
  fragments: readonly number[],
  isProven: (firstKey: string) => boolean,
): Promise<TakenOut> {
  const lists: Readonly<Record<Kept, Keeper>> = {
    proven: new Keeper(handle, "proven"),
    unproven: new Keeper(handle, "unproven"),
  };
  const [column] = handle.spec.primaryKey;
  const all = await fragmentsOf(handle, fragments);
  let kept = 0;
  for (const { id, rows } of all)
    await readable({ id, rows }, async (from, to) => {
      const found = await read(handle, Object.keys(handle.spec.columns), { id, from, to });
      const whole = await wholeRows(handle, found);
      for (const values of whole)
        await lists[isProven(String(values[column])) ? "proven" : "unproven"].add(values);
      kept += whole.length;
    });
  for (const keeper of Object.values(lists)) await keeper.finish();
  for (const { id, rows } of all) {
    const where = renderPredicate(inFragment(id, 0, rows), handle.spec);
    await call(handle, "take a damaged file out of", (table) => table.delete(where));
  }
  await handle.settle();
  return { rows: all.reduce((sum, { rows }) => sum + rows, 0), kept };
}

/** Stores kept rows again whose keys are absent, and says how many these were. */
export async function putBack(handle: Handle, which: Kept): Promise<number> {
  const folder = folderOf(handle);
  let inserted = 0;
  for (const name of (await readdir(folder).catch(ignoreMissing)) ?? []) {
    const path = join(folder, name);
    // What a kill left of one: its rows are still where they were.
    if (name.endsWith(".new")) await rm(path, { force: true });
    if (!name.startsWith(`${which}-`) || !name.endsWith(".arrow")) continue;
    const rows = Number(/-(\d+)\.arrow$/.exec(name)?.[1] ?? 0);
    const ipc = await readFile(path);
    const batch = new Batch(handle.spec, { ipc, rows, bytes: ipc.length });
    inserted += (await insert(handle, batch)).inserted;
    await rm(path);
  }
  return inserted;
}

const folderOf = ({ directory = "" }: Handle): string => join(directory, FOLDER);

interface FragmentSize {
  readonly id: number;
  readonly rows: number;
}

async function fragmentsOf({ directory = "" }: Handle, wanted: readonly number[]): Promise<FragmentSize[]> {
  const [newest = ""] = await manifestNames(directory);
  const { fragments = [] } = (await readManifest(directory, newest)) ?? {};
  return fragments.filter(({ id }) => wanted.includes(id)).map(({ id, rows }) => ({ id, rows }));
}

/** Calls `use` for ranges of rows that together are all that it does not fail for: halves of one that it does. */
async function readable(
  { rows }: FragmentSize,
  use: (from: number, to: number) => Promise<void>,
): Promise<void> {
  let failures = 0;
  let isAnyRead = false;
  const ranges: [number, number][] = [[0, rows]];
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const [from, to] = range;
    if (from >= to) continue;
    try {
      await use(from, to);
      isAnyRead = true;
    } catch (error) {
      if (!isPondError(error) && !(error instanceof Error)) throw error;
      if (!isAnyRead && ++failures > MOST_FAILURES) return;
      if (to - from === 1) continue;
      const middle = from + Math.floor((to - from) / 2);
      ranges.push([middle, to], [from, middle]);
    }
  }
}

async function read(
  handle: Handle,
  select: readonly string[],
  { id, from, to }: { readonly id: number; readonly from: number; readonly to: number },
): Promise<Rows> {
  const options = { select, where: inFragment(id, from, to), withRowId: true };
  return Rows.fromIpc(
    handle.lance,
    await collect(handle, "read", (table) => scanQuery(handle, table, options)),
  );
}

/** Rows into files, a batch each. */
class Keeper {
  readonly #handle: Handle;
  readonly #which: Kept;
  #builder: BatchBuilder;
  #files = 0;

  constructor(handle: Handle, which: Kept) {
    this.#handle = handle;
    this.#which = which;
    this.#builder = new BatchBuilder(handle.lance, handle.spec);
  }

  async add(values: Values): Promise<void> {
    if (this.#builder.addUntyped(values) !== "full") return;
    await this.finish();
    this.#builder.addUntyped(values);
  }

  async finish(): Promise<void> {
    if (this.#builder.rows === 0) return;
    const { ipc, rows } = this.#builder.finish();
    this.#builder = new BatchBuilder(this.#handle.lance, this.#handle.spec);
    const folder = folderOf(this.#handle);
    makeFolders(folder);
    // A name of its own: an earlier repair may have been cut off.
    const name = `${this.#which}-${crypto.randomUUID()}-${this.#files++}-${rows}.arrow`;
    const draft = join(folder, `${name}.new`);
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(ipc);
      await file.sync();
    } finally {
      await file.close();
    }
    // Whole or not at all: nothing is deleted before it is there.
    await rename(draft, join(folder, name));
  }
}
