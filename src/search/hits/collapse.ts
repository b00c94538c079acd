/**
 * Hits by session, each message once (spec.md#search-shown-once): what resume, fork and compaction repeated is one hit
 * that says where else it stands; of a record in several versions it is the newest that is found (spec.md#search-dedup).
 * Fed best first.
 */
import type { MessageId, SessionId } from "../../model/index.ts";
import type { MessageHead, SessionSummary } from "../../sessions/index.ts";
import type { RowStatus, StoredPart } from "../../sessions/states/index.ts";
import { originalsOf } from "../../model/derived/index.ts";
import { isReplaced } from "./hit-states.ts";

/** A message that matches, with what is needed to order and name it; its text is read when it is shown. */
export interface Found extends MessageHead {
  /** 0 to 1, the best hit of the search being 1. */
  readonly score: number;
  /** The part that holds the match, where it is not the conversation. */
  readonly part?: StoredPart;
  /** Where its row stands in its session. */
  readonly status: RowStatus;
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
    const same = this.sameAs(found);
    if (same !== undefined) {
      this.#know(found, same, "copy");
      if (same.session_id !== found.session_id) addPlace(same.alsoIn, found);
      else if (RANKS[found.status] < RANKS[same.status]) this.#replace(same, found);
      return false;
    }
    const hit = { ...found, alsoIn: [] };
    this.#know(found, hit, "shown");
    const group = this.#groups.get(session.id) ?? { session, best: found.score, hits: [], matched: 0 };
    this.#groups.set(session.id, group);
    group.matched += 1;
    if (group.hits.length < this.#perSession) group.hits.push(hit);
    return true;
  }

  /** The hit that was taken and is the same message; undefined where there is none. */
  sameAs(found: Found): ShownHit | undefined {
    for (const { asked, isSame } of namesOf(found))
      for (const name of asked) {
        const hit = this.#seen.get(name);
        if (hit !== undefined && isSame(hit)) return hit;
      }
    return undefined;
  }

  /** A name of a version is the last one's; the others are for copies, which come after what they are copies of. */
  #know(found: Found, hit: ShownHit, as: "shown" | "copy"): void {
    for (const { known, copied = [], isOwn } of namesOf(found))
      for (const name of as === "shown" ? [...known, ...copied] : known)
        if (isOwn || !this.#seen.has(name)) this.#seen.set(name, hit);
  }
}

/** One message of a session may have several parts that are copies. */
function addPlace(places: ShownHit["alsoIn"], { session_id, id }: Found): void {
  const isThere = places.some((place) => place.session_id === session_id && place.message_id === id);
  if (!isThere) places.push({ session_id, message_id: id });
}

/** The newest first. */
const RANKS: Readonly<Record<RowStatus, number>> = { current: 0, end: 1, removed: 2, superseded: 3 };

/** Originals before copies: of equal hits the first one is shown. */
export function originalsFirst(a: Found, b: Found): number {
  return b.score - a.score || Number(a.replays !== undefined) - Number(b.replays !== undefined);
}

/**
 * The same of a copy and a message of another page: whether that one is shown, because it is the original or, where nobody
 * knows which is, the newer copy.
 */
export function isShownFor({ session_id, replays }: Found, other: Found, isNewer: boolean): boolean {
  if (replays === undefined) return false;
  if (replays === true) return other.replays === undefined || (other.replays === true && isNewer);
  if (!originalsOf(replays).some((of) => of.session_id === other.session_id)) return false;
  // Two that claim to be copies of each other are both shown.
  return other.replays === undefined || other.replays === true || other.replays.session_id !== session_id;
}

/** Names of one kind, the surest kind first. */
interface Names {
  /** Under which the same message may have come before. */
  readonly asked: readonly string[];
  /** By which the hit is found later. */
  readonly known: readonly string[];
  /** The same where it is shown: else the other messages that it repeats are hits of their own. */
  readonly copied?: readonly string[];
  /** They name a record of its session, whichever of its versions. */
  readonly isOwn: boolean;
  /** Whether a hit of that name is the same message. */
  readonly isSame: (hit: ShownHit) => boolean;
}

/**
 * The names of a hit: of its record, of what it repeats call by call, and of what it repeats as a whole, since clients
 * divide the same message into other parts and a call in one of them is a message in another.
 */
function namesOf(found: Found): readonly Names[] {
  const { session_id, id, record, part } = found;
  const own = nameOf("in", session_id, record, part?.id ?? "");
  // Asked for, a superseded version is a hit of its own beside the newest.
  if (isReplaced(found))
    return [
      {
        asked: [],
        known: [nameOf("version", session_id, id, part?.id ?? "")],
        isOwn: true,
        isSame: () => false,
      },
    ];
  const call = part?.call_id === undefined ? [part?.id ?? ""] : [part.type, part.call_id];
  return [
    { asked: [own], known: [own], isOwn: true, isSame: () => true },
    {
      ...repeatedNames(found, ["part", ...call]),
      isOwn: false,
      isSame: (hit) => hit.session_id !== session_id || hit.id !== id,
    },
    {
      ...repeatedNames(found, ["whole"]),
      isOwn: false,
      isSame: (hit) => hit.session_id !== session_id,
    },
  ];
}

/**
 * The names by which other sessions repeat a message, or are repeated by it. A copy that does not say of which session it is
 * looks for its id in all; originals never look for each other by id, because some clients number their messages.
 */
function repeatedNames(
  { session_id, id, record, replays }: Found,
  what: readonly string[],
): Pick<Names, "asked" | "known" | "copied"> {
  const name = (...words: readonly string[]): string => nameOf(...what, ...words);
  const own = name("in", session_id, record);
  if (replays === undefined) return { asked: [own, name("copy", id)], known: [own, name("original", id)] };
  if (replays === true)
    return { asked: [own, name("original", id), name("copy", id)], known: [own, name("copy", id)] };
  const copied = originalsOf(replays).map((of) => name("in", of.session_id, of.message_id));
  return { asked: [own, ...copied], known: [own], copied };
}

const nameOf = (...words: readonly string[]): string => words.join("\0");
