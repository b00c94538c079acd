/**
 * Which messages have files, kept up with the table of parts: of a message with text and one part it is then known without a
 * look at that table, whose scan took as long as the whole ranking, whether there is more to it than its text.
 */
import type { PARTS, SessionStore } from "../../sessions/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { and, createdAfter, eq } from "../../substrate/engine/predicate.ts";

/** Beyond so many, some 30 MB, nothing is known. */
const MOST = 200_000;

export class FileMessages {
  readonly #store: SessionStore;
  readonly #names = new Set<string>();
  #version = -1;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** False where it cannot follow: the table went back, or there are too many. */
  async follow(): Promise<boolean> {
    const { parts } = this.#store.tables;
    const version = await parts.version();
    if (version === this.#version) return this.#names.size <= MOST;
    if (version < this.#version || this.#names.size > MOST) return false;
    const isFile = eq("type", "file");
    await this.#add(this.#version < 0 ? isFile : and(createdAfter(this.#version), isFile));
    this.#version = version;
    return this.#names.size <= MOST;
  }

  has(session: string, message: string): boolean {
    return this.#names.has(nameOf(session, message));
  }

  async #add(where: Predicate<typeof PARTS>): Promise<void> {
    const options = { select: ["session_id", "message_id"] as const, where };
    for await (const rows of this.#store.tables.parts.scanBatches(options))
      for (let at = 0; at < rows.length && this.#names.size <= MOST; at++)
        this.#names.add(nameOf(rows.string("session_id", at), rows.string("message_id", at)));
  }
}

const nameOf = (session: string, message: string): string => `${session}\0${message}`;
