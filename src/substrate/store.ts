/** Opening a store: an address, a namespace, and the tables that consumers declare. */
import { systemClock, type Clock } from "../base/clock.ts";
import { PondError } from "../base/errors.ts";
import { Catalog } from "./catalog.ts";
import type { LanceTable } from "./lance.ts";
import { Durability } from "./local/durable.ts";
import type { RetryPolicy } from "./retry.ts";
import type { TableSpec } from "./spec.ts";
import { parseStorageUrl, type StorageUrl } from "./storage-url.ts";
import { storeId } from "./store-id.ts";
import { Table } from "./table.ts";

export interface StoreOptions {
  /** Opaque to the engine; tables of one namespace are never seen from another. Default "default". */
  readonly namespace?: string;
  /** Make what is missing. Default true; false makes a missing store or table `not_found`. */
  readonly create?: boolean;
  /** Credentials and endpoint for object stores, in the engine's names. */
  readonly storageOptions?: Readonly<Record<string, string>>;
  /** How old an answer may be. Default 0 on a local disk, 3000 on object stores (spec.md#lance-handle-freshness). */
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

export async function openStore(url: string | StorageUrl, options: StoreOptions = {}): Promise<Store> {
  const parsed = typeof url === "string" ? parseStorageUrl(url) : url;
  const isObject = parsed.kind === "object";
  const clock = options.clock ?? systemClock;
  const policy: RetryPolicy = {
    clock,
    random: options.random ?? Math.random,
    ...(isObject ? OBJECT_RETRY : LOCAL_RETRY),
    ...options.retry,
  };
  const catalog = await Catalog.open({
    url: parsed,
    namespace: options.namespace ?? "default",
    create: options.create ?? true,
    storageOptions: options.storageOptions ?? {},
    freshnessMs: options.freshnessMs ?? (isObject ? OBJECT_FRESHNESS_MS : 0),
    cacheBytes: options.cacheBytes ?? CACHE_BYTES,
    policy,
  });
  return new Store(parsed, { namespace: options.namespace ?? "default", catalog, policy });
}

interface StoreParts {
  readonly namespace: string;
  readonly catalog: Catalog;
  readonly policy: RetryPolicy;
}

export class Store implements AsyncDisposable {
  readonly url: StorageUrl;
  readonly namespace: string;
  readonly #catalog: Catalog;
  readonly #policy: RetryPolicy;
  readonly #tables = new Map<string, { readonly spec: TableSpec; readonly opened: Promise<LanceTable> }>();
  #id: Promise<string> | undefined;

  /** @internal */
  constructor(url: StorageUrl, parts: StoreParts) {
    this.url = url;
    this.namespace = parts.namespace;
    this.#catalog = parts.catalog;
    this.#policy = parts.policy;
  }

  /**
   * Random, made once with the namespace: a store that was deleted and made again at the same place has another
   * one. A copy of the directory keeps it, so key by (id, url).
   */
  id(): Promise<string> {
    this.#id ??= storeId(this.#catalog);
    return this.#id;
  }

  /** Opens a table, makes it if it is missing, adds the nullable columns that an older one lacks. */
  async table<const S extends TableSpec>(spec: S): Promise<Table<S>> {
    const entry = this.#tables.get(spec.name) ?? { spec, opened: this.#catalog.findOrCreate(spec) };
    if (entry.spec !== spec)
      throw new PondError("internal", `table ${spec.name} is open under another declaration`);
    this.#tables.set(spec.name, entry);
    const native = await entry.opened.catch((error: unknown) => {
      this.#tables.delete(spec.name);
      throw error;
    });
    return new Table({
      lance: this.#catalog.lance,
      spec,
      native,
      policy: this.#policy,
      where: this.url.display,
      settle: this.#settle(spec),
    });
  }

  /** Names of the tables of this namespace. */
  async tables(): Promise<string[]> {
    return (await this.#catalog.tables()).filter((name) => !name.startsWith("pond_"));
  }

  close(): void {
    this.#tables.clear();
    this.#catalog.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #settle(spec: TableSpec): () => Promise<void> {
    if (this.url.kind !== "local") return () => Promise.resolve();
    const durability = new Durability(this.#catalog.location(spec.name), this.#policy.clock);
    return () => durability.settle();
  }
}
