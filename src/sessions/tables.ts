/** The three tables of one namespace, opened together, and the writes that ingest makes to them. */
import type {
  Batch,
  BatchBuilder,
  KeyPlace,
  KeySet,
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
  /** Stored keys that have one of these values in the first or second column of the key. */
  knownKeys(values: Iterable<string>, place?: KeyPlace): Promise<KeySet>;
}

/** How the sessions of a batch are labelled. */
export interface SessionLabels {
  /** Of those that have a row. */
  readonly stored: ReadonlyMap<string, Labels>;
  /** Of all of them, what their messages are stored under. */
  readonly agreed: ReadonlyMap<string, Labels>;
}

/** The tables as one import uses them: those of this thread, or those of another (far-tables.ts). */
export interface IngestTables {
  readonly sessions: RowTarget<typeof SESSIONS>;
  readonly messages: RowTarget<typeof MESSAGES>;
  readonly parts: RowTarget<typeof PARTS>;
  /** `said`: what their sources say. */
  readonly labelsOf: (said: ReadonlyMap<string, Labels>) => Promise<SessionLabels>;
}

/**
 * For one import. A session without a row is labelled as it was said first, by whichever batch or thread: its row may be
 * on its way still, and all its messages carry the same labels.
 */
export function ingestTables(tables: SessionTables): IngestTables {
  const { sessions, messages, parts } = tables;
  const first = new Map<string, Labels>();
  return {
    sessions,
    messages,
    parts,
    labelsOf: async (said) => {
      for (const [id, labels] of said) if (!first.has(id)) first.set(id, labels);
      const stored = await tables.labelsOf(said.keys());
      const agreed = new Map<string, Labels>();
      for (const [id, labels] of said) agreed.set(id, stored.get(id) ?? first.get(id) ?? labels);
      return { stored, agreed };
    },
  };
}

export class SessionTables {
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

function labelsAt(rows: Rows<typeof SESSIONS>, row: number): Labels {
  return { source_agent: rows.string("source_agent", row), project: rows.string("project", row) };
}
