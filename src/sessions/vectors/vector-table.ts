/** The vectors of messages under one model: what is stored of them, what is missing, which are nearest (spec.md#search-vector-index). */
import type { MessageId, SessionId } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import { and, eq, isIn, isNull, MAX_IN_VALUES } from "../../substrate/engine/predicate.ts";
import type { RowOf, Table } from "../../substrate/index.ts";
import { joinKey } from "../../substrate/index.ts";
import type { MessageFilter } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";
import type { Mark } from "./marks.ts";
import { leaveMark, newestMark, OF_MESSAGES } from "./marks.ts";
import type { Unembedded } from "./unembedded.ts";
import { listUnembedded, partsOf, readUnembedded } from "./unembedded.ts";
import type { VectorModel, VectorSpec } from "./vector-spec.ts";

/** A message and its vector; undefined where the model can make nothing of its text. */
export interface EmbeddedMessage extends Omit<Unembedded, "text"> {
  readonly vector: Float32Array | undefined;
}

/** What is to be embedded: how many messages, and they themselves, some at a time. */
export interface Missing {
  readonly count: number;
  read(): AsyncGenerator<readonly Unembedded[]>;
}

export interface NearMessage {
  readonly session_id: SessionId;
  readonly id: MessageId;
  readonly row: bigint;
  /** Cosine of the angle to the query: 1 where they say the same. */
  readonly similarity: number;
}

export interface NearestRequest {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly where?: MessageFilter | undefined;
  /** Above 100,000 vectors: partitions that are looked into, and how many times the limit is compared exactly. */
  readonly nprobes?: number | undefined;
  readonly refineFactor?: number | undefined;
}

export interface VectorCounts {
  /** Messages with a vector. */
  readonly vectors: number;
  /** Messages whose text the model can make nothing of. */
  readonly without: number;
}

/**
 * Without a second look the engine's distances are estimates, of another scale. A thousand exact comparisons take it 20 ms of
 * CPU; of 500,000 vectors 200 found 95% of the ten nearest ones.
 */
const LOOK = { nprobes: 50, compared: 1000, mostFactor: 20 };

export class VectorTable {
  readonly model: VectorModel;
  readonly #table: Table<VectorSpec>;
  readonly #tables: SessionTables;

  constructor(
    table: Table<VectorSpec>,
    { tables, model }: { readonly tables: SessionTables; readonly model: VectorModel },
  ) {
    this.#table = table;
    this.#tables = tables;
    this.model = model;
  }

  async counts(): Promise<VectorCounts> {
    const [all, without] = await Promise.all([
      this.#table.count(OF_MESSAGES),
      this.#table.count(and(OF_MESSAGES, isNull("vector"))),
    ]);
    return { vectors: all - without, without };
  }

