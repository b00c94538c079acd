/**
 * Every recorded state of a session from one reading of its rows (spec.md#sources-state): what restores and proofs of
 * several states need, each exactly and with what of it cannot be read.
 */
import type { EntityKey, SessionId } from "../../model/index.ts";
import type { MessageOutline, TreeIssue } from "../../model/tree/index.ts";
import type { MessageWithParts, SessionState } from "../../model/events/index.ts";
import { compareInSession, describeKey } from "../../model/index.ts";
import { loadTree, REF, stateOf } from "../../model/tree/index.ts";
import type { PlacedRow } from "../states/history.ts";
import { arrange, arrangeState, SessionHistory } from "../states/history.ts";
import type { RowRef } from "../states/row-ref.ts";
import { placeOf } from "../states/row-ref.ts";
import type { StateHead } from "../tables/states.ts";
import { asReadFrom, commonStart } from "../tables/states.ts";
import type { SessionTables } from "../tables/tables.ts";
import { StoreTree } from "./tree.ts";
import { readStates } from "../tables/versions.ts";

/** A state as it restores. */
export interface StateAsRead {
  readonly state: SessionState;
  /** What of it cannot be read, located; empty where it is whole. */
  readonly damage: readonly string[];
}

interface Placed extends PlacedRow {
  readonly message: MessageOutline;
}

export class StateViews {
  readonly history: SessionHistory;
  readonly #all: SessionState;
  readonly #rows: readonly Placed[];
  readonly #messages: ReadonlyMap<string, MessageWithParts>;
  readonly #damage: readonly TreeIssue[];

  private constructor(read: {
    readonly history: SessionHistory;
    readonly all: SessionState;
    readonly rows: readonly Placed[];
    readonly damage: readonly TreeIssue[];
  }) {
    this.history = read.history;
    this.#all = read.all;
    this.#damage = read.damage;
    this.#rows = read.rows;
    this.#messages = new Map(read.all.messages.map((entry) => [entry.message.id, entry]));
  }

  /** Undefined where the session has no row that can be read. */
  static async load(tables: SessionTables, session: SessionId): Promise<StateViews | undefined> {
    const tree = new StoreTree(tables, { payloads: true, view: "everything" });
    if ((await tree.session(session)) === undefined) return undefined;
    const [{ value, issues }, states] = await Promise.all([
      loadTree(tree, session, { depth: 0 }),
      readStates(tables, [session]),
    ]);
    const all = stateOf(value);
    const damage = issues.filter(({ kind }) => kind !== "cut");
    return (
      all &&
      new StateViews({
        history: new SessionHistory(states),
        all,
        rows: value.plan.messages.flatMap(placed),
        damage,
      })
    );
  }

  /** Every row of the session, whatever its sources hold; for one of which no state is recorded. */
  everything(): StateAsRead {
    return { state: this.#all, damage: this.#damage.map(describe) };
  }

  /** The ends of the session, the newest first. */
  ends(): readonly StateHead[] {
    return this.history.ends(this.#rows).map(({ state }) => state);
  }

  view(head: Pick<StateHead, "source" | "state" | "adapter" | "key" | "form">): StateAsRead {
    const end = this.history.find(head, this.#rows);
    if (end === undefined) return { state: this.#all, damage: ["the state is no longer recorded"] };
    const { found, beside, missing } = arrangeState(this.#rows, {
      history: this.history,
      end,
      holding: end.states.holding(end.state.state),
    });
    const rows = [...found, ...beside.toSorted((a, b) => compareInSession(a.message, b.message))];
    const ids = new Set(rows.map(({ id }) => id));
    const messages = rows.flatMap(({ id }) => this.#messages.get(id) ?? []);
    const known = this.#damage.filter(({ key }) => ids.has(messageOf(key) ?? ""));
    const named = new Set(known.map(({ key }) => messageOf(key)));
    const unread = [...ids].filter((id) => !this.#messages.has(id) && !named.has(id));
    const session = `session ${this.#all.session.id}`;
    return {
      state: asReadFrom(head, { session: this.#all.session, messages }),
      damage: [
        ...missing.map((name) => `${session}, ${name} is not stored, though a recorded state contains it`),
        ...unread.map((id) => `${session}, message ${id} cannot be read`),
        ...known.map(describe),
      ],
    };
  }

  /** Rows that a read stored and no recorded state has: the state was lost, or a sync was cut off before it. */
  strays(): readonly PlacedRow[] {
    if (!this.history.isRecorded) return [];
    const held = new Set<string>();
    for (const states of this.history.sources)
      for (const { state } of states.all) {
        const { found, beside } = arrange(this.#rows, states.holding(state));
        for (const { id } of [...found, ...beside]) held.add(id);
      }
    return this.#rows.filter(({ id, origin }) => origin !== null && !held.has(id));
  }

  /** Messages that cannot be read, or a part of them. */
  damagedMessages(): readonly string[] {
    return this.#damage.flatMap(({ key }) => messageOf(key) ?? []);
  }

  /** The rows of a state, in its order. */
  rowsOf(head: Pick<StateHead, "source" | "state">): readonly PlacedRow[] {
    const end = this.history.find(head, this.#rows);
    if (end === undefined) return [];
    const { found, beside } = arrange(this.#rows, end.states.holding(end.state.state));
    return [...found, ...beside];
  }

  /** True where a state only goes on from an earlier one of its source, as far as its records in order are concerned. */
  isBeginningOf(earlier: StateHead, later: StateHead): boolean {
    const [a, b] = [earlier, later].map((head) => this.history.find(head, this.#rows));
    if (a === undefined || b === undefined) return false;
    const [left, right] = [a.states.holding(earlier.state).runs, b.states.holding(later.state).runs];
    return commonStart(left, right) === earlier.records;
  }
}

function placed(message: MessageOutline<RowRef>): readonly Placed[] {
  const { id, timestamp, [REF]: ref } = message;
  if (ref?.table !== "messages") return [];
  return [{ ...placeOf({ id, timestamp, [REF]: ref }), message }];
}

function describe({ key, message }: TreeIssue): string {
  return `${describeKey(key)} cannot be read: ${message}`;
}

/** The message that a fault is of, or of a part of. */
function messageOf(key: EntityKey): string | undefined {
  if ("message_id" in key) return key.message_id;
  return "session_id" in key ? key.id : undefined;
}
