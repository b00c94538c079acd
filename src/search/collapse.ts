/**
 * Hits by session, each message once (spec.md#search-shown-once): what resume, fork and compaction repeated is one hit
 * that says where else it stands; of a record in several versions it is the newest that is found (spec.md#search-dedup).
 * Fed best first.
 */
import type { MessageId, SessionId } from "../model/index.ts";
import type { MessageHead, PartRef, SessionSummary, Standing } from "../sessions/index.ts";

/** A message that matches, with what is needed to order and name it; its text is read when it is shown. */
export interface Found extends MessageHead {
  /** 0 to 1, the best hit of the search being 1. */
  readonly score: number;
  /** The part that holds the match, where it is not the conversation. */
  readonly part?: PartRef;
  /** Where its row stands in its session. */
  readonly standing: Standing;
}

export interface ShownHit extends Found {
  /** Copies in other sessions. */
  readonly alsoIn: { readonly session_id: SessionId; readonly message_id: MessageId }[];
}

export interface HitGroup {
  readonly session: SessionSummary;
  readonly best: number;
  readonly hits: ShownHit[];
  matched: number;
}

export class Collapser {
  readonly #perSession: number;
  readonly #groups = new Map<string, HitGroup>();
  readonly #seen = new Map<string, ShownHit>();

  constructor(perSession: number) {
    this.#perSession = perSession;
  }

  /** In order of their best hit. */
  get groups(): readonly HitGroup[] {
    return [...this.#groups.values()];
  }

  get size(): number {
    return this.#groups.size;
  }

  has(session: string): boolean {
    return this.#groups.has(session);
  }

  /** A newer version of the same record is shown in its place. */
  #replace(old: ShownHit, found: Found): void {
    const hit = { ...found, score: old.score, alsoIn: old.alsoIn };
    for (const [name, each] of this.#seen) if (each === old) this.#seen.set(name, hit);
    const hits = this.#groups.get(found.session_id)?.hits ?? [];
    const place = hits.indexOf(old);
    if (place >= 0) hits[place] = hit;
  }

  /** Takes the next hit; false when it is a copy or a revision of one that was taken. */
  add(found: Found, session: SessionSummary): boolean {
    const { asked, known, copied = [] } = namesOf(found);
    const same = asked.map((name) => this.#seen.get(name)).find((hit) => hit !== undefined);
    if (same !== undefined) {
      for (const name of known) this.#seen.set(name, same);
      if (same.session_id !== found.session_id)
        same.alsoIn.push({ session_id: found.session_id, message_id: found.id });
      else if (RANKS[found.standing] < RANKS[same.standing]) this.#replace(same, found);
      return false;
    }
    const hit = { ...found, alsoIn: [] };
    for (const name of [...known, ...copied]) this.#seen.set(name, hit);
    const group = this.#groups.get(session.id) ?? { session, best: found.score, hits: [], matched: 0 };
    this.#groups.set(session.id, group);
    group.matched += 1;
    if (group.hits.length < this.#perSession) group.hits.push(hit);
    return true;
  }
}

/** The newest first. */
const RANKS: Readonly<Record<Standing, number>> = { current: 0, end: 1, removed: 2, superseded: 3 };

/** Originals before copies: of equal hits the first one is shown. */
export function originalsFirst(a: Found, b: Found): number {
  return b.score - a.score || Number(a.replays !== undefined) - Number(b.replays !== undefined);
}

/**
 * The names a hit is found by later (`known`; `copied` where it is shown: else the others that it repeats are hits of their
 * own), and those under which the same message may have come before (`asked`).
 * A copy that does not say of which session it is looks for its id in all; originals never look for each other by id,
 * because some clients number their messages.
 */
function namesOf({ session_id, id, record, replays, part, standing }: Found): {
  readonly asked: readonly string[];
  readonly known: readonly string[];
  readonly copied?: readonly string[];
} {
  const name = (...words: readonly string[]): string => [...words, part?.id ?? ""].join("\0");
  // Asked for, a superseded version is a hit of its own beside the newest.
  if (standing === "superseded") return { asked: [], known: [name("version", session_id, id)] };
  const own = name("in", session_id, record);
  if (replays === undefined) return { asked: [own, name("copy", id)], known: [own, name("original", id)] };
  if (replays === true)
    return { asked: [own, name("original", id), name("copy", id)], known: [own, name("copy", id)] };
  const copied = [replays, ...(replays.also ?? [])].map((of) => name("in", of.session_id, of.message_id));
  return { asked: [own, ...copied], known: [own], copied };
}
