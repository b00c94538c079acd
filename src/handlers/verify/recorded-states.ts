/**
 * What is recorded of a client's sources, looked up by what a source holds now (spec.md#sources-state): by its content,
 * whatever path or machine recorded it, and by the source itself.
 */
import type { StateDigest } from "../../adapters/index.ts";
import type { SessionId } from "../../model/index.ts";
import { sessionId } from "../../model/index.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import type { ReadSession } from "../import/dry-read.ts";

export type Match =
  | { readonly kind: "recorded" | "grown" | "changed" | "held"; readonly head: StateHead }
  | { readonly kind: "unknown" };

/** A source as far as it tells of one session: its newest state is what is recorded of it. */
export interface RecordedSource {
  readonly latest: StateHead;
  /** On disk, by this path or by another one. */
  isFound: boolean;
}

export class RecordedStates {
  readonly sources: readonly RecordedSource[];
  readonly #reader: string | undefined;
  readonly #bySession: ReadonlyMap<string, readonly StateHead[]>;
  readonly #byContent: ReadonlyMap<string, readonly StateHead[]>;
  readonly #byPath: ReadonlyMap<string, readonly StateHead[]>;
  readonly #sourcesAt: ReadonlyMap<string, readonly RecordedSource[]>;
  /** What was found on disk, by session and content. */
  readonly #found = new Set<string>();

  /** `reader`: who reads on this machine; undefined: nobody ever has. */
  constructor(heads: readonly StateHead[], reader: string | undefined) {
    this.#reader = reader;
    this.#bySession = Map.groupBy(heads, ({ session_id }) => session_id);
    this.#byContent = Map.groupBy(heads, contentOf);
    this.#byPath = Map.groupBy(heads, ({ path }) => path);
    const bySource = Map.groupBy(heads, ({ session_id, source }) => `${source} ${session_id}`);
    this.sources = [...bySource.values()].flatMap((own) => {
      const latest = own.toSorted((a, b) => b.state - a.state)[0];
      return latest === undefined ? [] : [{ latest, isFound: false }];
    });
    this.#sourcesAt = Map.groupBy(this.sources, ({ latest }) => latest.path);
  }

  /** True where something of what stands there was read before. */
  isKnownAt(path: string): boolean {
    return this.#sourcesAt.has(path);
  }

  isRecorded(session: SessionId): boolean {
    return this.#bySession.has(session);
  }

  /** The numbers of records at which the chain of a session tells whether it only went on. */
  countsOf(session: SessionId): ReadonlySet<number> {
    return new Set((this.#bySession.get(session) ?? []).map(({ records }) => records));
  }

  /** How what is on disk stands to what is recorded; it counts as found from now on. */
  match(readSession: ReadSession): Match {
    const match = this.#match(readSession);
    for (const source of this.#sourcesAt.get(readSession.path) ?? [])
      if (isIndex(source.latest) || this.#isOf(source.latest, readSession, "anybody's"))
        source.isFound = true;
    if (match.kind === "recorded") this.#found.add(foundName(match.head));
    return match;
  }

  /** The sessions that lines of a list of sessions are stored with, as told of it before; by another path if not by this. */
  listedAt({ path, state }: ReadSession): readonly SessionId[] {
    const known = (this.#byPath.get(path) ?? []).filter(isIndex);
    const named = (): readonly StateHead[] =>
      [...this.#bySession.values()].flat().filter((head) => isIndex(head) && head.key === state.key);
    return (known.length > 0 ? known : named()).map(({ session_id }) => sessionId(session_id));
  }

  /** True where what was recorded of a source was found on disk, be it by another path. */
  isMoved({ latest }: RecordedSource): boolean {
    return this.#found.has(foundName(latest));
  }

  isMine({ reader }: StateHead): boolean {
    return reader === this.#reader;
  }

  #match(readSession: ReadSession): Match {
    const { state } = readSession;
    const own = (this.#byPath.get(readSession.path) ?? []).filter((head) =>
      this.#isOf(head, readSession, "mine"),
    );
    // A file that was deleted and restored again is another source at the same path, whose states are counted anew.
    const latest = own.toSorted((a, b) => b.read_at - a.read_at || b.state - a.state)[0];
    if (!state.isWhole) {
      const head = latest ?? this.#asFarAsRead(readSession);
      return head === undefined ? { kind: "unknown" } : { kind: "held", head };
    }
    const [same] = (this.#byContent.get(contentOf({ ...state, whole: true })) ?? [])
      .filter(
        ({ session_id, records, side }) => session_id === readSession.session || records > 0 || side !== "",
      )
      .toSorted(
        (a, b) => this.#nearness(b, readSession) - this.#nearness(a, readSession) || b.state - a.state,
      );
    if (same !== undefined) return { kind: "recorded", head: same };
    if (latest === undefined) return { kind: "unknown" };
    const { records, digest, form, whole } = latest;
    const isBeginning = records === 0 || readSession.links.get(records) === digest;
    const isGrown = form === "log" && whole && isBeginning && records < state.records;
    return { kind: isGrown ? "grown" : "changed", head: latest };
  }

  /** Of a source that was never read here, and now cannot be read whole: a state of the same records, whoever read it. */
  #asFarAsRead(readSession: ReadSession): StateHead | undefined {
    const { records, digest, form } = readSession.state;
    return (this.#bySession.get(readSession.session) ?? [])
      .filter(
        (head) => records > 0 && head.records === records && head.digest === digest && head.form === form,
      )
      .toSorted(
        (a, b) => this.#nearness(b, readSession) - this.#nearness(a, readSession) || b.state - a.state,
      )[0];
  }

  /** Whether a state is of this source; of a log that was told by another session's id before, too. */
  #isOf(head: StateHead, { session, path, state }: ReadSession, whose: "mine" | "anybody's"): boolean {
    if (head.path !== path || (whose === "mine" && !this.isMine(head))) return false;
    return head.session_id === session || (head.form === "log" && state.form === "log");
  }

  #nearness(head: StateHead, readSession: ReadSession): number {
    return (
      (head.session_id === readSession.session ? 4 : 0) +
      (head.path === readSession.path ? 2 : 0) +
      (this.isMine(head) ? 1 : 0)
    );
  }
}

/** One file that has something to say of many sessions. */
const isIndex = ({ form }: StateHead): boolean => form === "index";

const contentOf = (state: StateDigest & Pick<StateHead, "form" | "whole">): string =>
  `${state.form} ${state.whole} ${state.records} ${state.digest} ${state.side}`;

const foundName = (head: StateHead): string => `${head.session_id} ${contentOf(head)}`;
