/**
 * From (namespace, table) to an open table: the one lookup (spec.md#lance-chokepoints-catalog). Layout
 * `<root>/<namespace>/<table>.lance`; one connection and one cache for each store in a process.
 */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, PondError, toPondError } from "../base/errors.ts";
import { emptyIpc, fieldOf, SCHEMA_VERSION, schemaOf } from "./arrow/schema.ts";
import {
  type Arrow,
  type Lance,
  type LanceConnection,
  type LanceTable,
  loadLance,
  nativeAddColumns,
} from "./lance.ts";
import { type RetryPolicy, withRetry } from "./retry.ts";
import { isNullable, type TableSpec } from "./spec.ts";
import type { StorageUrl } from "./storage-url.ts";

export interface CatalogOptions {
  readonly url: StorageUrl;
  readonly namespace: string;
  readonly create: boolean;
  readonly storageOptions: Readonly<Record<string, string>>;
  readonly freshnessMs: number;
  readonly cacheBytes: { readonly index: number; readonly metadata: number };
  readonly policy: RetryPolicy;
}

const NAMESPACE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Row ids that survive compaction, and the file version that blobs and packed columns were measured with. */
const TABLE_OPTIONS = { new_table_enable_stable_row_ids: "true", new_table_data_storage_version: "2.2" };
const PK_POSITION = "lance-schema:unenforced-primary-key:position";

interface Shared {
  readonly connection: Promise<LanceConnection>;
  users: number;
}

/** Open connections of this process; several users of one store share connection, cache and object-store client. */
const shared = new Map<string, Shared>();

export class Catalog {
  readonly lance: Lance;
  readonly #options: CatalogOptions;
  readonly #key: string;
  readonly #connection: LanceConnection;
  #closed = false;

  private constructor(
    lance: Lance,
    options: CatalogOptions,
    opened: { readonly key: string; readonly connection: LanceConnection },
  ) {
    this.lance = lance;
    this.#options = options;
    this.#key = opened.key;
    this.#connection = opened.connection;
  }

  static async open(options: CatalogOptions): Promise<Catalog> {
    const { url, namespace } = options;
    if (!NAMESPACE.test(namespace))
      throw new PondError("validation_failed", `namespace ${JSON.stringify(namespace)} is not usable`, {
        hint: "letters, digits, dot, dash and underscore; not longer than 128",
      });
    if (url.kind === "local") await prepareDirectory(join(url.href, namespace), options.create);
    const lance = loadLance();
    const key = JSON.stringify([url.href, namespace, options.storageOptions, options.freshnessMs]);
    const entry = shared.get(key) ?? { connection: connect(lance, options), users: 0 };
    entry.users++;
    shared.set(key, entry);
    try {
      return new Catalog(lance, options, { key, connection: await entry.connection });
    } catch (error) {
      shared.delete(key);
      throw error;
    }
  }

  /** Where a table is, for messages and for the local-only files beside it. */
  location(name: string): string {
    const { url, namespace } = this.#options;
    return `${url.href}/${namespace}/${name}.lance`;
  }