  /** Messages with text that have no vector: of those only that were stored since all had one, as `since` says. */
  async missing(since: Mark | undefined): Promise<Missing> {
    // One of a store that was put back to an earlier state says nothing of this one.
    const isAhead = since !== undefined && since.version > (await this.#tables.messages.version());
    const listed = await listUnembedded(
      this.#tables,
      since === undefined || isAhead ? 0 : since.version,
      (sessions) => this.#table.knownKeys(sessions),
    );
    const tables = this.#tables;
    return {
      count: listed.length,
      async *read() {
        for (const part of partsOf(listed)) yield readUnembedded(tables, part);
      },
    };
  }

  /** Stores vectors; of a message that has one by now the stored one stays. Says how many were stored. */
  async add(messages: readonly EmbeddedMessage[]): Promise<number> {
    const rows = messages.map(({ vector = null, ...message }): RowOf<VectorSpec> => ({
      ...message,
      embedding_model: this.model.name,
      vector,
    }));
    return (await this.#table.insertRows(rows)).inserted;
  }

  /** Up to where everything was embedded when somebody last was done; undefined where nobody was. */
  mark(): Promise<Mark | undefined> {
    return newestMark(this.#table);
  }

  /** Says that everything is embedded up to a version of the table of messages. */
  async leaveMark(mark: Mark): Promise<void> {
    await leaveMark(this.#table, { ...mark, model: this.model.name });
  }

  /**
   * The messages whose vectors are nearest, the nearest first. Those that are not stored any more are left out. Only rows are
   * asked of the engine: their keys, too, would take it half as long again as the search.
   */
  async nearest(request: NearestRequest): Promise<readonly NearMessage[]> {
    const rows = await this.#table.nearest({ ...optionsOf(request), select: ["row"] });
    const found = Array.from({ length: rows.length }, (_, at) => ({
      row: rows.bigint("row", at) ?? 0n,
      vectorRow: rows.rowId(at),
      similarity: 1 - rows.distance(at),
    }));
    const keys = await this.#keysOf(found);
    return found.flatMap(({ vectorRow, similarity }) => {
      const message = keys.get(vectorRow);
      return message === undefined ? [] : [{ ...message, similarity }];
    });
  }

  /** The engine's plan for it: shows which filters an index answers. */
  explain(request: NearestRequest): Promise<string> {
    return this.#table.explain({ ...optionsOf(request), select: ["row"] });
  }

  /** The vector of one message; undefined where it has none. */
  async vectorOf(session: SessionId, id: MessageId): Promise<Float32Array | undefined> {
    const where = and(eq("session_id", session), eq("id", id));
    const rows = await this.#table.scan({ select: ["vector"], where, limit: 1 });
    return rows.length === 0 ? undefined : (rows.vector("vector", 0) ?? undefined);
  }

  /** By the row of the vector. A row of a message is never given to another one, but a repair may have taken it out. */
  async #keysOf(found: readonly Found[]): Promise<ReadonlyMap<bigint, Place>> {
    const present = await this.#tables.messages.takePresent(
      found.map(({ row }) => row),
      ["session_id", "id"],
    );
    const places = new Map(placesIn(present).map((place) => [place.row, place]));
    const keys = new Map<bigint, Place>();
    const gone: bigint[] = [];
    for (const { row, vectorRow } of found) {
      const place = places.get(row);
      if (place === undefined) gone.push(vectorRow);
      else keys.set(vectorRow, place);
    }
    if (gone.length > 0) for (const [row, place] of await this.#foundAgain(gone)) keys.set(row, place);
    return keys;
  }

  /** Messages that were taken out and stored again, by the rows of their vectors. */
  async #foundAgain(vectorRows: readonly bigint[]): Promise<ReadonlyMap<bigint, Place>> {
    const rows = await this.#table.takePresent(vectorRows, ["session_id", "id"]);
    const wanted = new Map(placesIn(rows).map((place) => [keyOf(place), place.row]));
    const sessions = rows.rowIds().map((_, at) => rows.string("session_id", at));
    const ids = new Set(rows.rowIds().map((_, at) => rows.string("id", at)));
    const again = new Map<bigint, Place>();
    for (const list of inLists([...ids])) {
      const options = { select: ["session_id", "id"] as const, where: isIn("id", list), withRowId: true };
      for await (const messages of this.#tables.messages.scanIn("session_id", sessions, options))
        for (const place of placesIn(messages)) {
          const vectorRow = wanted.get(keyOf(place));
          if (vectorRow !== undefined) again.set(vectorRow, place);
        }
    }
    return again;
  }
}

/** A vector, by its row, and the row of its message when that was embedded. */
interface Found {
  readonly row: bigint;
  readonly vectorRow: bigint;
}

type Place = Pick<NearMessage, "session_id" | "id" | "row">;

interface KeyedRows {
  readonly length: number;
  rowId(at: number): bigint;
  string(column: "session_id" | "id", at: number): string;
}

function placesIn(rows: KeyedRows): readonly Place[] {
  return Array.from({ length: rows.length }, (_, at) => ({
    session_id: sessionId(rows.string("session_id", at)),
    id: messageId(rows.string("id", at)),
    row: rows.rowId(at),
  }));
}

function* inLists(values: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < values.length; at += MAX_IN_VALUES) yield values.slice(at, at + MAX_IN_VALUES);
}

const keyOf = ({ session_id, id }: Place): string => joinKey([session_id, id]);

function optionsOf({ vector, limit, where, nprobes, refineFactor }: NearestRequest) {
  return {
    column: "vector" as const,
    vector,
    limit,
    nprobes: nprobes ?? LOOK.nprobes,
    refineFactor: refineFactor ?? Math.min(LOOK.mostFactor, Math.ceil(LOOK.compared / limit)),
    ...(where === undefined ? {} : { where }),
  };
}
