/**
 * Where each stored row of a session stands (spec.md#sources-order): in the newest end, which is what people see; in
 * another end only; replaced by another version of its record; or removed, with no version of its record left in any
 * end. Pure.
 */
import type { MessageId, Timestamp } from "../../model/index.ts";
import type { PondFacts } from "../../model/derived/index.ts";
import { newestRevisions, revisionOf } from "../../model/derived/index.ts";
import type { End, PlacedRow, SessionHistory } from "./history.ts";
import { arrange } from "./history.ts";
import { pieceOf } from "../tables/piece.ts";
import type { Holding, SourceStates } from "../tables/states.ts";

export type RowStatus = "current" | "end" | "superseded" | "removed";

/** A row, and what an older pond said of it: asked for only where no state was recorded. */
export interface DatedRow extends PlacedRow {
  readonly id: MessageId;
  readonly timestamp: Timestamp;
  readonly facts?: PondFacts;
}

/** An end with its rows in order, and where it parted from the newest one. */
export interface EndRows<T extends PlacedRow = PlacedRow> extends End {
  readonly rows: readonly T[];
  /** The last row that it begins with as the newest end does; undefined where there is none, and for the newest. */
  readonly partedAfter?: string;
}

export interface RowStates<T extends PlacedRow = PlacedRow> {
  /** By the id of a row. */
  readonly of: ReadonlyMap<string, RowStatus>;
  /** The newest first; none where no state was recorded. */
  readonly ends: readonly EndRows<T>[];
}

export function rowStatesOf<T extends DatedRow>(history: SessionHistory, rows: readonly T[]): RowStates<T> {
  return history.isRecorded ? byStates(history, rows) : { of: byRevisions(rows), ends: [] };
}

function byStates<T extends PlacedRow>(history: SessionHistory, rows: readonly T[]): RowStates<T> {
  const ends = endsOf(history, rows);
  const recordOf = recordNames(rows);
  const held = new Set(ends.flatMap((end) => end.rows.map(recordOf)));
  const of = new Map<string, RowStatus>();
  for (const [at, end] of ends.entries())
    for (const { id } of end.rows) if (!of.has(id)) of.set(id, at === 0 ? "current" : "end");
  const rest = rows.filter(({ id }) => !of.has(id));
  for (const row of rest) of.set(row.id, held.has(recordOf(row)) ? "superseded" : "removed");
  const removed = Map.groupBy(
    rest.filter(({ id }) => of.get(id) === "removed"),
    recordOf,
  );
  // Of a record that was rewritten and then removed, only what was there last was removed.
  const several = [...removed.values()].filter((versions) => new Set(versions.map(versionOf)).size > 1);
  if (several.length > 0) markReplaced(several, { history, rows, of });
  return { of, ends };
}

function endsOf<T extends PlacedRow>(history: SessionHistory, rows: readonly T[]): EndRows<T>[] {
  const ends = history.ends(rows).map((end) => {
    const { found } = arrange(rows, holdingOf(end));
    return { ...end, found, rows: rowsIn(rows, history.shown(end)) };
  });
  const [newest] = ends;
  return ends.map(({ found, ...end }, at) => ({
    ...end,
    ...(at === 0 || newest === undefined ? {} : partedAfter(found, newest.found)),
  }));
}

const holdingOf = ({ states, state }: End): Holding => states.holding(state.state);

/** In the order of the state; what stands beside it in the order in which the rows are given. */
function rowsIn<T extends PlacedRow>(rows: readonly T[], holding: Holding): readonly T[] {
  const { found, beside } = arrange(rows, holding);
  const isBeside = new Set(beside);
  return [...found, ...(beside.length === 0 ? [] : rows.filter((row) => isBeside.has(row)))];
}

function partedAfter(
  rows: readonly PlacedRow[],
  newest: readonly PlacedRow[],
): { readonly partedAfter?: string } {
  const first = rows.findIndex(({ id }, at) => newest[at]?.id !== id);
  const last = rows[(first < 0 ? rows.length : first) - 1];
  return last === undefined ? {} : { partedAfter: last.id };
}

