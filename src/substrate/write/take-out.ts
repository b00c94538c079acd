/**
 * Taking damaged fragments out of a local table (spec.md#keep-repair): one file that cannot be read fails every scan of the
 * table. What can still be read of them is kept in files beside the table first, and stored again where its keys are absent
 * afterwards, so that a crash at any moment loses nothing that was readable.
 */
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isPondError } from "../../base/errors.ts";
import { makeFolders } from "../../base/files/folders.ts";
import { BatchBuilder } from "../arrow/batch.ts";
import { besideMergers, call, type Handle } from "../handle/handle.ts";
import { SALVAGE } from "../local/check.ts";
import { ignoreMissing } from "../local/files.ts";
import { manifestNames, readManifest } from "../local/manifest.ts";
import { moveAway } from "../local/set-aside.ts";
import { and, inFragment, isIn, renderPredicate } from "../engine/predicate.ts";
import { collect } from "../read/collect.ts";
import { scanQuery } from "../read/query.ts";
import { scanBatches } from "../read/scan.ts";
import { Rows } from "../arrow/rows.ts";
import { keptValues, wholeRows } from "./salvage.ts";
import { joinKey, type RowOf, type TableSpec } from "../engine/spec.ts";
import { insert, knownKeys } from "./write.ts";

/** What became of the rows of fragments that were taken out. */
export interface TakenOut {
  /** Rows that the fragments had. */
  readonly rows: number;
  /** Of these, rows that could still be read. */
  readonly kept: number;
}

/** Values of the first key column, and of the next ones where not all of those are meant; at most a scan's worth of each. */
export interface KeyBeginnings {
  readonly firsts: readonly string[];
  readonly seconds?: readonly string[];
  readonly thirds?: readonly string[];
}

/** What becomes of a kept row: it goes back, with other values, or it does not. */
export type Verdict<S extends TableSpec> = "as it is" | "leave out" | RowOf<S>;

/** Tells for each row of a file, in its order. */
export type Judge<S extends TableSpec> = (rows: Rows<S>) => Promise<readonly Verdict<S>[]>;

export interface PutBack {
  readonly inserted: number;
  /** Rows that are not stored in the end. */
  readonly leftOut: number;
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
    await besideMergers(handle, () =>
      call(handle, "take a damaged file out of", (table) => table.delete(where)),
    );
  }
  await handle.settle();
  return { rows: all.reduce((sum, { rows }) => sum + rows, 0), kept };
}

/** The same for rows by the first columns of their keys, in whichever fragments. Says how many. */
export async function takeOutKeys(handle: Handle, keys: KeyBeginnings): Promise<number> {
  const { firsts, seconds, thirds } = keys;
  const values = [firsts, seconds, thirds];
  const where = and(
    ...handle.spec.primaryKey.flatMap((column, at) => {
      const own = values[at];
      return own === undefined ? [] : [isIn(column, own)];
    }),
  );
  const keeper = new Keeper(handle, "unproven");
  let taken = 0;
  for await (const rows of scanBatches(handle, {
    select: Object.keys(handle.spec.columns),
    where,
    withRowId: true,
  }))
    for (const row of await wholeRows(handle, rows)) {
      await keeper.add(row);
      taken += 1;
    }
  await keeper.finish();
  const rendered = renderPredicate(where, handle.spec);
  if (taken > 0)
    await besideMergers(handle, () => call(handle, "take rows out of", (table) => table.delete(rendered)));
  await handle.settle();
  return taken;
}

/** True where every value of a fragment can be read. */
export async function isReadable(handle: Handle, fragment: number): Promise<boolean> {
  for (const { id, rows } of await fragmentsOf(handle, [fragment])) {
    const select = Object.keys(handle.spec.columns);
    for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
      const found = await read(handle, select, { id, from, to: from + ROWS_AT_ONCE }).catch(() => undefined);
      const whole = found && (await wholeRows(handle, found).catch(() => undefined));
      if (whole === undefined) return false;
    }
  }
  return true;
}

const ROWS_AT_ONCE = 4096;

/** The kept rows, a file at a time. */
export async function* keptRows<S extends TableSpec>(
  handle: Handle<S>,
  which: Kept,
): AsyncGenerator<Rows<S>> {
  for (const path of await keptFiles(handle, which)) yield Rows.fromIpc(handle.lance, [await readFile(path)]);
}

/**
 * Stores kept rows again whose keys are absent. A file with rows that are left out is moved to quarantine, so that they
 * are lost only when everything is proven without them.
 */
export async function putBack<S extends TableSpec>(
  handle: Handle<S>,
  which: Kept,
  judge: Judge<S>,
): Promise<PutBack> {
  const sum = { inserted: 0, leftOut: 0 };
  for (const path of await keptFiles(handle, which)) {
    const ipc = [await readFile(path)];
    const rows: Rows = Rows.fromIpc(handle.lance, ipc);
    const verdicts = await judge(Rows.fromIpc(handle.lance, ipc));
    let builder = new BatchBuilder(handle.lance, handle.spec);
    const flush = async (): Promise<void> => {
      if (builder.rows > 0) sum.inserted += (await insert(handle, builder.finish())).inserted;
      builder = new BatchBuilder(handle.lance, handle.spec);
    };
    for (const [row, verdict] of verdicts.entries()) {
      if (verdict === "leave out") continue;
      const values = verdict === "as it is" ? keptValues(handle.spec, rows, row) : verdict;
      if (builder.addUntyped(values) !== "full") continue;
      await flush();
      builder.addUntyped(values);
    }
    await flush();
    const leftOut = await countAbsent(
      handle,
      verdicts.flatMap((verdict, row) => (verdict === "leave out" ? [keyAt(handle.spec, rows, row)] : [])),
    );
    sum.leftOut += leftOut;
    if (leftOut > 0) await moveAway(handle.directory ?? "", path);
    else await rm(path);
  }
  return sum;
}

const keyAt = ({ primaryKey }: TableSpec, rows: Rows, row: number): readonly string[] =>
  primaryKey.map((name) => rows.string(name, row));

/** How many of these keys are not stored: the others were read again. */
async function countAbsent(handle: Handle, keys: readonly (readonly string[])[]): Promise<number> {
  const stored = await knownKeys(handle, new Set(keys.map(([first = ""]) => first)));
  return keys.filter((key) => !stored.hasKey(joinKey(key))).length;
}

/** Without what a kill left of a file: its rows are still where they were. */
async function keptFiles(handle: Handle, which: Kept): Promise<string[]> {
  const folder = folderOf(handle);
  const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
  for (const name of names) if (name.endsWith(".new")) await rm(join(folder, name), { force: true });
  return names
    .filter((name) => name.startsWith(`${which}-`) && name.endsWith(".arrow"))
    .map((name) => join(folder, name));
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
