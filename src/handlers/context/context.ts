/**
 * What every handler is given: the settings, the machine, a clock, and the store, opened when it is first asked for.
 * A handler is a function of (context, request); it knows nothing of the transport that called it (spec.md#wire-handlers).
 */
import type { Clock } from "../../base/clock.ts";
import { systemClock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { unlessAborted } from "../../base/waiting.ts";
import { hash } from "node:crypto";
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "../../adapters/index.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { Embedder, EmbeddingSettings } from "../../embeddings/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { localFolder } from "../../sessions/peek.ts";
import type { StoreAddress } from "../../state/index.ts";
import { makePrivate, makeStorePrivate } from "../../state/index.ts";

export interface Context extends AsyncDisposable {
  readonly config: LoadedConfig;
  readonly machine: AdapterEnv;
  /** Those of the program, beside pond's own: handlers ask `clientsOf` and `clientNamed` for all. */
  readonly adapters: readonly Adapter[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Where the store is, without opening it. */
  readonly address: StoreAddress;
  /** The store, made if it is not there yet; with tables that it has lost made anew where that is asked for. */
  readonly store: (options?: { readonly remakesLost?: boolean }) => Promise<SessionStore>;
  /** The store if it is there; reading commands make nothing. */
  readonly existingStore: () => Promise<SessionStore | undefined>;
  /** What makes vectors of texts; undefined where embeddings are off. Known without loading any of it. */
  readonly embeddings: Embeddings | undefined;
}

/** What makes vectors of texts (spec.md#search-embedding-seam). */
export interface Embeddings {
  /** Names what the settings say: where it is another text, all that is embedded may be of another model. */
  readonly settings: string;
  /** Loaded when it is first asked for, and closed with the context. */
  readonly open: () => Promise<Embedder>;
}

export interface ContextOptions {
  readonly config: LoadedConfig;
  readonly machine: Omit<AdapterEnv, "scratch">;
  readonly signal: AbortSignal;
  readonly adapters?: readonly Adapter[];
  readonly clock?: Clock;
  /** That of the program, which closes it itself, instead of the one of the settings. */
  readonly embedder?: Embedder;
  /** What had to be repaired in the store while it was open, told when it closes: the next command finds it whole. */
  readonly onRepair?: (repair: { readonly kind: "commit" | "index"; readonly message: string }) => void;
  /** A store, or the folder of its state, that other users could enter is taken from them where somebody is told. */
  readonly onTightened?: (folder: string) => void;
}

export function createContext(options: ContextOptions): Context {
  const { url, namespace } = options.config.values.storage;
  const storage = { url, namespace, options: options.config.values.storage.options ?? {} };
  let opened: Promise<SessionStore> | undefined;
  let existing: Promise<SessionStore | undefined> | undefined;
  const open = async (remake: { readonly remakesLost?: boolean }): Promise<SessionStore> =>
    (await import("../../sessions/index.ts")).openSessionStore(storage, { create: true, ...remake });
  const openExisting = async (): Promise<SessionStore | undefined> =>
    (await import("../../sessions/index.ts")).openSessionStore(storage, { create: false });
  const folder = localFolder(url, namespace);
  const { embedder } = options;
  const own = embedder === undefined ? embeddingsOf(options) : undefined;
  const given = embedder && { settings: `given: ${embedder.name}`, open: () => Promise.resolve(embedder) };
  const { onTightened } = options;
  const { state } = options.config.paths;
  if (onTightened !== undefined) {
    if (folder !== undefined) makeStorePrivate(folder).forEach(onTightened);
    if (makePrivate(state)) onTightened(state);
  }
  return {
    config: options.config,
    machine: { ...options.machine, scratch: join(options.config.paths.state, "scratch") },
    adapters: options.adapters ?? [],
    clock: options.clock ?? systemClock,
    signal: options.signal,
    address: { url, namespace, ...(folder === undefined ? {} : { folder }) },
    store: (remake = {}) => (opened ??= open(remake)),
    existingStore: () => opened ?? (existing ??= openExisting()),
    embeddings: given ?? own,
    // Who asked for a store that could not be opened was told so; there is nothing to close then.
    [Symbol.asyncDispose]: async () => {
      for (const opening of [opened, existing]) {
        // One that is still being opened after Ctrl-C is left: it may take minutes to say that nobody is there.
        const store = opening && (await unlessAborted(options.signal, opening).catch(() => undefined));
        for (const repair of store?.recoveryIssues() ?? []) options.onRepair?.(repair);
        await store?.[Symbol.asyncDispose]();
      }
      await own?.[Symbol.asyncDispose]();
    },
  };
}

/** By the settings; undefined where they say none, and then nothing of it is ever loaded. */
function embeddingsOf(options: ContextOptions): (Embeddings & AsyncDisposable) | undefined {
  const { embeddings: settings } = options.config.values;
  if (settings.provider === "none") return undefined;
  const { signal, clock = systemClock } = options;
  let opened: Promise<Embedder> | undefined;
  const open = async (): Promise<Embedder> => {
    const embedder = await (
      await import("../../embeddings/index.ts")
    ).openEmbedder(settings, { clock, signal });
    if (embedder === undefined) throw new PondError("internal", "the settings name no embedding model");
    return embedder;
  };
  return {
    settings: modelNamedBy(settings),
    open: async () => {
      try {
        return await (opened ??= open());
      } catch (error) {
        // A program runs for long: what is not there now may be there the next time.
        opened = undefined;
        throw error;
      }
    },
    [Symbol.asyncDispose]: async () => {
      const embedder = opened && (await unlessAborted(signal, opened).catch(() => undefined));
      await embedder?.[Symbol.asyncDispose]();
    },
  };
}

/** All that may make it another model: neither its key nor how an index is asked. */
function modelNamedBy({
  provider,
  model,
  url,
  dimension,
  window,
  folder,
  sha256,
}: EmbeddingSettings): string {
  return hash("sha256", JSON.stringify([provider, model, url, dimension, window, folder, sha256]));
}
