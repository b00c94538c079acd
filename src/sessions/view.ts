/** Which rows of a session are shown, and in what order (spec.md#sources-order): by its recorded states. */
import type { SessionId } from "../model/index.ts";
import { compareInSession } from "../model/index.ts";
import type { End, SessionHistory, StateChoice } from "./history.ts";
import { arrangeState } from "./history.ts";
import type { MessageRef } from "./read.ts";
import { inHistoryOrder } from "./standing.ts";

export type View =
  | "newest"
  | "everything"
  | "history"
  | { readonly end: number }
  | ReadonlyMap<string, StateChoice>;

/** What is shown of a session, and where it came to besides. */
export interface Shown {
  readonly end: End;
  /** The newest first. */
  readonly ends: readonly End[];
  /** Messages that only other sources have beside them, by their ids: they are shown, and not part of the state. */
  readonly others: ReadonlySet<string>;
}

interface Viewed {
  readonly rows: readonly MessageRef[];
  /** Absent where no single state is shown. */
  readonly shown?: Shown;
  /** What the state holds and the store has not. */
  readonly missing: readonly string[];
}

const UNPLACED = { record: undefined, origin: null, seq: undefined };

/** What the chosen state of a session holds, in its order; all of it where nothing was recorded. */
export function viewOf(
  history: SessionHistory,
  refs: readonly MessageRef[],
  { session, view }: { readonly session: SessionId; readonly view: Exclude<View, "everything"> },
): Viewed {
  const all = { rows: refs, missing: [] };
  if (!history.isRecorded) return all;
  const placed = refs.map((ref) => {
    const { id, timestamp, placed: { record, origin, seq } = UNPLACED } = ref;
    return { id, record: record ?? id, origin, seq, timestamp, ref };
  });
  const ends = history.ends(placed);
  if (view === "history") {
    const rows = inHistoryOrder(history, placed).map(({ ref }) => ref);
    const [end] = ends;
    const holding = end && history.shown(end);
    return { rows, missing: holding ? arrangeState(placed, { history, end, holding }).missing : [] };
  }
  const choice = view instanceof Map ? (view.get(session) ?? history.beside(view.values())) : undefined;
  const place = typeof view === "object" && "end" in view ? view.end - 1 : 0;
  const chosen = choice === undefined ? ends[place] : history.find(choice, placed);
  if (chosen === undefined) return all;
  const own = chosen.states.holding(chosen.state.state);
  const holding = choice === undefined ? history.shown(chosen) : own;
  const ids = new Set(own.side.map(({ id }) => id));
  const others = new Set(holding.side.flatMap(({ id }) => (ids.has(id) ? [] : [id])));
  const { found, beside, missing } = arrangeState(placed, { history, end: chosen, holding });
  const side = beside.map(({ ref }) => ref).toSorted(compareInSession);
  return { rows: [...found.map(({ ref }) => ref), ...side], shown: { end: chosen, ends, others }, missing };
}
