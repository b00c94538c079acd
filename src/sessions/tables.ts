/** The three tables of one namespace, opened together, and the writes that ingest makes to them. */
import type { Rows, Store, Table } from "../substrate/index.ts";
import type { MessageRow, PartRow, SessionRow } from "./encode.ts";
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

  /** The labels of those sessions that are stored. */
  async labelsOf(ids: Iterable<string>): Promise<Map<string, Labels>> {
    const labels = new Map<string, Labels>();
    const select = ["id", "source_agent", "project"] as const;
    for await (const rows of this.sessions.scanIn("id", ids, { select }))
      for (let row = 0; row < rows.length; row++) labels.set(rows.string("id", row), labelsAt(rows, row));
    return labels;
  }

  async insertSessions(rows: readonly SessionRow[]): Promise<Inserted> {
    return counted(rows.length === 0 ? NONE : await this.sessions.insertRows(rows));
  }

  async insertMessages(rows: readonly MessageRow[]): Promise<Inserted> {
    return counted(rows.length === 0 ? NONE : await this.messages.insertRows(rows));
  }

  async insertParts(rows: readonly PartRow[]): Promise<Inserted> {
    return counted(rows.length === 0 ? NONE : await this.parts.insertRows(rows));
  }
}

const NONE = { inserted: 0, matched: 0, duplicates: 0 };

function counted(result: typeof NONE): Inserted {
  return { inserted: result.inserted, matched: result.matched + result.duplicates };
}

function labelsAt(rows: Rows<typeof SESSIONS>, row: number): Labels {
  return { source_agent: rows.string("source_agent", row), project: rows.string("project", row) };
}
