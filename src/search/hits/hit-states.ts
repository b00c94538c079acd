/**
 * Where hits stand in their sessions (spec.md#search-dedup): a version of a record that another one replaced is no hit
 * unless it is asked for; what was removed, or is in another end only, is one, and says so. Of plain sessions, as nearly
 * all are, nothing is looked at.
 */
import type { SessionRowStates, RowStatus } from "../../sessions/states/index.ts";
import type { SessionStore, SummaryList } from "../../sessions/index.ts";
import { isPlain } from "../../sessions/index.ts";

/** What was read for one state of the store: several searches in a row, as an agent asks them, read it once. */
const kept = new WeakMap<SummaryList, Map<string, SessionRowStates | undefined>>();
/** Sessions whose rows are kept. */
const MOST_KEPT = 500;

/** Another version of its record stands in its place: it is a hit only where it is asked for, and then one of its own. */
export const isReplaced = ({ status }: { readonly status: RowStatus }): boolean => status === "superseded";

export class HitStates {
  readonly #store: SessionStore;
  readonly #summaries: SummaryList;
  readonly #superseded: boolean;
  readonly #known: Map<string, SessionRowStates | undefined>;

  constructor(
    store: SessionStore,
    of: { readonly summaries: SummaryList; readonly includeSuperseded: boolean },
  ) {
    this.#store = store;
    this.#summaries = of.summaries;
    this.#superseded = of.includeSuperseded;
    const known = kept.get(of.summaries);
    this.#known = known === undefined || known.size > MOST_KEPT ? new Map() : known;
    kept.set(of.summaries, this.#known);
  }

  /** The sessions that must be looked into before it is known where their rows stand. */
  unknown(sessions: Iterable<string>): readonly string[] {
    return [...new Set(sessions)].filter((id) => {
      const summary = this.#summaries.get(id);
      return summary !== undefined && !isPlain(summary) && !this.#known.has(id);
    });
  }

  async load(sessions: Iterable<string>): Promise<void> {
    const unknown = this.unknown(sessions);
    if (unknown.length === 0) return;
    const found = await this.#store.rowStates(unknown);
    for (const id of unknown) this.#known.set(id, found.get(id));
  }

  /** Where a row of a session stands that was looked into, or need not be. */
  of({ session_id, row }: HitRow): RowStatus {
    return this.#known.get(session_id)?.ofRow.get(row) ?? "current";
  }

  isShown(hit: HitRow): boolean {
    return this.#superseded || !isReplaced({ status: this.of(hit) });
  }
}

interface HitRow {
  readonly session_id: string;
  readonly row: bigint;
}
