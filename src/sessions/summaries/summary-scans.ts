/**
 * What summaries read beside their counts: sessions and messages of some sessions or of all, the states of their sources,
 * and which sessions have rows that need not be current.
 */
import type { Rows, ScanOptions } from "../../substrate/index.ts";
import { and, contains, eq, isIn, MAX_IN_VALUES, or } from "../../substrate/engine/predicate.ts";
import { OTHER_RECORD } from "../../model/derived/index.ts";
import { SessionHistory } from "../states/history.ts";
import { decodeFacts, mayHaveFact } from "../tables/options-text.ts";
import { pieceOf } from "../tables/piece.ts";
import { isRestoreRecord } from "../tables/restore-records.ts";
import { revisesAt } from "../tables/rows.ts";
import type { MESSAGES, SESSIONS } from "../tables/schema.ts";
import type { Holding, RecordedState, Run } from "../tables/states.ts";
import { STATE_COLUMNS, stateAt } from "../tables/states.ts";
import type { SessionTables } from "../tables/tables.ts";

/** Which sessions; undefined for all of them. */
export type Chosen = readonly string[] | undefined;

/** Beyond so many sessions one pass over all of them is cheaper than asking for each. */
const MOST_ASKED = 2000;

/** What is told of rows before any of them is read. */
export interface RecordedHoldings {
  /** What the only source of a session holds now. */
  readonly held: ReadonlyMap<string, HeldRows>;
  /** Sessions of several sources, and those without any whose records have several versions. */
  readonly doubtful: ReadonlySet<string>;
}

export async function readHoldings(
  tables: SessionTables,
  chosen: Chosen,
  sessions: readonly string[],
): Promise<RecordedHoldings> {
  const held = new Map<string, HeldRows>();
  const doubtful = new Set<string>();
  const add = (session: string, states: readonly RecordedState[]): void => {
    const history = new SessionHistory(states);
    const [only, ...others] = history.readSources;
    const latest = others.length > 0 ? undefined : only?.latest;
    if (only === undefined || latest === undefined) doubtful.add(session);
    else held.set(session, new HeldRows(history.shown({ states: only, state: latest })));
  };
  const again = new Set<string>();
  for await (const state of statesOf(tables, chosen)) {
    const { session_id: session } = state;
    if (held.has(session) || doubtful.has(session)) again.add(session);
    else add(session, [state]);
  }
  for (const [session, states] of await readAgain(tables, chosen, again)) {
    held.delete(session);
    doubtful.delete(session);
    add(session, states);
  }
  const unrecorded = sessions.filter((session) => !held.has(session) && !doubtful.has(session));
  for (const session of await readRevised(tables, unrecorded)) if (!held.has(session)) doubtful.add(session);
  return { held, doubtful };
}

/**
 * All states of the sessions that have several, by session. Most sessions have one: to hold every state until all are read
 * took more memory than all else of a summary.
 */
async function readAgain(
  tables: SessionTables,
  chosen: Chosen,
  sessions: ReadonlySet<string>,
): Promise<ReadonlyMap<string, RecordedState[]>> {
  const found = new Map<string, RecordedState[]>();
  if (sessions.size === 0) return found;
  const few = chosen === undefined && sessions.size > MOST_ASKED ? undefined : [...sessions];
  for await (const state of statesOf(tables, few)) {
    const { session_id: session } = state;
    if (!sessions.has(session)) continue;
    const own = found.get(session);
    if (own === undefined) found.set(session, [state]);
    else own.push(state);
  }
  return found;
}

/** The rows of a state, asked one by one. Nearly always it is one run: nothing is made of it before it is asked. */
export class HeldRows {
  readonly #holding: Holding;
  #ids: ReadonlySet<string> | undefined;
  #runs: ReadonlyMap<string, readonly Run[]> | undefined;

  constructor(holding: Holding) {
    this.#holding = holding;
  }

