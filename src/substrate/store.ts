/** Opening a store: an address, a namespace, and the tables that consumers declare. */
import { systemClock, type Clock } from "../base/clock.ts";
import { PondError } from "../base/errors.ts";
import { sentence } from "../base/sentence.ts";
import { secretsIn } from "../base/secrets.ts";
import { Catalog } from "./catalog/catalog.ts";
import type { Handle } from "./handle/handle.ts";
import type { RecoveryIssue } from "./local/recover.ts";
import type { RetryPolicy } from "./engine/retry.ts";
import type { TableSpec } from "./engine/spec.ts";
import { parseStorageUrl, type StorageUrl } from "./engine/storage-url.ts";
import { forgetMarks, leaveMark, readIdentity, readStoreId, storeId, tidyMarks } from "./catalog/store-id.ts";
import { Table } from "./table.ts";

export interface StoreOptions {
  /** Opaque to the engine; tables of one namespace are never seen from another. Default "default". */
  readonly namespace?: string;
  /** Make what is missing. Default true; false makes a missing store or table `not_found`. */
  readonly create?: boolean;
  /** Credentials and endpoint for object stores, in the engine's names. */
  readonly storageOptions?: Readonly<Record<string, string>>;
  /**
   * How old an answer may be. Default 0 on a local disk, 3000 on object stores
   * (spec.md#lance-handle-freshness).
   */
  readonly freshnessMs?: number;
  readonly cacheBytes?: { readonly index: number; readonly metadata: number };
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly retry?: { readonly attempts?: number; readonly baseMs?: number; readonly capMs?: number };
}

const LOCAL_RETRY = { attempts: 10, baseMs: 20, capMs: 1000 };
const OBJECT_RETRY = { attempts: 6, baseMs: 100, capMs: 5000 };
const OBJECT_FRESHNESS_MS = 3000;
/** 500,000 messages were searched in 4 ms with an index cache of 32 MB. */
const CACHE_BYTES = { index: 256 << 20, metadata: 128 << 20 };

/**
 * Opens a store. An object store is probed once in its life for conditional writes; that it has an identity
 * is the memory of having passed.
 */
export async function openStore(url: string | StorageUrl, options: StoreOptions = {}): Promise<Store> {
  const parsed = typeof url === "string" ? parseStorageUrl(url) : url;
  const catalog = await openCatalog(parsed, options);
  try {
    if (parsed.kind === "object") await admit(catalog, parsed, options.create ?? true);
  } catch (error) {
    catalog.close();
    throw error;
  }
  return new Store(parsed, options.namespace ?? "default", catalog);
}

/**
 * The identity of a store and the marks of a reader, through the engine: three requests of an object store. Undefined
 * where there is no store.
 */
export async function inspectStore(
  url: string,
  reader: string | undefined,
  options: StoreOptions,
): Promise<{ readonly id: string; readonly marks: readonly string[] } | undefined> {
  const catalog = await openCatalog(parseStorageUrl(url), { ...options, create: false });
  try {
    return await readIdentity(catalog, reader);
  } finally {
    catalog.close();
  }
}

function openCatalog(parsed: StorageUrl, options: StoreOptions): Promise<Catalog> {
  const isObject = parsed.kind === "object";
  const policy: RetryPolicy = {
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    ...(isObject ? OBJECT_RETRY : LOCAL_RETRY),
    ...options.retry,
    secrets: secretsIn(options.storageOptions ?? {}),
  };
  return Catalog.open({
    url: parsed,
    namespace: options.namespace ?? "default",
    create: options.create ?? true,
    storageOptions: options.storageOptions ?? {},
    freshnessMs: options.freshnessMs ?? (isObject ? OBJECT_FRESHNESS_MS : 0),
    cacheBytes: options.cacheBytes ?? CACHE_BYTES,
    policy,
  });
}

async function admit(catalog: Catalog, url: StorageUrl, create: boolean): Promise<void> {
  if ((await readStoreId(catalog)) !== undefined) return;
  if (!create)
    throw new PondError("not_found", `there is no store at ${url.display}`, {
      hint: sentence`run ${{ do: "sync" }} first`,
    });
  await catalog.probe();
  await storeId(catalog);
}

export class Store implements AsyncDisposable {
  readonly url: StorageUrl;
  readonly namespace: string;
  readonly #catalog: Catalog;
  readonly #tables = new Map<string, { readonly spec: TableSpec; readonly handle: Promise<Handle> }>();
  #id: Promise<string> | undefined;

  /** @internal */
  constructor(url: StorageUrl, namespace: string, catalog: Catalog) {
    this.url = url;
    this.namespace = namespace;
    this.#catalog = catalog;
  }

  /**
   * Random, made once with the namespace: a store that was deleted and made again at the same place has
   * another one. A copy of the directory keeps it, so key by (id, url).
   */
  id(): Promise<string> {
    this.#id ??= storeId(this.#catalog).catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    return this.#id;
  }

  /** The same where it was made; undefined else. */
  knownId(): Promise<string | undefined> {
    return readStoreId(this.#catalog);
  }

  /** Leaves a mark of a reader, after rows that it stored, and says it (spec.md#sync-marks). */
  leaveMark(reader: string): Promise<string> {
    return leaveMark(this.#catalog, reader);
  }

  /** Takes away what is left of marks that nobody reads any more. */
  tidyMarks(): Promise<void> {
    return tidyMarks(this.#catalog);
  }

  /** Has no reader's cursors hold any more. */
  forgetMarks(): Promise<void> {
    return forgetMarks(this.#catalog);
  }

  /** What was found torn after a crash of the machine, and where it was moved. Empty in all other cases. */
  get issues(): readonly RecoveryIssue[] {
    return this.#catalog.issues;
  }

  /** Opens a table, makes it if it is missing, adds the nullable columns that an older one lacks. */
  async table<const S extends TableSpec>(spec: S): Promise<Table<S>> {
    const entry = this.#tables.get(spec.name) ?? { spec, handle: this.#catalog.table(spec) };
    if (entry.spec !== spec)
      throw new PondError("internal", `table ${spec.name} is open under another declaration`);
    this.#tables.set(spec.name, entry);
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the entry was made from this very spec
      return new Table((await entry.handle) as Handle<S>);
    } catch (error) {
      this.#tables.delete(spec.name);
      throw error;
    }
  }

  /** Names of the tables of this namespace. */
  tables(): Promise<string[]> {
    return this.#catalog.tables();
  }

  /** Opens the table anew when it is next asked for: another process may have dropped and made it. */
  forget(spec: TableSpec): void {
    this.#tables.delete(spec.name);
  }

  /** Deletes a table with all its rows. Only for tables that are declared as derived. */
  async drop(spec: TableSpec): Promise<void> {
    if (spec.derived !== true)
      throw new PondError("internal", `table ${spec.name} is not derived from others; it is never dropped`);
    this.#tables.delete(spec.name);
    await this.#catalog.drop(spec.name);
  }

  close(): void {
    this.#tables.clear();
    this.#catalog.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
