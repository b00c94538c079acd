/** The three tables of one namespace, opened together, and the writes that ingest makes to them. */
import type {
  Batch,
  BatchBuilder,
  KeySet,
  RowOf,
  Rows,
  Store,
  Table,
  TableSpec,
} from "../substrate/index.ts";
import { MESSAGES, PARTS, SESSIONS } from "./schema.ts";

/** What messages copy from their session; immutable once stored (spec.md#session-labels-immutable). */
export interface Labels {
  readonly source_agent: string;
  readonly project: string;
}

export interface Inserted {
  readonly inserted: number;
  /** Stored before, or twice in the input. */
  readonly matched: number;
}

/** A table as ingest writes to it. */
export interface RowTarget<S extends TableSpec> {
  readonly spec: S;
  batch(): BatchBuilder<S>;
  /** Inserts the rows whose keys are absent and tells how many these were. */
  insert(batch: Batch<S>): Promise<{ readonly inserted: number }>;
  /** Stored keys whose first column is one of these. */
  knownKeys(first: Iterable<string>): Promise<KeySet>;
}

/** The tables as ingest uses them: those of this thread, or those of another (far-tables.ts). */
export interface IngestTables {
  readonly sessions: RowTarget<typeof SESSIONS>;
  readonly messages: RowTarget<typeof MESSAGES>;
  readonly parts: RowTarget<typeof PARTS>;
  labelsOf(ids: Iterable<string>): Promise<ReadonlyMap<string, Labels>>;
}

export class SessionTables implements IngestTables {
  readonly sessions: Table<typeof SESSIONS>;
  readonly messages: Table<typeof MESSAGES>;
  readonly parts: Table<typeof PARTS>;

  private constructor(
    sessions: Table<typeof SESSIONS>,
    messages: Table<typeof MESSAGES>,
    parts: Table<typeof PARTS>,
  ) {
    this.sessions = sessions;
    this.messages = messages;
    this.parts = parts;
  }

  static async open(store: Store): Promise<SessionTables> {
    const [sessions, messages, parts] = await Promise.all([
      store.table(SESSIONS),
      store.table(MESSAGES),
      store.table(PARTS),
    ]);
    return new SessionTables(sessions, messages, parts);
  }

  get all(): readonly [Table<typeof SESSIONS>, Table<typeof MESSAGES>, Table<typeof PARTS>] {
    return [this.sessions, this.messages, this.parts];
  }

  /** The labels of those sessions that are stored. */
  async labelsOf(ids: Iterable<string>): Promise<Map<string, Labels>> {
    const labels = new Map<string, Labels>();
    const select = ["id", "source_agent", "project"] as const;
    for await (const rows of this.sessions.scanIn("id", ids, { select }))
      for (let row = 0; row < rows.length; row++) labels.set(rows.string("id", row), labelsAt(rows, row));
    return labels;
  }
}

/**
 * Inserts what is absent into one table, session by session. The keys that a session had before this run are looked
 * up once, while it is being written; later batches of the same session need no second look, because the merge itself
 * leaves rows alone that are there.
 */
export class AbsentRows<S extends TableSpec> {
  readonly #table: RowTarget<S>;
  readonly #known = new Map<string, KeySet>();

  constructor(table: RowTarget<S>) {
    this.#table = table;
  }

  /** Finds out what is stored of these sessions. Inserting does so by itself; asked before, tables answer side by side. */
  async lookUp(sessions: Iterable<string>): Promise<void> {
    const unknown = new Set(sessions);
    for (const session of unknown) if (this.#known.has(session)) unknown.delete(session);
    if (unknown.size === 0) return;
    const keys = await this.#table.knownKeys(unknown);
    for (const session of unknown) this.#known.set(session, keys);
  }

  /** `open`: the session that goes on in the next batch. */
  async insert(rows: readonly RowOf<S>[], open: string | undefined): Promise<Inserted> {
    if (rows.length === 0) return { inserted: 0, matched: 0 };
    await this.lookUp(rows.map((row) => this.#sessionOf(row)));
    let inserted = 0;
    let batch = this.#table.batch();
    for (const row of rows) {
      if (this.#isKnown(row)) continue;
      if (batch.add(row) !== "full") continue;
      inserted += await this.#commit(batch);
      batch = this.#table.batch();
      batch.add(row);
    }
    inserted += await this.#commit(batch);
    for (const session of this.#known.keys()) if (session !== open) this.#known.delete(session);
    return { inserted, matched: rows.length - inserted };
  }

  async #commit(batch: BatchBuilder<S>): Promise<number> {
    return batch.rows === 0 ? 0 : (await this.#table.insert(batch.finish())).inserted;
  }

  #isKnown(row: RowOf<S>): boolean {
    const keys = this.#known.get(this.#sessionOf(row));
    // Nothing is known of a new session: no key is made then.
    return keys !== undefined && keys.size > 0 && keys.has(...this.#keyOf(row));
  }

  #sessionOf(row: Readonly<Record<string, unknown>>): string {
    return String(row[this.#table.spec.primaryKey[0]]);
  }

  #keyOf(row: Readonly<Record<string, unknown>>): string[] {
    return this.#table.spec.primaryKey.map((column) => String(row[column]));
  }
}

function labelsAt(rows: Rows<typeof SESSIONS>, row: number): Labels {
  return { source_agent: rows.string("source_agent", row), project: rows.string("project", row) };
}
