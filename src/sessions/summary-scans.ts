/**
 * What summaries read beside their counts: sessions and messages of some sessions or of all, the states of their sources,
 * and which sessions have rows that need not be current.
 */
import { pondOf } from "../model/index.ts";
import type { Rows, ScanOptions } from "../substrate/index.ts";
import { contains, or } from "../substrate/index.ts";
import { SessionHistory } from "./history.ts";
import { pieceOf } from "./piece.ts";
import { decodeOptions, revisesAt } from "./rows.ts";
import type { MESSAGES, SESSIONS } from "./schema.ts";
import type { Holding, RecordedState } from "./states.ts";
import { STATE_COLUMNS, stateAt } from "./states.ts";
import type { SessionTables } from "./tables.ts";
import { readStates } from "./versions.ts";

/** Which sessions; undefined for all of them. */
export type Chosen = readonly string[] | undefined;

/** Beyond so many sessions one pass over all of them is cheaper than asking for each. */
const MOST_ASKED = 2000;

/** What is told of rows before any of them is read. */
export interface Told {
  readonly states: ReadonlyMap<string, readonly RecordedState[]>;
  /** What the only source of a session holds now. */
  readonly held: ReadonlyMap<string, HeldRows>;
  /** Sessions of several sources, and those without any whose records have several versions. */
  readonly doubtful: ReadonlySet<string>;
}

export async function readTold(
  tables: SessionTables,
  chosen: Chosen,
  sessions: readonly string[],
): Promise<Told> {
  const recorded = chosen === undefined ? await readAllStates(tables) : await readStates(tables, chosen);
  const states = Map.groupBy(recorded, ({ session_id }) => session_id);
  const held = new Map<string, HeldRows>();
  const doubtful = new Set<string>();
  for (const [session, own] of states) {
    const history = new SessionHistory(own);
    const [only, ...others] = history.told;
    const latest = others.length > 0 ? undefined : only?.latest;
    if (only === undefined || latest === undefined) doubtful.add(session);
    else held.set(session, new HeldRows(history.shown({ states: only, state: latest })));
  }
  const unrecorded = sessions.filter((session) => !states.has(session));
  for (const session of await readRevised(tables, unrecorded))
    if (!states.has(session)) doubtful.add(session);
  return { states, held, doubtful };
}

/** The rows of a state, asked one by one. */
export class HeldRows {
  readonly #runs = new Map<string, { readonly from: number; readonly end: number }[]>();
  readonly #ids = new Set<string>();

  constructor({ runs, side }: Holding) {
    for (const { id } of side) this.#ids.add(id);
    for (const run of runs)
      if ("id" in run) this.#ids.add(run.id);
      else {
        const own = this.#runs.get(run.origin) ?? [];
        own.push({ from: run.from, end: run.from + run.count });
        this.#runs.set(run.origin, own);
      }
  }

  /** False also where only a closer look can tell. */
  holds(rows: Rows<typeof MESSAGES>, row: number): boolean {
    const origin = rows.stringOrNull("origin", row);
    const seq = rows.intOrNull("seq", row);
    const runs = origin === null ? undefined : this.#runs.get(origin);
    if (seq !== null && runs?.some(({ from, end }) => seq >= from && seq < end) === true) return true;
    if (this.#ids.size === 0) return false;
    const id = rows.string("id", row);
    return this.#ids.has(id) || this.#ids.has(pieceOf({ id, record: id })?.of ?? id);
  }
}

async function readAllStates(tables: SessionTables): Promise<RecordedState[]> {
  const states: RecordedState[] = [];
  if (tables.sources === undefined) return states;
  const select = [...STATE_COLUMNS, "content"] as const;
  for await (const rows of tables.sources.scanBatches({ select }))
    for (let row = 0; row < rows.length; row++) states.push(stateAt(rows, row));
  return states;
}

/** Sessions with records that were stored in several versions; some that were not asked for, where most were. */
async function readRevised(tables: SessionTables, sessions: readonly string[]): Promise<Set<string>> {
  const revised = new Set<string>();
  if (sessions.length === 0) return revised;
  const select = ["session_id", "id", "repeats", "options"] as const;
  const where = or(contains("options", '"revises":'), contains("repeats", '"record":'));
  const chosen = sessions.length > MOST_ASKED ? undefined : sessions;
  for await (const rows of messagesOf(tables, chosen, { select, where }))
    for (let row = 0; row < rows.length; row++)
      if (isRevision(rows, row)) revised.add(rows.string("session_id", row));
  return revised;
}

function isRevision(rows: Rows<typeof MESSAGES>, row: number): boolean {
  if (revisesAt(rows, row).revises !== undefined) return true;
  return typeof pondOf(decodeOptions(rows.string("options", row)).options)["revises"] === "string";
}

export function sessionsOf(
  tables: SessionTables,
  of: { readonly column: "id" | "parent_session_id"; readonly chosen: Chosen },
  select: ScanOptions<typeof SESSIONS>["select"],
): AsyncIterable<Rows<typeof SESSIONS>> {
  if (of.chosen === undefined) return tables.sessions.scanBatches({ select });
  return tables.sessions.scanIn(of.column, of.chosen, { select });
}

export function messagesOf(
  tables: SessionTables,
  chosen: Chosen,
  options: ScanOptions<typeof MESSAGES>,
): AsyncIterable<Rows<typeof MESSAGES>> {
  if (chosen === undefined) return tables.messages.scanBatches(options);
  return tables.messages.scanIn("session_id", chosen, options);
}
