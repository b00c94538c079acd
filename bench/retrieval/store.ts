/** A corpus in a store of its own, indexed, and asked through the handler of search as every surface asks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { Embedder } from "../../src/embeddings/embedder.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, search, sync } from "../../src/handlers/index.ts";
import { eventsOf } from "../../src/model/events/index.ts";
import type { SearchRequest } from "../../src/wire/index.ts";
import type { Corpus } from "./corpus.ts";
import type { Ranked } from "./evaluate.ts";

export class CorpusStore implements AsyncDisposable {
  readonly #folder: string;
  readonly context: Context;

  private constructor(folder: string, context: Context) {
    this.#folder = folder;
    this.context = context;
  }

  static async open({ sessions }: Corpus, embedder?: Embedder): Promise<CorpusStore> {
    const folder = mkdtempSync(join(tmpdir(), "pond-retrieval-"));
    const env = { POND_STORE: join(folder, "store"), XDG_STATE_HOME: join(folder, "state") };
    const environment = { env, home: folder, platform: process.platform, cwd: folder };
    const { signal } = new AbortController();
    const config = await loadConfig({ environment });
    const given = embedder === undefined ? {} : { embedder };
    const context = createContext({ config, machine: environment, signal, ...given });
    const store = await context.store();
    const ingest = store.ingest({ clock: systemClock });
    for (const state of sessions) await ingest.add([...eventsOf(state)]);
    await ingest.flush();
    if (embedder !== undefined) await sync(context, { stages: ["embed"] });
    await store.maintain({ force: true, retentionMs: 0 });
    await store.refreshSummaries();
    return new CorpusStore(folder, context);
  }

  /** The first sessions for a question, with the score of their best hit. */
  async ask(query: string, more: Partial<SearchRequest> = {}): Promise<readonly Ranked[]> {
    const { sessions } = await search(this.context, { query: query.slice(0, 4000), limit: 10, ...more });
    return sessions.map(({ session_id, matches }) => ({
      session: session_id,
      score: matches[0]?.score ?? 0,
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
