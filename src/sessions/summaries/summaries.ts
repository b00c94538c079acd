/**
 * The summaries of all sessions (spec.md#session-summary). They are kept in a derived table, refreshed after each sync,
 * and completed in memory where the canonical tables are ahead of it: losing them costs time only.
 */
import { isPondError } from "../../base/errors.ts";
import type { MaintainOptions, Store, Table } from "../../substrate/index.ts";
import { createdAfter, eq } from "../../substrate/engine/predicate.ts";
import { SUMMARIES } from "../tables/schema.ts";
import { isDamaged, isUnavailable } from "../tables/unavailable.ts";
import type { SessionSummary } from "./summarise.ts";
import { summarise } from "./summarise.ts";
import { SummaryList } from "./summary-list.ts";
import type { Coverage } from "./summary-rows.ts";
import { asOf, coverageOf, markerRow, SUMMARY_COLUMNS, SummaryReader, summaryRow } from "./summary-rows.ts";
import type { SessionTables } from "../tables/tables.ts";

type SummaryTable = Table<typeof SUMMARIES>;

/** What was read of the table: of each session the newest row. */
interface Loaded {
  /** Another map once a list has been made of it, which does not change under its reader. */
  summaries: Map<string, SessionSummary>;
  isListed: boolean;
  readonly ages: Map<string, string>;
  rows: number;
  version: number;
  covers: string;
}

/** Beyond this share of all sessions one pass over everything is cheaper than asking for each. */
const MOST_CHANGED = 0.3;
/** Superseded rows beside as many live ones that are not worth making the table anew. */
const SPARE_ROWS = 2000;

export class Summaries {
  readonly #store: Store;
  readonly #tables: SessionTables;
  #loaded: Loaded | undefined;
  #current: { readonly key: string; readonly list: Promise<SummaryList> } | undefined;

  constructor(store: Store, tables: SessionTables) {
    this.#store = store;
    this.#tables = tables;
  }

  /** As of now: what the table holds, and what was stored since, computed on top of it. */
  async list(): Promise<SummaryList> {
    try {
      return await this.#again(async () => this.#list(await this.#existing()));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // The table cannot be read: what it holds can be computed.
      return this.#list(undefined);
    }
  }

  /**
   * Brings the table up to the state of the canonical ones, as it is after `meanwhile`; most of the work is done while
   * that runs. The table is made anew when most of it is superseded.
   */
  async refresh(meanwhile: Promise<unknown>): Promise<void> {
    try {
      await this.#again(() => this.#refresh(meanwhile));
    } catch (error) {
      if (!isDamaged(error)) throw error;
      // What it holds can be computed, so it is made anew. Where it is not the summaries that are damaged, this fails too.
      await this.#store.drop(SUMMARIES);
      await this.#again(() => this.#refresh(meanwhile));
    }
  }

  /** They are computed anew when they are next asked for. */
  async drop(): Promise<void> {
    this.#loaded = undefined;
    this.#current = undefined;
    if ((await this.#existing()) !== undefined) await this.#store.drop(SUMMARIES);
  }

  async maintain(options: MaintainOptions): Promise<void> {
    await this.#again(async () => (await this.#existing())?.maintain(options)).catch((error: unknown) => {
      // The refresh that follows makes it anew.
      if (!isDamaged(error)) throw error;
    });
  }