  async tables(): Promise<string[]> {
    const names: string[] = [];
    let pageToken: string | undefined;
    do {
      const token = pageToken;
      const page = await this.#call("list the tables", () =>
        this.#connection.listTables(token === undefined ? {} : { pageToken: token }),
      );
      names.push(...page.tables);
      pageToken = page.pageToken;
    } while (pageToken !== undefined && pageToken !== "");
    return names.toSorted();
  }

  /** The table if it is there, brought up to its declared columns. */
  async find(spec: TableSpec): Promise<LanceTable | undefined> {
    const table = await this.#open(spec.name);
    if (table !== undefined) await this.#reconcile(table, spec);
    return table;
  }

  /** Creates an empty table; false if another writer was first. */
  async create(name: string, schema: Arrow.Schema): Promise<boolean> {
    try {
      await this.#call(`create ${name}`, () =>
        this.#connection.createEmptyTable(name, schema, { storageOptions: TABLE_OPTIONS }),
      );
      return true;
    } catch (error) {
      if (error instanceof PondError && error.reason === "exists") return false;
      throw error;
    }
  }

  async findOrCreate(spec: TableSpec): Promise<LanceTable> {
    const found = await this.find(spec);
    if (found !== undefined) return found;
    if (!this.#options.create)
      throw new PondError("not_found", `no table ${spec.name} in ${this.#options.url.display}`, {
        hint: "run pond sync first",
      });
    await this.create(spec.name, schemaOf(this.lance, spec));
    const created = await this.find(spec);
    if (created === undefined)
      throw new PondError("internal", `table ${spec.name} vanished while it was being created`);
    return created;
  }

  /** The schema metadata of a table; undefined if there is no such table. */
  async metadata(name: string): Promise<ReadonlyMap<string, string> | undefined> {
    const table = await this.#open(name);
    return table === undefined
      ? undefined
      : (await this.#call(`read ${name}`, () => table.schema())).metadata;
  }

  async drop(name: string): Promise<void> {
    await this.#call(`drop ${name}`, () => this.#connection.dropTable(name));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const entry = shared.get(this.#key);
    if (entry === undefined || --entry.users > 0) return;
    shared.delete(this.#key);
    this.#connection.close();
  }

  async #open(name: string): Promise<LanceTable | undefined> {
    try {
      return await this.#call(`open ${name}`, () => this.#connection.openTable(name));
    } catch (error) {
      if (error instanceof PondError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  /** Refuses what we must not touch, adds what a newer declaration adds. */
  async #reconcile(table: LanceTable, spec: TableSpec): Promise<void> {
    const stored = await this.#call(`read ${spec.name}`, () => table.schema());
    const storedVersion = versionOf(stored, spec);
    if (storedVersion > spec.version)
      throw new PondError(
        "version_unsupported",
        `table ${spec.name} has schema version ${storedVersion}, this pond knows ${spec.version}`,
        {
          hint: "install a newer pond",
          data: { stored: storedVersion, known: spec.version },
        },
      );
    assertKey(stored, spec);
    const missing = Object.entries(spec.columns).filter(
      ([name]) => !stored.fields.some((field) => field.name === name),
    );
    const rigid = missing.find(([, column]) => !isNullable(column));
    if (rigid !== undefined)
      throw new PondError(
        "version_unsupported",
        `table ${spec.name} of schema version ${storedVersion} lacks column ${rigid[0]}`,
        {
          hint: "export with the older pond, then import into a new store",
          data: { stored: storedVersion, known: spec.version },
        },
      );
    if (missing.length === 0 && storedVersion === spec.version) return;
    await this.#upgrade(
      table,
      spec,
      missing.map(([name]) => name),
    );
  }

  /** Additive only, so a race of two upgraders ends the same: whoever is second finds the columns there. */
  async #upgrade(table: LanceTable, spec: TableSpec, missing: readonly string[]): Promise<void> {
    const fields = Object.entries(spec.columns)
      .filter(([name]) => missing.includes(name))
      .map(([name, column]) => fieldOf(this.lance, { name, column, spec }));
    const run = async (): Promise<void> => {
      if (fields.length > 0)
        await nativeAddColumns(table, emptyIpc(this.lance, new this.lance.arrow.Schema(fields)));
      await table.updateFieldMetadata([
        { path: spec.primaryKey[0], metadata: { [SCHEMA_VERSION]: String(spec.version) } },
      ]);
    };
    try {
      await this.#call(`upgrade ${spec.name}`, run);
    } catch (error) {
      await table.checkoutLatest();
      const now = await table.schema();
      if (
        versionOf(now, spec) < spec.version ||
        missing.some((name) => !now.fields.some((field) => field.name === name))
      )
        throw error;
    }
  }

  async #call<T>(what: string, run: () => Promise<T>): Promise<T> {
    return (await withRetry(this.#options.policy, { what, where: this.#options.url.display, run })).value;
  }
}

/** The larger of what the table was created with and what an upgrade left on the first key column. */
function versionOf(schema: Arrow.Schema, spec: TableSpec): number {
  const lead = schema.fields.find((field) => field.name === spec.primaryKey[0]);
  const versions = [schema.metadata.get(SCHEMA_VERSION), lead?.metadata.get(SCHEMA_VERSION)].map((text) =>
    Number(text ?? 0),
  );
  return Math.max(...versions);
}

/** Without exactly this key in the table's own metadata, concurrent writers double rows without an error. */
function assertKey(schema: Arrow.Schema, spec: TableSpec): void {
  const position = (field: Arrow.Field): number => Number(field.metadata.get(PK_POSITION));
  const stored = schema.fields
    .filter((field) => field.metadata.has(PK_POSITION))
    .toSorted((a, b) => position(a) - position(b))
    .map((field) => field.name);
  if (JSON.stringify(stored) === JSON.stringify(spec.primaryKey)) return;
  throw new PondError(
    "storage_unavailable",
    `table ${spec.name} was not made by pond: its key is (${stored.join(", ")}), not (${spec.primaryKey.join(", ")})`,
    {
      reason: "unsupported",
      hint: "point pond at another directory, or export the data and import it anew",
    },
  );
}

async function connect(lance: Lance, options: CatalogOptions): Promise<LanceConnection> {
  const { url, namespace, policy } = options;
  const { index, metadata } = options.cacheBytes;
  const session = new lance.lancedb.Session(BigInt(index), BigInt(metadata));
  const run = (): Promise<LanceConnection> =>
    lance.lancedb.connect(`${url.href}/${namespace}`, {
      readConsistencyInterval: options.freshnessMs / 1000,
      storageOptions: { ...options.storageOptions },
      session,
    });
  // The engine has retried for some seconds itself before it says that a store is unreachable.
  return (
    await withRetry(
      { ...policy, attempts: Math.min(2, policy.attempts) },
      { what: "open the store", where: url.display, run },
    )
  ).value;
}

/** The engine makes missing directories itself; a read must not. */
async function prepareDirectory(path: string, create: boolean): Promise<void> {
  try {
    if (create) await mkdir(path, { recursive: true });
    else await stat(path);
  } catch (error) {
    if (!create && errnoOf(error) === "ENOENT")
      throw new PondError("not_found", `there is no store at ${path}`, {
        hint: "run pond sync first",
        cause: error,
      });
    throw toPondError(error);
  }
}
