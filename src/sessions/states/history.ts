/**
 * A session as its sources tell it (spec.md#sources-order). The newest state of the newest source is what people see; two
 * sources that went different ways are two ends; whatever is stored and in none of them was replaced or removed.
 */
import { pieceOf } from "../tables/piece.ts";
import type { Holding, RecordedState } from "../tables/states.ts";
import { countOf, firstRecords, SourceStates } from "../tables/states.ts";

/** A message row, as far as its place is concerned. */
export interface PlacedRow {
  readonly id: string;
  /** The record that it is a version of, or a piece of. */
  readonly record: string;
  /** Null where an older pond stored it, which recorded no states. */
  readonly origin: string | null;
  readonly seq?: number | null | undefined;
  /** Microseconds since 1970. */
  readonly timestamp?: number;
}

/** Where a session came to: what one of its sources holds, and no other source has gone on from. */
export interface End {
  readonly states: SourceStates;
  readonly state: RecordedState;
}

/** Which state of which source; the one to be seen where nothing is said. */
export interface StateChoice {
  readonly source: string;
  readonly state?: number;
  /** Whose read it is and where: sessions below it are chosen as they stood beside it. */
  readonly reader?: string;
  readonly path?: string;
}

export class SessionHistory {
  readonly sources: readonly SourceStates[];

  constructor(states: readonly RecordedState[]) {
    const bySource = Map.groupBy(states, ({ source }) => source);
    this.sources = [...bySource.values()].map((own) => new SourceStates(own));
  }

  /** False where nothing was recorded: then the session is all that is stored of it. */
  get isRecorded(): boolean {
    return this.sources.length > 0;
  }

  /** The sources that hold records of the session; all of them where none does. */
  get readSources(): readonly SourceStates[] {
    const read = this.sources.filter(({ latest }) => (latest?.records ?? 0) > 0);
    return read.length === 0 ? this.sources : read;
  }

  /** The ends, the newest first. */
  ends(rows: readonly PlacedRow[]): readonly End[] {
    const adopted = adoptedFrom(this.sources, rows);
    const read = adopted === undefined ? this.readSources : [...this.readSources, adopted.states];
    const [only, ...others] = read;
    if (only?.latest !== undefined && others.length === 0) return [{ states: only, state: only.latest }];
    const candidates = read.flatMap((states): readonly Candidate[] => {
      const state = states.latest;
      if (state === undefined) return [];
      return [{ states, state, ...holdsOf(states.holding(state.state), rows) }];
    });
    // Of sources in the same state one will do: that whose rows are there, where those of another were lost.
    const distinct = candidates.filter(
      (each, at) =>
        !candidates.some(
          (other, place) =>
            isSameState(each.state, other.state) &&
            (other.missing < each.missing || (other.missing === each.missing && place < at)),
        ),
    );
    const ends = distinct.filter((each) => !distinct.some((other) => other !== each && isOlder(each, other)));
    return (ends.length === 0 ? distinct : ends).toSorted(byAge);
  }

  /**
   * What is seen of an end: what it holds, and what sources that hold no record of their own say of the session, such as
   * the names of threads. Of what several have beside them, that of the end itself.
   */
  shown({ states, state }: End): Holding {
    const { runs, side } = states.holding(state.state);
    const others = this.sources.flatMap((each) => {
      const { latest } = each;
      if (latest === undefined || latest === state || latest.records > 0) return [];
      return each.holding(latest.state).side;
    });
    return { runs, side: [...new Map([...others, ...side].map((row) => [row.record, row])).values()] };
  }

  /** What this session was beside a chosen state of another one: by the same reader, in the nearest folder. */
  beside(chosen: Iterable<StateChoice>): StateChoice | undefined {
    const [at] = chosen;
    const { reader, path } = at ?? {};
    if (reader === undefined || path === undefined) return undefined;
    return this.readSources
      .flatMap(({ latest }) => (latest?.reader === reader ? [latest] : []))
      .toSorted(
        (a, b) =>
          sharedFolders(b.path, path) - sharedFolders(a.path, path) ||
          (b.recorded_at ?? 0) - (a.recorded_at ?? 0),
      )[0];
  }

