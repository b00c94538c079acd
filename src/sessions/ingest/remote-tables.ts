/**
 * The tables as a thread without the engine writes to them: it builds the batches and asks the thread that owns the
 * store. What is asked is plain data, so that any transport between threads will do.
 */
import type { KeyPlace, MovedBatch, TableSpec } from "../../substrate/index.ts";
import { Batch, BatchBuilder, KeySet, loadArrow } from "../../substrate/index.ts";
import { MESSAGES, PARTS, SESSIONS, SOURCES } from "../tables/schema.ts";
import type { IngestTables, RowTarget } from "../tables/tables.ts";

type TableName = "sessions" | "messages" | "parts" | "sources";

/** What the owner of the store answers. */
export interface TableCalls {
  readonly labels: IngestTables["labelsOf"];
  readonly versions: IngestTables["versions"];
  readonly states: IngestTables["states"];
  readonly hashes: IngestTables["hashesOf"];
  /** Stored keys, joined, that have one of these values at this place. */
  readonly keys: (of: {
    readonly table: TableName;
    readonly values: readonly string[];
    readonly place: KeyPlace;
  }) => Promise<ReadonlySet<string>>;
  readonly insert: (into: {
    readonly table: TableName;
    readonly batch: MovedBatch;
  }) => Promise<{ readonly inserted: number }>;
}

/** Answers for any number of askers. */
export function tableCalls(tables: IngestTables): TableCalls {
  const writers = {
    sessions: oneAtATime(tables.sessions),
    messages: oneAtATime(tables.messages),
    parts: oneAtATime(tables.parts),
    sources: oneAtATime(tables.sources),
  };
  return {
    labels: tables.labelsOf,
    versions: tables.versions,
    states: tables.states,
    hashes: tables.hashesOf,
    keys: async ({ table, values, place }) => (await tables[table].knownKeys(values, place)).joined,
    insert: ({ table, batch }) => writers[table](batch),
  };
}

/** Two commits to a table at once would only conflict. */
function oneAtATime<S extends TableSpec>(
  table: RowTarget<S>,
): (batch: MovedBatch) => Promise<{ readonly inserted: number }> {
  let last: Promise<unknown> = Promise.resolve();
  return (batch) => {
    const next = last.then(async () => {
      const { inserted } = await table.insert(Batch.arrived(table.spec, batch));
      return { inserted };
    });
    // A failure is its asker's to report; the next one tries for itself.
    last = next.catch(() => undefined);
    return next;
  };
}

export function remoteTables(calls: TableCalls, isDoubtful = false): IngestTables {
  return {
    sessions: new RemoteTable("sessions", SESSIONS, calls),
    messages: new RemoteTable("messages", MESSAGES, calls),
    parts: new RemoteTable("parts", PARTS, calls),
    sources: new RemoteTable("sources", SOURCES, calls),
    labelsOf: calls.labels,
    versions: calls.versions,
    states: calls.states,
    hashesOf: calls.hashes,
    isDoubtful,
  };
}

class RemoteTable<S extends TableSpec> implements RowTarget<S> {
  readonly spec: S;
  readonly #name: TableName;
  readonly #calls: TableCalls;
  readonly #library = loadArrow();

  constructor(name: TableName, spec: S, calls: TableCalls) {
    this.spec = spec;
    this.#name = name;
    this.#calls = calls;
  }

  batch(): BatchBuilder<S> {
    return new BatchBuilder(this.#library, this.spec);
  }

  insert(batch: Batch<S>): Promise<{ readonly inserted: number }> {
    return this.#calls.insert({ table: this.#name, batch: batch.toMove() });
  }

  async knownKeys(values: Iterable<string>, place: KeyPlace = 0): Promise<KeySet> {
    return new KeySet(await this.#calls.keys({ table: this.#name, values: [...values], place }));
  }
}
