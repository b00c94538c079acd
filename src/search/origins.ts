/**
 * What copies of copies are copies of (spec.md#search-shown-once). A copy names the message that it repeats, which may be a
 * copy itself: of a session that was handed on from client to client, of a fork of a fork. Each is followed to the first
 * one, so that all of them have one name, in whatever order they are found and whether or not those between are.
 */
import type { Repeats } from "../model/index.ts";
import { messageId, sessionId } from "../model/index.ts";
import type { MessageHead, SessionStore, SummaryList } from "../sessions/index.ts";
import { and, isIn } from "../substrate/index.ts";

type Copied = Exclude<Repeats["replays"], undefined | true>;

const nameOf = ({ session_id, message_id }: Copied): string => `${session_id}\0${message_id}`;

/** Messages that are asked for at once. */
const PER_SCAN = 500;

/** For one search: what was followed once is known. */
export class Origins {
  readonly #store: SessionStore;
  readonly #summaries: SummaryList;
  /** What a message repeats; null for one that repeats none, or of which nothing is known. */
  readonly #behind = new Map<string, Copied | null>();

  constructor(store: SessionStore, summaries: SummaryList) {
    this.#store = store;
    this.#summaries = summaries;
  }

  /** The same hits, each copy naming the first message that it repeats. */
  async follow<T extends Repeats>(hits: readonly T[]): Promise<readonly T[]> {
    let next = hits.flatMap(({ replays }) => (typeof replays === "object" ? [replays] : []));
    while (next.length > 0) {
      const unknown = new Map(
        next.filter((copied) => !this.#behind.has(nameOf(copied))).map((copied) => [nameOf(copied), copied]),
      );
      await this.#look([...unknown.values()]);
      next = [...unknown.keys()].flatMap((name) => this.#behind.get(name) ?? []);
    }
    return hits.map((hit) =>
      typeof hit.replays === "object" ? { ...hit, replays: this.#first(hit.replays) } : hit,
    );
  }

  #first(copied: Copied): Copied {
    const passed = new Map<string, Copied>();
    for (let at = copied; !passed.has(nameOf(at));) {
      passed.set(nameOf(at), at);
      const behind = this.#behind.get(nameOf(at));
      if (behind === undefined || behind === null) return at;
      at = behind;
    }
    // Sources that name each other: the same one for all of them.
    const [name = ""] = [...passed.keys()].toSorted();
    return passed.get(name) ?? copied;
  }

  async #look(copies: readonly Copied[]): Promise<void> {
    for (const copied of copies) this.#behind.set(nameOf(copied), null);
    // Only a session that comes from another one has copies that say so.
    const inCopies = copies.filter(({ session_id }) => {
      const summary = this.#summaries.get(session_id);
      return summary?.parent_session_id !== undefined;
    });
    for (let start = 0; start < inCopies.length; start += PER_SCAN)
      for (const head of await this.#heads(inCopies.slice(start, start + PER_SCAN))) this.#learn(head);
    const absent = copies.filter(({ session_id }) => this.#summaries.get(session_id) === undefined);
    if (absent.length > 0) await this.#lookIntoRestores(absent);
  }

  #heads(copies: readonly Copied[]): Promise<readonly MessageHead[]> {
    const sessions = [...new Set(copies.map(({ session_id }) => session_id))];
    const ids = [...new Set(copies.map(({ message_id }) => message_id))];
    return this.#store.findHeads({ where: and(isIn("session_id", sessions), isIn("id", ids)) });
  }

  #learn({ session_id, id, replays }: MessageHead): void {
    if (typeof replays === "object") this.#behind.set(nameOf({ session_id, message_id: id }), replays);
  }

  /** A restored session that nobody carried on is not stored: what it says is what it was restored from. */
  async #lookIntoRestores(copies: readonly Copied[]): Promise<void> {
    const lists = await this.#store.restoredMessages(copies.map(({ session_id }) => sessionId(session_id)));
    for (const copied of copies) {
      const said = lists.get(sessionId(copied.session_id))?.get(messageId(copied.message_id));
      if (said === undefined || said === null) continue;
      this.#behind.set(nameOf(copied), { session_id: said.session_id, message_id: said.id });
    }
  }
}