  /** False also where only a closer look can tell. */
  holds(rows: Rows<typeof MESSAGES>, row: number): boolean {
    const origin = rows.stringOrNull("origin", row);
    const seq = rows.intOrNull("seq", row);
    const isInRun = (run: Run): boolean =>
      !("id" in run) &&
      run.origin === origin &&
      seq !== null &&
      seq >= run.from &&
      seq < run.from + run.count;
    if (this.#runsOf(origin).some(isInRun)) return true;
    const ids = (this.#ids ??= idsIn(this.#holding));
    if (ids.size === 0) return false;
    const id = rows.string("id", row);
    return ids.has(id) || ids.has(pieceOf({ id, record: id })?.of ?? id);
  }

  /** Those that one read stored; all of them where they are few. */
  #runsOf(origin: string | null): readonly Run[] {
    const { runs } = this.#holding;
    if (runs.length <= FEW_RUNS) return runs;
    this.#runs ??= Map.groupBy(runs, (run) => ("id" in run ? "" : run.origin));
    return this.#runs.get(origin ?? "") ?? [];
  }
}

const FEW_RUNS = 8;

function idsIn({ runs, side }: Holding): ReadonlySet<string> {
  const ids = new Set(side.map(({ id }) => id));
  for (const run of runs) if ("id" in run) ids.add(run.id);
  return ids;
}

async function* statesOf(tables: SessionTables, chosen: Chosen): AsyncGenerator<RecordedState> {
  if (tables.sources === undefined) return;
  const select = [...STATE_COLUMNS, "content"] as const;
  const batches =
    chosen === undefined
      ? tables.sources.scanBatches({ select })
      : tables.sources.scanIn("session_id", chosen, { select });
  for await (const rows of batches)
    for (let row = 0; row < rows.length; row++) if (!isRestoreRecord(rows, row)) yield stateAt(rows, row);
}

/** Sessions with records that were stored in several versions; some that were not asked for, where most were. */
async function readRevised(tables: SessionTables, sessions: readonly string[]): Promise<Set<string>> {
  const revised = new Set<string>();
  if (sessions.length === 0) return revised;
  const select = ["session_id", "id", "repeats", "options"] as const;
  const where = or(mayHaveFact("revises"), contains("repeats", OTHER_RECORD));
  const chosen = sessions.length > MOST_ASKED ? undefined : sessions;
  for await (const rows of messagesOf(tables, chosen, { select, where }))
    for (let row = 0; row < rows.length; row++)
      if (isRevision(rows, row)) revised.add(rows.string("session_id", row));
  return revised;
}

function isRevision(rows: Rows<typeof MESSAGES>, row: number): boolean {
  if (revisesAt(rows, row).revises !== undefined) return true;
  return decodeFacts(rows.string("options", row)).revises !== undefined;
}

export function sessionsOf(
  tables: SessionTables,
  of: { readonly column: "id" | "parent_session_id"; readonly chosen: Chosen },
  select: ScanOptions<typeof SESSIONS>["select"],
): AsyncIterable<Rows<typeof SESSIONS>> {
  if (of.chosen === undefined) return tables.sessions.scanBatches({ select });
  return tables.sessions.scanIn(of.column, of.chosen, { select });
}

/**
 * Records that are no turns, and may have a title. Each may be long, and a session may have most of its bytes in carriers: the
 * engine leaves out those without one (of 75,000 messages of samples 1,000 of 22,000, 0.4 of 28 MB), the others are streamed.
 */
export async function* titleCarriersOf(
  tables: SessionTables,
  chosen: Chosen,
  select: ScanOptions<typeof MESSAGES>["select"],
): AsyncGenerator<Rows<typeof MESSAGES>> {
  const mayBeTitle = and(eq("role", "system"), mayHaveFact("title"));
  if (chosen === undefined) return yield* tables.messages.scanBatches({ select, where: mayBeTitle });
  for (let at = 0; at < chosen.length; at += MAX_IN_VALUES) {
    const some = isIn("session_id", chosen.slice(at, at + MAX_IN_VALUES));
    yield* tables.messages.scanBatches({ select, where: and(some, mayBeTitle) });
  }
}

export function messagesOf(
  tables: SessionTables,
  chosen: Chosen,
  options: ScanOptions<typeof MESSAGES>,
): AsyncIterable<Rows<typeof MESSAGES>> {
  if (chosen === undefined) return tables.messages.scanBatches(options);
  return tables.messages.scanIn("session_id", chosen, options);
}
