/**
 * The recorded states of a session's sources (spec.md#sources-state). A state is an ordered list of records and what stands
 * beside them. It is kept as runs: of rows that one read stored one behind the other, or single rows by their ids where an
 * older pond stored them; and only what differs from the state before where that is shorter.
 */
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject, parseJson, stringifyJson } from "../../base/json/json.ts";
import type { SessionState } from "../../model/events/index.ts";
import { isOfAgent } from "../../model/derived/index.ts";
import type { RowOf, Rows } from "../../substrate/index.ts";
import type { SOURCES } from "./schema.ts";
import { asRecorded } from "./resumed.ts";

/** Records that one read stored one behind the other, from a position on; or one record by the id of its row. */
export type Run =
  | { readonly origin: string; readonly from: number; readonly count: number }
  | { readonly id: string };

/** A row beside the log: the record that it is a version of, and its id. */
export interface SideRow {
  readonly record: string;
  readonly id: string;
}

/** What a state holds. */
export interface Holding {
  readonly runs: readonly Run[];
  readonly side: readonly SideRow[];
}

/** Who read what. */
export interface SourceRead {
  readonly session_id: string;
  readonly source: string;
  readonly adapter: string;
  readonly reader: string;
  readonly path: string;
  readonly key: string;
  readonly form: string;
}

/** One recorded state, without what it holds. */
export interface StateHead extends SourceRead {
  readonly state: number;
  /** Microseconds since 1970. */
  readonly read_at: number;
  readonly recorded_at: number | undefined;
  readonly records: number;
  readonly digest: string;
  readonly side: string;
  readonly whole: boolean;
}

export interface RecordedState extends StateHead {
  readonly content: string;
}

/** What a state keeps of the one before, and what it adds. */
interface Content {
  readonly base?: number;
  /** Of the state before: records at the start, and whether its side is gone on from. */
  readonly keep: number;
  readonly runs: readonly Run[];
  readonly side: readonly SideRow[];
  /** Rows of the state before that are not beside it any more, by their ids. */
  readonly gone: readonly string[];
  /** States that have to be read to know this one. */
  readonly depth: number;
}

export const STATE_COLUMNS = [
  "session_id",
  "source",
  "state",
  "adapter",
  "reader",
  "path",
  "key",
  "form",
  "read_at",
  "recorded_at",
  "records",
  "digest",
  "side",
  "whole",
] as const;

const STATE_DIGITS = 8;

/** Up to so many runs and rows beside a log a state is written whole: it is read without any other. */
const SHORT = 24;
/** And every so many states, so that no state is far to be read. */
const MOST_DEPTH = 32;

export function stateAt(rows: Rows<typeof SOURCES>, row: number): RecordedState {
  const text = (
    column: (typeof STATE_COLUMNS)[number] & ("session_id" | "source" | "adapter" | "reader"),
  ): string => rows.string(column, row);
  return {
    session_id: text("session_id"),
    source: text("source"),
    state: Number(rows.string("state", row)),
    adapter: text("adapter"),
    reader: text("reader"),
    path: rows.string("path", row),
    key: rows.string("key", row),
    form: rows.string("form", row),
    read_at: rows.timestamp("read_at", row),
    recorded_at: rows.timestampOrNull("recorded_at", row) ?? undefined,
    records: rows.int("records", row),
    digest: rows.string("digest", row),
    side: rows.string("side", row),
    whole: rows.bool("whole", row),
    content: rows.has("content") ? rows.string("content", row) : "",
  };
}

/** As the key has it: text order is age. */
export const paddedState = (state: number): string => String(state).padStart(STATE_DIGITS, "0");

export function stateRow({ recorded_at, state, ...columns }: RecordedState): RowOf<typeof SOURCES> {
  return {
    ...columns,
    path: columns.path.toWellFormed(),
    key: columns.key.toWellFormed(),
    state: paddedState(state),
    recorded_at: recorded_at ?? null,
  };
}

/**
 * A session as the source of a state has it: two clients may have sessions of one id, and that a session resumes one of
 * another client is known to pond, not to its source.
 */
export function asReadFrom(
  { adapter, key, form }: Pick<StateHead, "adapter" | "key" | "form">,
  { session: stored, messages }: SessionState,
): SessionState {
  const session = asRecorded(stored);
  // What an older pond stored says itself where it came from.
  if (adapter === "") return { session, messages };
  const isOwn = isOfAgent(session.source_agent, adapter);
  return {
    session: isOwn ? session : { ...session, source_agent: adapter },
    messages,
    source: { key, form },
  };
}

/** All states of one source, as far as it tells of one session; the oldest first. */
export class SourceStates {
  readonly all: readonly RecordedState[];
  readonly #contents = new Map<number, Content>();
  readonly #holdings = new Map<number, Holding>();

  constructor(states: readonly RecordedState[]) {
    this.all = states.toSorted((a, b) => a.state - b.state);
  }

  get latest(): RecordedState | undefined {
    return this.all.at(-1);
  }