/** The record that a row is of; a piece is of its first row's. */
function recordNames(rows: readonly PlacedRow[]): (row: PlacedRow) => string {
  const records = new Map(rows.map(({ id, record }) => [id, record]));
  return (row) => records.get(pieceOf(row)?.of ?? row.id) ?? row.record;
}

/** The pieces of one version share it. */
const versionOf = (row: PlacedRow): string => pieceOf(row)?.of ?? row.id;

interface Replacing {
  readonly history: SessionHistory;
  readonly rows: readonly PlacedRow[];
  readonly of: Map<string, RowStatus>;
}

/** Of these records all but the version that a state held last were superseded before their record was removed. */
function markReplaced(records: readonly (readonly PlacedRow[])[], { history, rows, of }: Replacing): void {
  const open = new Set(records);
  for (const end of statesByAge(history)) {
    if (open.size === 0) return;
    const held = new Set(rowsIn(rows, holdingOf(end)).map(({ id }) => id));
    for (const versions of open) {
      const last = versions.find(({ id }) => held.has(id));
      if (last === undefined) continue;
      open.delete(versions);
      for (const row of versions) if (versionOf(row) !== versionOf(last)) of.set(row.id, "superseded");
    }
  }
}

/** Every recorded state: of each source the newest first, and the source that came furthest before the others. */
function statesByAge(history: SessionHistory): readonly End[] {
  const reach = ({ latest }: SourceStates): number => latest?.recorded_at ?? 0;
  const name = ({ latest }: SourceStates): string => latest?.source ?? "";
  return history.sources
    .toSorted((a, b) => reach(b) - reach(a) || (name(a) < name(b) ? -1 : 1))
    .flatMap((states) => states.all.toReversed().map((state) => ({ states, state })));
}

/** Without states the versions' own times decide, and the marks that an older pond made where a record was gone. */
function byRevisions(rows: readonly DatedRow[]): ReadonlyMap<string, RowStatus> {
  const entries = rows.map(({ id, timestamp, facts = {} }) => ({
    message: { id, timestamp, facts },
  }));
  const of = new Map<string, RowStatus>();
  for (const versions of Map.groupBy(entries, ({ message }) => revisionOf(message).record).values()) {
    const newest = newestRevisions(versions);
    const isRemoved = newest.length === 0;
    const isMark = ({ message }: (typeof entries)[number]): boolean => revisionOf(message).removed;
    const last = new Set(isRemoved ? newestRevisions(versions.filter((each) => !isMark(each))) : newest);
    for (const entry of versions) {
      const isLast = last.has(entry) || (isRemoved && isMark(entry));
      of.set(entry.message.id, isLast ? (isRemoved ? "removed" : "current") : "superseded");
    }
  }
  return of;
}

/**
 * Every row, each where it stood: the newest end in its order, and what is not in it behind the row that it once followed,
 * older rows before newer ones.
 */
export function inHistoryOrder<T extends PlacedRow>(
  history: SessionHistory,
  rows: readonly T[],
): readonly T[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const next = new Map<string, string>();
  const placed = new Set<string>();
  const place = (state: readonly PlacedRow[]): void => {
    let before = START;
    for (const { id } of state) {
      if (!placed.has(id)) {
        const after = next.get(before);
        next.set(before, id);
        if (after !== undefined) next.set(id, after);
        placed.add(id);
      }
      before = id;
    }
  };
  const [newest, ...others] = history.ends(rows);
  const states = statesByAge(history);
  const isOfNewest = (end: End): boolean => end.states === newest?.states;
  // What the newest source had before stands closer to what replaced it than another end does.
  const before = states.filter(isOfNewest);
  const rest = states.filter((end) => !isOfNewest(end));
  for (const end of [...(newest === undefined ? [] : [newest]), ...before, ...others, ...rest]) {
    if (placed.size >= rows.length) break;
    place(rowsIn(rows, holdingOf(end)));
  }
  // What no state holds stands where it was read first.
  if (placed.size < rows.length) place(rows);
  const ordered: T[] = [];
  for (let id = next.get(START); id !== undefined; id = next.get(id)) {
    const row = byId.get(id);
    if (row !== undefined) ordered.push(row);
  }
  return ordered;
}

/** Before the first row: no id is empty (spec.md#model-identity). */
const START = "";
