/** The tables of vectors that a store has, one per model (spec.md#session-embed-from-canonical). All of them are derived. */
import { isPondError } from "../../base/errors.ts";
import { isNull, not } from "../../substrate/engine/predicate.ts";
import type { MaintainOptions, MaintenanceReport, Store, Table, TableHealth } from "../../substrate/index.ts";
import type { SessionTables } from "../tables/tables.ts";
import type { HeldVectors } from "./choice.ts";
import type { VectorModel, VectorSpec } from "./vector-spec.ts";
import { vectorSpec, vectorSpecNamed } from "./vector-spec.ts";
import { VectorTable } from "./vector-table.ts";

/** What is held of a model, and where. */
export interface HeldTable extends HeldVectors {
  readonly table: string;
  readonly bytes: number;
}

export class Vectors {
  readonly #store: Store;
  readonly #tables: SessionTables;

  constructor(store: Store, tables: SessionTables) {
    this.#store = store;
    this.#tables = tables;
  }

  /** Of one model, where there are any. */
  async existing(model: VectorModel): Promise<VectorTable | undefined> {
    const spec = vectorSpec(model);
    const isThere = (await this.#store.tables()).includes(spec.name);
    return isThere ? this.#opened(spec, model) : undefined;
  }

  /** The same to be written to, made where there are none. */
  writable(model: VectorModel): Promise<VectorTable> {
    return this.#opened(vectorSpec(model), model);
  }

  /** Whether everything that is stored of a model can be read: where it cannot, it is dropped and made anew. */
  async isReadable(model: VectorModel): Promise<boolean> {
    const spec = vectorSpec(model);
    try {
      const table = await this.#store.table(spec);
      for await (const _ of table.scanBatches({ select: ["session_id", "id", "row", "vector"] }));
      return true;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return false;
    }
  }

  /** What is stored of every model, the largest first; of a table that cannot be read nothing. */
  async held(): Promise<readonly HeldTable[]> {
    const held: HeldTable[] = [];
    await this.#forEach(async (table) => {
      const { name } = table.spec;
      const labels = await table.scan({ select: ["embedding_model"], limit: 1 });
      if (labels.length === 0) return;
      const model = { name: labels.string("embedding_model", 0), dimension: dimensionOf(table.spec) };
      const [counts, { facts }] = await Promise.all([this.#view(table, model).counts(), table.health()]);
      held.push({ table: name, model, bytes: facts.liveBytes, ...counts });
    });
    return held.toSorted((a, b) => b.vectors - a.vectors || (a.table < b.table ? -1 : 1));
  }

  /** Messages with text: as many as could have a vector. */
  texts(): Promise<number> {
    return this.#tables.messages.count(not(isNull("text_bytes")));
  }

  /** The newest version of the table of messages: all of it is there to be embedded. */
  version(): Promise<number> {
    return this.#tables.messages.version();
  }

  /** They are made again when messages are next embedded. */
  async drop(model: VectorModel): Promise<void> {
    const spec = vectorSpec(model);
    if ((await this.#store.tables()).includes(spec.name)) await this.#store.drop(spec);
  }

  /**
   * Lets go of other models than one, whose vectors are complete, and says which. Those stay that another machine last
   * completed: it has another model, and would embed everything again.
   */
  async dropOthers(model: VectorModel, reader: string): Promise<readonly string[]> {
    const dropped: string[] = [];
    const own = vectorSpec(model);
    await this.#forEach(async (table) => {
      if (table.spec === own) return;
      const labels = await table.scan({ select: ["embedding_model"], limit: 1 });
      const name = labels.length === 0 ? table.spec.name : labels.string("embedding_model", 0);
      const mark = await this.#view(table, { name, dimension: dimensionOf(table.spec) }).mark();
      if (mark !== undefined && mark.reader !== reader) return;
      await this.#store.drop(table.spec);
      dropped.push(name);
    });
    return dropped;
  }

  /** Indexes of what is there, of whichever models. */
  async maintain(options: MaintainOptions): Promise<readonly MaintenanceReport[]> {
    const reports: MaintenanceReport[] = [];
    await this.#forEach(async (table) => void reports.push(await table.maintain(options)));
    return reports;
  }

  /** Numbers of each table, and what maintenance would do. */
  async health(): Promise<readonly TableHealth[]> {
    const all: TableHealth[] = [];
    await this.#forEach(async (table) => void all.push(await table.health()));
    return all;
  }

  async #opened(spec: VectorSpec, model: VectorModel): Promise<VectorTable> {
    return this.#view(await this.#store.table(spec), model);
  }

  #view(table: Table<VectorSpec>, model: VectorModel): VectorTable {
    return new VectorTable(table, { tables: this.#tables, model });
  }

  /** One that is damaged is passed over: it is in nobody's way, and made anew when it is next written to. */
  async #forEach(act: (table: Table<VectorSpec>) => Promise<void>): Promise<void> {
    for (const name of await this.#store.tables()) {
      const spec = vectorSpecNamed(name);
      if (spec === undefined) continue;
      try {
        await act(await this.#store.table(spec));
      } catch (error) {
        this.#store.forget(spec);
        if (!isDamaged(error) && !isGone(error)) throw error;
      }
    }
  }
}

const dimensionOf = (spec: VectorSpec): number => spec.columns.vector.dim;

const isDamaged = (error: unknown): boolean => isPondError(error) && error.reason === "corrupt";
/** Another process dropped it meanwhile. */
const isGone = (error: unknown): boolean => isPondError(error) && error.code === "not_found";
