/** Which rows of a session are shown, and in what order (spec.md#sources-order): by its recorded states. */
import type { SessionId } from "../../model/index.ts";
import { compareInSession } from "../../model/index.ts";
import type { End, SessionHistory, StateChoice } from "../states/history.ts";
import { arrangeState } from "../states/history.ts";
import type { StoredMessage } from "../states/row-ref.ts";
import { placeOf } from "../states/row-ref.ts";
import { inHistoryOrder } from "../states/row-states.ts";

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

interface ViewedRows {
  readonly messages: readonly StoredMessage[];
  /** Absent where no single state is shown. */
  readonly shown?: Shown;
  /** What the state holds and the store has not. */
  readonly missing: readonly string[];
}

/** What the chosen state of a session holds, in its order; all of it where nothing was recorded. */
export function viewOf(
  history: SessionHistory,
  stored: readonly StoredMessage[],
  { session, view }: { readonly session: SessionId; readonly view: Exclude<View, "everything"> },
): ViewedRows {
  const all = { messages: stored, missing: [] };
  if (!history.isRecorded) return all;
  const placed = stored.map((message) => ({ ...placeOf(message), message }));
  const ends = history.ends(placed);
  if (view === "history") {
    const messages = inHistoryOrder(history, placed).map(({ message }) => message);
    const [end] = ends;
    const holding = end && history.shown(end);
    return { messages, missing: holding ? arrangeState(placed, { history, end, holding }).missing : [] };
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
  const inState = found.map(({ message }) => message);
  const side = beside.map(({ message }) => message).toSorted(compareInSession);
  return { messages: [...inState, ...side], shown: { end: chosen, ends, others }, missing };
}
