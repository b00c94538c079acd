/**
 * What a process keeps of a store between searches (spec.md#search-row-map). It costs time only: each search asks for the state
 * of the store, and of another one nothing is kept that could be wrong.
 */
import type { MessageHead, SessionStore, SummaryList } from "../../sessions/index.ts";
import type { Followed } from "./followed-map.ts";
import { FollowedMap } from "./followed-map.ts";
import { KnownTexts } from "./known-texts.ts";
import type { TextMap } from "./text-map.ts";

/** Searches by words that do without the map: a command asks one, and reading the map costs as much as ten. */
const WITHOUT_MAP = 3;
/** Words whose weights are kept. */
const MOST_WEIGHTS = 5000;

export class Kept {
  readonly #store: SessionStore;
  readonly #map: FollowedMap;
  /** Of one state of the store. */
  #texts: KnownTexts;
  #weights = new Map<string, number>();
  #summaries: SummaryList | undefined;
  #followed: Followed | undefined;
  #searches = 0;
  #mapAfter = WITHOUT_MAP;

  constructor(store: SessionStore) {
    this.#store = store;
    this.#map = new FollowedMap(store);
    this.#texts = new KnownTexts(store);
  }

  /** At the start of a search: the map, where there is one. */
  async begin(summaries: SummaryList): Promise<TextMap | undefined> {
    this.#searches += 1;
    const usesMap = this.#searches > this.#mapAfter;
    if (usesMap) void this.#map.read();
    const followed = usesMap ? await this.#map.current() : undefined;
    const isOther = summaries !== this.#summaries;
    if (followed !== undefined) this.#texts = followed.texts;
    else if (isOther) this.#texts = new KnownTexts(this.#store);
    if (isOther || this.#weights.size > MOST_WEIGHTS) this.#weights = new Map();
    this.#summaries = summaries;
    this.#followed = followed;
    return followed?.map;
  }

  /** Whether it is known that a message has nothing but its text. */
  readonly isMereText = ({ row, session_id, id }: MessageHead): boolean =>
    this.#followed?.map.hasOnePart(row) === true && !this.#followed.files.has(session_id, id);

  get texts(): KnownTexts {
    return this.#texts;
  }

  /** The best scores of single words. */
  get weights(): Map<string, number> {
    return this.#weights;
  }

  /** With the map from now on, or without it: so that a test can tell that answers are the same. */
  async useMap(isUsed: boolean): Promise<void> {
    this.#mapAfter = isUsed ? 0 : Number.POSITIVE_INFINITY;
    if (isUsed) await this.#map.read();
  }
}

const byStore = new WeakMap<SessionStore, Kept>();

export function keptOf(store: SessionStore): Kept {
  const known = byStore.get(store) ?? new Kept(store);
  byStore.set(store, known);
  return known;
}