  /** True where what a later state holds is told by what differs from this one. */
  isBase({ source, state }: Required<Pick<StateChoice, "source" | "state">>): boolean {
    return this.sources.some((each) => each.all[0]?.source === source && each.isBase(state));
  }

  /** A state by what names it. */
  find({ source, state }: StateChoice, rows: readonly PlacedRow[]): End | undefined {
    if (source === ADOPTED) return adoptedFrom(this.sources, rows);
    const states = this.sources.find((each) => each.all[0]?.source === source);
    const found = state === undefined ? states?.latest : states?.all.find((each) => each.state === state);
    return states === undefined || found === undefined ? undefined : { states, state: found };
  }
}

/** Names what an older pond stored, as if it were a source. */
export const ADOPTED = "adopted";

/** How an older pond named the row that said that a record is gone. */
const REMOVED = "@removed";

/**
 * What an older pond stored and no state holds, as a state of its own: nothing says that a source which never had it has
 * taken it away (spec.md#sources-order). Its digests are unknown, so it is not whole. Undefined where a source has it, or
 * had it.
 */
function adoptedFrom(sources: readonly SourceStates[], all: readonly PlacedRow[]): End | undefined {
  const older = all.filter(({ origin }) => origin === null);
  const [form] = sources.flatMap(({ latest }) => latest?.form ?? []);
  if (older.length === 0 || form === undefined) return undefined;
  const gone = new Set(older.filter(({ id }) => id.endsWith(REMOVED)).map(({ record }) => record));
  const rows = older.filter(({ record }) => !gone.has(record));
  // Of what is rewritten in place a newer version will do.
  const nameOf = ({ id, record }: PlacedRow): string => (form === "log" ? id : record);
  const isHeld = sources.some((states) =>
    states.all.some(({ state }) => {
      const { found, beside } = arrange(all, states.holding(state));
      const held = new Set([...found, ...beside].map(nameOf));
      return rows.every((row) => held.has(nameOf(row)));
    }),
  );
  if (isHeld) return undefined;
  const firsts = rows.filter((row) => pieceOf(row) === undefined);
  const isPlaced = ({ seq }: PlacedRow): boolean => typeof seq === "number";
  const runs = firsts.filter(isPlaced).map(({ id }) => ({ id }));
  const side = firsts.filter((row) => !isPlaced(row)).map(({ record, id }) => ({ record, id }));
  const newest = Math.max(0, ...rows.map(({ timestamp = 0 }) => timestamp));
  const state: RecordedState = {
    session_id: "",
    source: ADOPTED,
    adapter: "",
    reader: "-",
    path: "(stored by an older pond)",
    key: "",
    form,
    state: 1,
    read_at: 0,
    recorded_at: newest === 0 ? undefined : newest,
    records: runs.length,
    digest: "",
    side: "",
    whole: false,
    content: new SourceStates([]).encode({ runs, side }),
  };
  return { states: new SourceStates([state]), state };
}

function sharedFolders(path: string, other: string): number {
  const [names, others] = [path.split(/[/\\]/u), other.split(/[/\\]/u)];
  const end = names.findIndex((name, at) => name !== others[at]);
  return end === -1 ? names.length : end;
}

interface Candidate extends End {
  readonly rows: ReadonlySet<string>;
  readonly records: ReadonlySet<string>;
  /** Rows that it should have and that are not stored. */
  readonly missing: number;
}

/** The rows of a state and the records they are of; pieces go with their record. */
function holdsOf(
  holding: Holding,
  all: readonly PlacedRow[],
): Pick<Candidate, "rows" | "records" | "missing"> {
  const { found, missing } = arrange(all, holding);
  return {
    rows: new Set(found.map(({ id }) => id)),
    records: new Set(found.map(({ record }) => record)),
    missing: missing.length,
  };
}

/**
 * Older: the other source once was as this one is, or has all that this one has. Of sources that rewrite their records it
 * is enough that the other has newer versions of all of them, by the times that they record. Never by when they were read.
 */
function isOlder(a: Candidate, b: Candidate): boolean {
  const wasA = hasLeft(b, a.state);
  const wasB = hasLeft(a, b.state);
  if (wasA !== wasB) return wasA;
  if (a.rows.size < b.rows.size && a.rows.isSubsetOf(b.rows)) return true;
  if (a.state.form === "log" || b.state.form === "log") return false;
  const age = (a.state.recorded_at ?? 0) - (b.state.recorded_at ?? 0);
  const isEarlier = age < 0 || (age === 0 && (a.records.size < b.records.size || rankOf(a) < rankOf(b)));
  return isEarlier && a.records.isSubsetOf(b.records);
}

