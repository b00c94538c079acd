/** What handlers are given, in a home of its own that goes away with the test. */
import { loadConfig } from "../../src/config/index.ts";
import { createContext } from "../../src/handlers/index.ts";
import type { Embedder } from "../../src/embeddings/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import type { Event } from "../../src/model/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { tempDir } from "./temp-dir.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

export interface TempContext extends AsyncDisposable {
  readonly context: Context;
  readonly home: string;
  /** Stores events as a sync would, summaries included. */
  ingest(events: Iterable<Event>): Promise<void>;
}

export interface TempContextOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** A home that is there already, as another process would find it; it stays. */
  readonly home?: string;
  readonly embedder?: Embedder;
}

export async function tempContext(options: TempContextOptions = {}): Promise<TempContext> {
  const folder = options.home === undefined ? await tempDir() : undefined;
  const home = folder?.path ?? options.home ?? "";
  const environment = {
    env: { ...WITHOUT_VECTORS, POND_STORE: `${home}/store`, ...options.env },
    home,
    platform: "linux" as const,
    cwd: home,
  };
  const config = await loadConfig({ environment });
  const { signal = new AbortController().signal, embedder } = options;
  const given = embedder === undefined ? {} : { embedder };
  const context = createContext({ config, machine: environment, signal, ...given });
  return {
    context,
    home,
    ingest: async (events) => {
      const store = await context.store();
      const ingest = store.ingest({ clock: systemClock });
      await ingest.add(events);
      await ingest.flush();
      await store.refreshSummaries();
    },
    [Symbol.asyncDispose]: async () => {
      await context[Symbol.asyncDispose]();
      await folder?.[Symbol.asyncDispose]();
    },
  };
}