  /** True where another state says only what differs from this one. */
  isBase(state: number): boolean {
    return this.all.some((each) => this.#content(each.state).base === state);
  }

  /** What a state holds; nothing where a state that it goes on from is not there. */
  holding(state: number): Holding {
    const known = this.#holdings.get(state);
    if (known !== undefined) return known;
    const { base, keep, runs, side, gone } = this.#content(state);
    const before = base === undefined ? NOTHING : this.holding(base);
    const left = new Set(gone);
    const holding: Holding = {
      runs: joinRuns([...firstRecords(before.runs, keep), ...runs]),
      side: [...before.side.filter(({ id }) => !left.has(id)), ...side],
    };
    this.#holdings.set(state, holding);
    return holding;
  }

  /** The content of a state that comes after the latest: whole, or what differs from that. */
  encode({ runs, side }: Holding): string {
    const { latest } = this;
    const before = latest === undefined ? undefined : this.holding(latest.state);
    const depth = latest === undefined ? 0 : this.#content(latest.state).depth + 1;
    if (before === undefined || depth >= MOST_DEPTH || (runs.length <= SHORT && side.length <= SHORT))
      return print({ keep: 0, runs, side, gone: [], depth: 0 });
    const keep = commonStart(before.runs, runs);
    const had = new Set(before.side.map(({ id }) => id));
    const has = new Set(side.map(({ id }) => id));
    return print({
      ...(latest === undefined ? {} : { base: latest.state }),
      keep,
      runs: afterRecords(runs, keep),
      side: side.filter(({ id }) => !had.has(id)),
      gone: before.side.flatMap(({ id }) => (has.has(id) ? [] : [id])),
      depth,
    });
  }

  #content(state: number): Content {
    const known = this.#contents.get(state);
    if (known !== undefined) return known;
    const text = this.all.find((each) => each.state === state)?.content;
    const content = text === undefined ? EMPTY : parse(text);
    this.#contents.set(state, content);
    return content;
  }
}

const NOTHING: Holding = { runs: [], side: [] };
const EMPTY: Content = { keep: 0, runs: [], side: [], gone: [], depth: 0 };

export const countOf = (run: Run): number => ("id" in run ? 1 : run.count);

/** Neighbours that go on from each other are one run. */
export function joinRuns(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    const continues =
      last !== undefined &&
      !("id" in last) &&
      !("id" in run) &&
      last.origin === run.origin &&
      last.from + last.count === run.from;
    if (continues) joined[joined.length - 1] = { ...last, count: last.count + run.count };
    else if (countOf(run) > 0) joined.push(run);
  }
  return joined;
}

/** The first records of some runs. */
export function firstRecords(runs: readonly Run[], count: number): Run[] {
  const first: Run[] = [];
  let left = count;
  for (const run of runs) {
    if (left <= 0) break;
    first.push("id" in run || run.count <= left ? run : { ...run, count: left });
    left -= countOf(run);
  }
  return first;
}

/** All but the first records of some runs. */
function afterRecords(runs: readonly Run[], count: number): Run[] {
  const rest: Run[] = [];
  let passed = count;
  for (const run of runs) {
    const skipped = Math.min(passed, countOf(run));
    passed -= skipped;
    if ("id" in run) {
      if (skipped === 0) rest.push(run);
    } else if (skipped < run.count)
      rest.push({ ...run, from: run.from + skipped, count: run.count - skipped });
  }
  return rest;
}

/** How many records two lists of runs begin with alike. */
export function commonStart(a: readonly Run[], b: readonly Run[]): number {
  let same = 0;
  const [left, right] = [[...a], [...b]];
  for (let [x, y] = [left.shift(), right.shift()]; x !== undefined && y !== undefined;) {
    if ("id" in x || "id" in y) {
      if (!("id" in x && "id" in y && x.id === y.id)) return same;
      same += 1;
      [x, y] = [left.shift(), right.shift()];
      continue;
    }
    if (x.origin !== y.origin || x.from !== y.from) return same;
    const step = Math.min(x.count, y.count);
    same += step;
    x = x.count === step ? left.shift() : { ...x, from: x.from + step, count: x.count - step };
    y = y.count === step ? right.shift() : { ...y, from: y.from + step, count: y.count - step };
  }
  return same;
}

function print({ base, keep, runs, side, gone, depth }: Content): string {
  return stringifyJson({
    runs: runs.map((run): JsonValue => ("id" in run ? [run.id] : [run.origin, run.from, run.count])),
    ...(side.length === 0
      ? {}
      : { side: side.map(({ record, id }): JsonValue => (record === id ? id : [record, id])) }),
    ...(base === undefined ? {} : { base, keep, depth }),
    ...(gone.length === 0 ? {} : { gone }),
  });
}

function parse(text: string): Content {
  const value = parseJson(text);
  if (!isJsonObject(value)) return EMPTY;
  const { base, keep, depth, runs, side, gone } = value;
  return {
    ...(typeof base === "number" ? { base } : {}),
    keep: typeof keep === "number" ? keep : 0,
    depth: typeof depth === "number" ? depth : 0,
    runs: (Array.isArray(runs) ? runs : []).flatMap(runOf),
    side: (Array.isArray(side) ? side : []).flatMap(sideOf),
    gone: textsIn(gone),
  };
}

function runOf(value: JsonValue): readonly Run[] {
  if (!Array.isArray(value)) return [];
  const [name, from, count] = value;
  if (typeof name !== "string") return [];
  return typeof from === "number" && typeof count === "number"
    ? [{ origin: name, from, count }]
    : [{ id: name }];
}

function sideOf(value: JsonValue): readonly SideRow[] {
  const [record, id] = Array.isArray(value) ? value : [value, value];
  return typeof record === "string" && typeof id === "string" ? [{ record, id }] : [];
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
