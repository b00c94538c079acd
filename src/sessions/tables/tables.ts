/** The tables of one namespace, opened together, and the writes that ingest makes to them. */
import type {
  Batch,
  BatchBuilder,
  KeyPlace,
  KeySet,
  Rows,
  Store,
  Table,
  TableSpec,
} from "../../substrate/index.ts";
import { isPondError, PondError, toPondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import type { StoredVersion } from "./claim.ts";
import { MESSAGES, PARTS, SESSIONS, SOURCES } from "./schema.ts";
import type { RecordedState } from "./states.ts";
import type { VersionScope } from "./versions.ts";
import { readStates, readVersions } from "./versions.ts";

/** A table as far as its columns do not matter. */
type AnyTable = Pick<
  Table,
  "maintain" | "health" | "version" | "remakeIndexes" | "firstKeysOf" | "takeOut" | "isReadable" | "count"
> & { readonly spec: { readonly name: string } };

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

/** The tables as one import uses them: those of this thread, or those of another (remote-tables.ts). */
export interface IngestTables {
  readonly sessions: RowTarget<typeof SESSIONS>;
  readonly messages: RowTarget<typeof MESSAGES>;
  readonly parts: RowTarget<typeof PARTS>;
  readonly sources: RowTarget<typeof SOURCES>;
  /** `said`: what their sources say. */
  readonly labelsOf: (said: ReadonlyMap<string, Labels>) => Promise<SessionLabels>;
  /** What is stored of messages, in which versions. */
  readonly versions: (scope: VersionScope) => Promise<readonly StoredVersion[]>;
  /** The recorded states of these sessions. */
  readonly states: (sessions: readonly string[]) => Promise<readonly RecordedState[]>;
  /** The hashes of rows that an older pond stored without one, in the order given; undefined where that cannot be told. */
  readonly hashesOf: (versions: readonly StoredVersion[]) => Promise<readonly (number | undefined)[]>;
  /** A table may have lost rows that recorded states hold: what they say of parts is not taken for granted. */
  readonly isDoubtful: boolean;
}

/**
 * For one import. A session without a row is labelled as it was said first, by whichever batch or thread: its row may be
 * on its way still, and all its messages carry the same labels.
 */
export function ingestTables(
  tables: SessionTables,
  hashesOf: IngestTables["hashesOf"] = (versions) => Promise.resolve(versions.map(() => undefined)),
  isDoubtful = false,
): IngestTables {
  const { sessions, messages, parts, sources } = tables;
  const first = new Map<string, Labels>();
  if (sources === undefined) throw new PondError("internal", "the store was opened read-only");
  return {
    sessions,
    messages,
    parts,
    sources,
    versions: (scope) => readVersions(tables, scope),
    states: async (ids) => {
      const states = await readStates(tables, ids);
      // One that is as it was is not recorded again: another process may have died before it synced it.
      if (states.length > 0) await sources.settle();
      return states;
    },
    hashesOf,
    isDoubtful,
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
  /** Undefined where an older pond made the store and nothing was written to it since. */
  readonly sources: Table<typeof SOURCES> | undefined;

  private constructor(tables: Pick<SessionTables, "sessions" | "messages" | "parts" | "sources">) {
    this.sessions = tables.sessions;
    this.messages = tables.messages;
    this.parts = tables.parts;
    this.sources = tables.sources;
  }

  static async open(store: Store): Promise<SessionTables> {
    const opening = [store.table(SESSIONS), store.table(MESSAGES), store.table(PARTS)] as const;
    const [sources, ...opened] = await Promise.all([
      store.table(SOURCES).catch(orNone),
      ...opening.map((table) => table.catch(orNone)),
    ]);
    const isLost = opened.includes(undefined) && opened.some((table) => table !== undefined);
    const [sessions, messages, parts] = await Promise.all(opening).catch((error: unknown) => {
      throw isLost ? lostTable(error) : error;
    });
    return new SessionTables({ sessions, messages, parts, sources });
  }

  get all(): readonly AnyTable[] {
    const { sessions, messages, parts, sources } = this;
    return sources === undefined ? [sessions, messages, parts] : [sessions, messages, parts, sources];
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

/** Of a store whose other tables tell that they were there. */
export const lostTables = (names: readonly string[]): PondError =>
  new PondError(
    "storage_unavailable",
    `the store has lost ${names.length === 1 ? "its table" : "its tables"} ${names.join(", ")}, rows and all`,
    { reason: "corrupt", hint: sentence`run ${{ do: "repair" }}` },
  );

/** Of a store that has others: it is there, and a table of it was lost. */
const lostTable = (cause: unknown): PondError =>
  new PondError("storage_unavailable", `a table of the store was lost: ${toPondError(cause).message}`, {
    reason: "corrupt",
    hint: sentence`run ${{ do: "repair" }}`,
    cause,
  });

/** A store that is only read is not given a table. */
function orNone(error: unknown): undefined {
  if (isPondError(error) && error.code === "not_found") return undefined;
  throw error;
}

function labelsAt(rows: Rows<typeof SESSIONS>, row: number): Labels {
  return { source_agent: rows.string("source_agent", row), project: rows.string("project", row) };
}
