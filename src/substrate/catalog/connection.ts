/**
 * Connections of the engine: one for each store and namespace in a process, with one cache
 * (spec.md#lance-table-creation).
 */
import type { Lance, LanceConnection } from "../engine/lance.ts";
import { newSession } from "../engine/lance.ts";
import { type RetryPolicy, withRetry } from "../engine/retry.ts";
import type { StorageUrl } from "../engine/storage-url.ts";

export interface ConnectOptions {
  readonly url: StorageUrl;
  readonly namespace: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  readonly freshnessMs: number;
  readonly cacheBytes: { readonly index: number; readonly metadata: number };
  readonly policy: RetryPolicy;
}

/** The engine's own retries last some seconds already when a store cannot be reached. */
const CONNECT_ATTEMPTS = 2;

interface Shared {
  readonly connection: Promise<LanceConnection>;
  users: number;
}

const shared = new Map<string, Shared>();

export interface SharedConnection {
  readonly connection: LanceConnection;
  /** Closes it with its last user. */
  readonly release: () => void;
}

export async function connectShared(lance: Lance, options: ConnectOptions): Promise<SharedConnection> {
  const key = JSON.stringify([
    options.url.href,
    options.namespace,
    options.storageOptions,
    options.freshnessMs,
  ]);
  const entry = shared.get(key) ?? { connection: connect(lance, options), users: 0 };
  entry.users++;
  shared.set(key, entry);
  const release = (): void => {
    if (--entry.users > 0) return;
    if (shared.get(key) === entry) shared.delete(key);
    entry.connection.then((connection) => connection.close()).catch(() => undefined);
  };
  try {
    return { connection: await entry.connection, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** A connection of its own: sees nobody else's commits once a table is open, shares no cache. */
export function connectAlone(lance: Lance, options: ConnectOptions): Promise<LanceConnection> {
  return connect(lance, options, false);
}

async function connect(lance: Lance, options: ConnectOptions, fresh = true): Promise<LanceConnection> {
  const { url, namespace, policy, cacheBytes } = options;
  const session = newSession(lance, cacheBytes);
  const run = (): Promise<LanceConnection> =>
    lance.lancedb.connect(`${url.href}/${namespace}`, {
      ...(fresh ? { readConsistencyInterval: options.freshnessMs / 1000 } : {}),
      storageOptions: { ...options.storageOptions },
      session,
    });
  const attempts = Math.min(CONNECT_ATTEMPTS, policy.attempts);
  return (await withRetry({ ...policy, attempts }, { what: "open the store", where: url.display, run }))
    .value;
}