  async #list(table: SummaryTable | undefined): Promise<SummaryList> {
    const [now, version] = await Promise.all([this.#versions(), table?.version() ?? -1]);
    const key = `${asOf(now)} ${version}`;
    if (this.#current?.key !== key) this.#current = { key, list: this.#complete(table, now) };
    try {
      return await this.#current.list;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #refresh(meanwhile: Promise<unknown>): Promise<void> {
    const table = await this.#store.table(SUMMARIES);
    const covers = await readCoverage(table);
    const before = await this.#versions();
    const early = await this.#since(covers, before);
    await meanwhile;
    const now = await this.#versions();
    if (covers === asOf(now)) return;
    const late = await this.#since(asOf(before), now);
    const changed = new Set(late.map(({ id }) => id));
    const fresh = [...early.filter(({ id }) => !changed.has(id)), ...late];
    this.#current = undefined;
    const [rows, sessions] = await Promise.all([table.count(), this.#tables.sessions.count()]);
    const isTooLong = rows + fresh.length > 2 * sessions + SPARE_ROWS;
    // Also where what ran meanwhile has caught up: what is stored is of sessions that may not be there.
    const isPutBack = isAhead(covers, before) || isAhead(covers, now);
    // The stored ones stay unread: the newest row of a session is its summary.
    if (!isTooLong && !isPutBack) return write(table, fresh, now);
    const all = new Map<string, SessionSummary>(isPutBack ? [] : (await this.#load(table)).summaries);
    for (const summary of fresh) all.set(summary.id, summary);
    this.#loaded = undefined;
    await this.#store.drop(SUMMARIES);
    await write(await this.#store.table(SUMMARIES), all.values(), now);
  }

  /** Once more when the table is gone: another process made it anew, or is about to. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#loaded = undefined;
      this.#store.forget(SUMMARIES);
      return work();
    }
  }

  async #complete(table: SummaryTable | undefined, now: Coverage): Promise<SummaryList> {
    const loaded = table === undefined ? nothingLoaded() : await this.#load(table);
    const since = await this.#since(loaded.covers, now);
    const isKnown = !isAhead(loaded.covers, now);
    if (isKnown && since.length === 0) {
      loaded.isListed = true;
      return new SummaryList(loaded.summaries);
    }
    const all = new Map<string, SessionSummary>(isKnown ? loaded.summaries : []);
    for (const summary of since) all.set(summary.id, summary);
    return new SummaryList(all);
  }

  /** Summaries of the sessions that changed since the table was brought up to date: of all when nearly all did. */
  async #since(age: string, now: Coverage): Promise<SessionSummary[]> {
    if (age === asOf(now)) return [];
    if (age === "" || isAhead(age, now)) return summarise(this.#tables, undefined);
    const covers = coverageOf(age);
    const changed = new Set<string>();
    const messages = { select: ["session_id"] as const, where: createdAfter(covers.messages) };
    for await (const rows of this.#tables.messages.scanBatches(messages))
      for (let row = 0; row < rows.length; row++) changed.add(rows.string("session_id", row));
    const sessions = { select: ["id", "parent_session_id"] as const, where: createdAfter(covers.sessions) };
    for await (const rows of this.#tables.sessions.scanBatches(sessions))
      for (let row = 0; row < rows.length; row++) {
        changed.add(rows.string("id", row));
        const parent = rows.stringOrNull("parent_session_id", row);
        if (parent !== null) changed.add(parent);
      }
    const sources = { select: ["session_id"] as const, where: createdAfter(covers.sources ?? 0) };
    for await (const rows of this.#tables.sources?.scanBatches(sources) ?? [])
      for (let row = 0; row < rows.length; row++) changed.add(rows.string("session_id", row));
    const most = MOST_CHANGED * (await this.#tables.sessions.count());
    return summarise(this.#tables, changed.size > most ? undefined : [...changed]);
  }

  /** Reads on from where the last reading stopped; from the start when the rows do not add up. */
  async #load(table: SummaryTable): Promise<Loaded> {
    const version = await table.version();
    if (this.#loaded?.version === version) return this.#loaded;
    let loaded = nothingLoaded();
    if (this.#loaded !== undefined && this.#loaded.version < version)
      loaded = await readInto(this.#loaded, table, version);
    // Another process may have made the table anew meanwhile.
    if (loaded.rows !== (await table.count())) loaded = await readInto(nothingLoaded(), table, version);
    this.#loaded = loaded;
    return loaded;
  }

  async #versions(): Promise<Coverage> {
    const { messages, sessions, sources } = this.#tables;
    const [ofMessages, ofSessions, ofSources] = await Promise.all([
      messages.version(),
      sessions.version(),
      sources?.version(),
    ]);
    return {
      messages: ofMessages,
      sessions: ofSessions,
      ...(ofSources === undefined ? {} : { sources: ofSources }),
    };
  }

  /** Undefined where there is none and nothing may be made. */
  async #existing(): Promise<SummaryTable | undefined> {
    try {
      return await this.#store.table(SUMMARIES);
    } catch (error) {
      if (isPondError(error) && error.code === "not_found") return undefined;
      throw error;
    }
  }
}

/** The age of the newest marker, which no session's row has as its id; empty where there is none. */
async function readCoverage(table: SummaryTable): Promise<string> {
  let newest = "";
  for await (const rows of table.scanBatches({ select: ["as_of"], where: eq("session_id", "") }))
    for (let row = 0; row < rows.length; row++) {
      const age = rows.string("as_of", row);
      if (age > newest) newest = age;
    }
  return newest;
}

async function readInto(loaded: Loaded, table: SummaryTable, version: number): Promise<Loaded> {
  const where = loaded.version < 0 ? {} : { where: createdAfter(loaded.version) };
  const reader = new SummaryReader();
  if (loaded.isListed) loaded.summaries = new Map(loaded.summaries);
  loaded.isListed = false;
  for await (const rows of table.scanBatches({ select: SUMMARY_COLUMNS, ...where }))
    for (let row = 0; row < rows.length; row++) {
      loaded.rows += 1;
      const id = rows.string("session_id", row);
      const age = reader.age(rows, row);
      if (id === "") loaded.covers = age > loaded.covers ? age : loaded.covers;
      else if (age >= (loaded.ages.get(id) ?? "")) {
        loaded.ages.set(id, age);
        loaded.summaries.set(id, reader.summary(rows, row));
      }
    }
  loaded.version = version;
  return loaded;
}

/** Some ten megabytes. */
const ROWS_AT_ONCE = 30_000;

/** The marker goes with the last batch, so that it never covers rows that are not there. */
async function write(table: SummaryTable, summaries: Iterable<SessionSummary>, now: Coverage): Promise<void> {
  const age = asOf(now);
  let batch = table.batch();
  const add = async (row: ReturnType<typeof markerRow>): Promise<void> => {
    if (batch.rows < ROWS_AT_ONCE && batch.add(row) !== "full") return;
    await table.insert(batch.finish());
    batch = table.batch();
    batch.add(row);
  };
  for (const summary of summaries) await add(summaryRow(summary, age));
  await add(markerRow(age));
  await table.insert(batch.finish());
}

/** The store was put back to an earlier state than these summaries are of. */
function isAhead(age: string, now: Coverage): boolean {
  const { messages, sessions, sources = 0 } = coverageOf(age);
  return messages > now.messages || sessions > now.sessions || sources > (now.sources ?? 0);
}

function nothingLoaded(): Loaded {
  return { summaries: new Map(), isListed: false, ages: new Map(), rows: 0, version: -1, covers: "" };
}
