/**
 * What copies of copies are copies of (spec.md#search-shown-once). A copy names the message that it repeats, which may be a
 * copy itself: of a session that was handed on from client to client, of a fork of a fork. Each is followed to the first
 * one, so that all of them have one name, in whatever order they are found and whether or not those between are. Messages are
 * named by their records: what the pieces of one repeat, its name repeats, and so does a piece that says nothing of it.
 */
import type { MessageName, Replayed } from "../../model/derived/index.ts";
import { originalsOf } from "../../model/derived/index.ts";
import { sessionId } from "../../model/index.ts";
import type { MessageHead, SessionStore, SummaryList } from "../../sessions/index.ts";
import { isDerivedName, pieceOf } from "../../sessions/index.ts";
import { and, isIn, or } from "../../substrate/engine/predicate.ts";

const nameOf = ({ session_id, message_id }: MessageName): string => `${session_id}\0${message_id}`;

/** Messages that are asked for at once. */
const PER_SCAN = 500;

/** For one search: what was followed once is known. */
export class OriginalMessages {
  readonly #store: SessionStore;
  readonly #summaries: SummaryList;
  /** What a message repeats: nothing where it is an original, or nothing is known of it. */
  readonly #behind = new Map<string, readonly MessageName[]>();

  constructor(store: SessionStore, summaries: SummaryList) {
    this.#store = store;
    this.#summaries = summaries;
  }

  /** The same hits, each copy naming the first messages that it repeats. */
  async follow<T extends Named>(hits: readonly T[]): Promise<readonly T[]> {
    let next = hits.flatMap(namesBehind);
    while (next.length > 0) {
      const unknown = new Map(
        next.filter((name) => !this.#behind.has(nameOf(name))).map((name) => [nameOf(name), name]),
      );
      await this.#look([...unknown.values()]);
      next = [...unknown.keys()].flatMap((name) => this.#behind.get(name) ?? []);
    }
    return hits.map((hit) => {
      if (typeof hit.replays === "object") return { ...hit, replays: this.#firstOf(hit.replays) };
      const [record] = namesBehind(hit);
      const isCopied = record !== undefined && (this.#behind.get(nameOf(record)) ?? []).length > 0;
      return isCopied ? { ...hit, replays: this.#firstOf(record) } : hit;
    });
  }

  #firstOf(replays: Replayed): Replayed {
    const passed = new Map<string, MessageName>();
    const originals = new Map<string, MessageName>();
    const next: MessageName[] = originalsOf(replays).toReversed();
    for (let name = next.pop(); name !== undefined; name = next.pop()) {
      if (passed.has(nameOf(name))) continue;
      passed.set(nameOf(name), name);
      const behind = this.#behind.get(nameOf(name)) ?? [];
      if (behind.length === 0) originals.set(nameOf(name), name);
      next.push(...behind.toReversed());
    }
    // Sources that name each other: the same one for all of them.
    const [circular = ""] = [...passed.keys()].toSorted();
    const [first = passed.get(circular) ?? replays, ...also] = originals.values();
    const { session_id, message_id } = first;
    return { session_id, message_id, ...(also.length === 0 ? {} : { also }) };
  }

  async #look(copies: readonly MessageName[]): Promise<void> {
    for (const copied of copies) this.#behind.set(nameOf(copied), []);
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

  #heads(copies: readonly MessageName[]): Promise<readonly MessageHead[]> {
    const sessions = [...new Set(copies.map(({ session_id }) => session_id))];
    const ids = [...new Set(copies.map(({ message_id }) => message_id))];
    return this.#store.findHeads({
      where: and(isIn("session_id", sessions), or(isIn("id", ids), isDerivedName("id"))),
    });
  }

  #learn({ session_id, id, record, replays }: MessageHead): void {
    if (typeof replays !== "object") return;
    for (const message_id of new Set([id, record]))
      this.#add({ session_id, message_id }, originalsOf(replays));
  }

  #add(copied: MessageName, origins: readonly MessageName[]): void {
    const known = this.#behind.get(nameOf(copied));
    if (known === undefined) return;
    const names = new Map([...known, ...origins].map((each) => [nameOf(each), each]));
    this.#behind.set(nameOf(copied), [...names.values()]);
  }

  /** A restored session that nobody carried on is not stored: what it says is what it was restored from. */
  async #lookIntoRestores(copies: readonly MessageName[]): Promise<void> {
    const lists = await this.#store.restoredMessages(copies.map(({ session_id }) => sessionId(session_id)));
    for (const copied of copies)
      for (const [id, said] of lists.get(sessionId(copied.session_id)) ?? []) {
        const isOfIt = id === copied.message_id || pieceOf({ id, record: copied.message_id }) !== undefined;
        if (!isOfIt || said === null) continue;
        const names = [said, ...(said.others ?? [])];
        this.#add(
          copied,
          names.map((name) => ({ session_id: name.session_id, message_id: name.id })),
        );
      }
  }
}

type Named = Pick<MessageHead, "session_id" | "id" | "record" | "replays">;

/** What a hit says that it repeats. Until November 2026 only the first piece of a record said it, for all of them. */
function namesBehind({ session_id, id, record, replays }: Named): readonly MessageName[] {
  if (typeof replays === "object") return originalsOf(replays);
  const isPiece = replays === undefined && record !== id && pieceOf({ id, record }) !== undefined;
  return isPiece ? [{ session_id, message_id: record }] : [];
}
