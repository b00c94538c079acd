/**
 * Whether a key of a batch is stored: what must be known before it is appended. Reads key columns only, and as few of
 * them as will do.
 */
import type { Batch } from "../arrow/batch.ts";
import { Rows } from "../arrow/rows.ts";
import type { Handle } from "../handle/handle.ts";
import type { OwnAppends } from "../engine/own-appends.ts";
import { and, type Condition, isIn, MAX_IN_VALUES } from "../engine/predicate.ts";
import { count, scan } from "../read/scan.ts";
import { type ColumnName, type ColumnsOf, joinKey, type TableSpec } from "../engine/spec.ts";

/**
 * CPU of reading a stored key by its group, and of asking for a list of second values, in microseconds (1 M rows
 * stored): half a second for the 283,000 keys of one session, whatever is added to it.
 */
const COST = { storedKey: 2.5, list: 40_000 };
/** So few second values are asked for at once: one query instead of two. */
const FEW = 64;

type TextColumn<S extends TableSpec> = ColumnsOf<S, "utf8"> & ColumnName<S>;

export const isTextOf =
  <S extends TableSpec>(spec: S) =>
  (name: string): name is TextColumn<S> =>
    spec.columns[name]?.type === "utf8";

/** `new_groups`: no key, and nothing else of the groups that were asked for. */
export type Stored = "some" | "none" | "new_groups";

/** The keys of a batch, read from the batch itself: it may come from another thread, and carries nothing beside them. */
export class BatchKeys<S extends TableSpec> {
  readonly #rows: Rows<S>;
  readonly #columns: readonly TextColumn<S>[];
  /** Of each row the value of the first key column. */
  readonly groups: readonly string[];

  constructor(handle: Handle<S>, batch: Batch<S>) {
    this.#rows = Rows.fromIpc<S>(handle.lance, [batch.ipc]);
    this.#columns = handle.spec.primaryKey.filter(isTextOf(handle.spec));
    this.groups = this.#valuesOf(0);
  }

  readonly keyAt = (row: number): string => keyAt(this.#rows, this.#columns, row);

  /** How many are stored. To be asked at the newest version, which this is, by the only writer. */
  async stored(handle: Handle<S>, own: OwnAppends, version: number): Promise<Stored> {
    if (!own.knows(version) && (await count(handle)) === 0) own.isEmptyAt(version);
    const open: number[] = [];
    let last: string | undefined;
    let isNew = false;
    for (const [row, group] of this.groups.entries()) {
      if (group !== last) isNew = own.isNew(group, version);
      last = group;
      if (isNew) continue;
      const known = own.of(group, version);
      if (known === undefined || known.has(this.keyAt(row))) open.push(row);
    }
    return open.length === 0 ? "none" : this.#storedOf(handle, open);
  }

  async #storedOf(handle: Handle<S>, open: readonly number[]): Promise<Stored> {
    const [first, second] = this.#columns;
    const groups = lists(open.map((row) => this.groups[row] ?? ""));
    if (first === undefined) return "some";
    const inGroups = groups.map((values) => isIn(first, values));
    if (second === undefined) return (await countAll(handle, inGroups)) === 0 ? "new_groups" : "some";
    const all = this.#valuesOf(1);
    const seconds = lists(open.map((row) => all[row] ?? ""));
    const isFew = groups.length === 1 && seconds.length === 1 && (seconds[0]?.length ?? 0) <= FEW;
    const stored = isFew ? Infinity : await countAll(handle, inGroups);
    if (stored === 0) return "new_groups";
    const isByGroup = COST.storedKey * stored <= COST.list * groups.length * seconds.length;
    const wheres = isByGroup
      ? inGroups
      : inGroups.flatMap((where) => seconds.map((values) => and(where, isIn(second, values))));
    const keys = new Set(open.map(this.keyAt));
    return (await this.#isAnyAmong(handle, wheres, keys)) ? "some" : "none";
  }

  async #isAnyAmong(
    handle: Handle<S>,
    wheres: readonly Condition[],
    keys: ReadonlySet<string>,
  ): Promise<boolean> {
    for (const where of wheres) {
      const rows = await scan(handle, { select: this.#columns, where });
      for (let row = 0; row < rows.length; row++) if (keys.has(keyAt(rows, this.#columns, row))) return true;
    }
    return false;
  }

  #valuesOf(place: number): string[] {
    const column = this.#columns[place];
    return column === undefined
      ? []
      : Array.from({ length: this.#rows.length }, (_, row) => this.#rows.string(column, row));
  }
}

async function countAll(handle: Handle, wheres: readonly Condition[]): Promise<number> {
  let rows = 0;
  for (const where of wheres) rows += await count(handle, where);
  return rows;
}

/** The distinct ones, in lists that a filter takes. */
function lists(values: Iterable<string>): string[][] {
  const distinct = [...new Set(values)];
  return Array.from({ length: Math.ceil(distinct.length / MAX_IN_VALUES) }, (_, list) =>
    distinct.slice(list * MAX_IN_VALUES, (list + 1) * MAX_IN_VALUES),
  );
}

const keyAt = <S extends TableSpec>(rows: Rows<S>, names: readonly TextColumn<S>[], row: number): string =>
  joinKey(names.map((name) => rows.string(name, row)));