/** Which of two containers that say the same of time a client writes to now: the database, and exports are made of it. */
const rankOf = ({ state: { form } }: End): number => FORMS.indexOf(form);
const FORMS = ["export", "tree", "database"];

/** True where a source was in this state before it went on. */
function hasLeft({ states, state: now }: End, state: RecordedState): boolean {
  return states.all.some((each) => each.state !== now.state && isSameState(each, state));
}

export function isSameState(a: RecordedState, b: RecordedState): boolean {
  return a.digest === b.digest && a.side === b.side && a.records === b.records && a.form === b.form;
}

/** By the newest instant that they record; what says the same there is told apart by its digest, always the same way. */
function byAge(a: End, b: End): number {
  const [left, right] = [a.state, b.state];
  return (
    (right.recorded_at ?? 0) - (left.recorded_at ?? 0) ||
    right.records - left.records ||
    (left.digest < right.digest ? -1 : 1)
  );
}

/**
 * The rows of a state. Where some of them were lost and the source was read again since, those of a later state stand for
 * them: of one with the same digests, or the first records of one of the same source, which restores prove by its digest.
 */
export function arrangeState<T extends PlacedRow>(
  rows: readonly T[],
  {
    history,
    end,
    holding,
  }: { readonly history: SessionHistory; readonly end: End; readonly holding: Holding },
): ReturnType<typeof arrange<T>> {
  const own = arrange(rows, holding);
  if (own.missing.length === 0) return own;
  const count = recordsIn(holding.runs);
  for (const states of history.sources)
    for (const other of states.all.toReversed()) {
      const isLater = states === end.states && other.state > end.state.state && other.whole;
      if (!isLater && !isSameState(other, end.state)) continue;
      const runs = firstRecords(states.holding(other.state).runs, count);
      const instead = arrange(rows, { runs, side: holding.side });
      if (instead.missing.length === 0 && recordsIn(runs) === count) return instead;
    }
  return own;
}

const recordsIn = (runs: Holding["runs"]): number => runs.reduce((sum, run) => sum + countOf(run), 0);

/** The rows of a state in its order, each record with its pieces; what is beside them comes last. */
export function arrange<T extends PlacedRow>(
  rows: readonly T[],
  { runs, side }: Holding,
): { readonly found: readonly T[]; readonly beside: readonly T[]; readonly missing: readonly string[] } {
  const byPlace = new Map<string, Map<number, T>>();
  const byId = new Map<string, T>();
  const pieces = new Map<string, T[]>();
  const isNamed = side.length > 0 || runs.some((run) => "id" in run);
  for (const row of rows) {
    if (isNamed) byId.set(row.id, row);
    const piece = pieceOf(row);
    if (piece !== undefined) pieces.set(piece.of, [...(pieces.get(piece.of) ?? []), row]);
    else if (row.origin !== null && typeof row.seq === "number") {
      const own = byPlace.get(row.origin) ?? new Map<number, T>();
      if (own.size === 0) byPlace.set(row.origin, own);
      own.set(row.seq, row);
    }
  }
  const found: T[] = [];
  const beside: T[] = [];
  const missing: string[] = [];
  const take = (into: T[], row: T | undefined, name: string | number): void => {
    if (row === undefined) return void missing.push(typeof name === "number" ? `record ${name}` : name);
    into.push(row);
    const more = pieces.get(row.id);
    if (more !== undefined) into.push(...more.toSorted(byPiece));
  };
  for (const run of runs)
    if ("id" in run) take(found, byId.get(run.id), run.id);
    else {
      const own = byPlace.get(run.origin);
      for (let seq = run.from; seq < run.from + run.count; seq++) take(found, own?.get(seq), seq);
    }
  for (const { id } of side) take(beside, byId.get(id), id);
  return { found, beside, missing };
}

const byPiece = (a: PlacedRow, b: PlacedRow): number => (pieceOf(a)?.place ?? 0) - (pieceOf(b)?.place ?? 0);
