/**
 * Recorded states whose rows were read again (spec.md#keep-repair). A state names its rows by the read that stored them and
 * their positions; a row that was taken out and read again has those of the later read. What the damaged row said of its
 * place tells which row it is now. The digest of the state proves that afterwards.
 */
import type { SessionId } from "../../model/index.ts";
import { decodeRepeats } from "../../model/derived/index.ts";
import { REF } from "../../model/tree/index.ts";
import { sessionId } from "../../model/index.ts";
import { pieceOf } from "../tables/piece.ts";
import { readMessageOutlines } from "./message-outlines.ts";
import type { StoredMessage } from "./row-ref.ts";
import type { Run } from "../tables/states.ts";
import { joinRuns, SourceStates, stateRow } from "../tables/states.ts";
import type { SessionTables } from "../tables/tables.ts";
import { readStates } from "../tables/versions.ts";

/** By session, the ids of rows by the read that stored them and their positions. */
export type KeptPlaces = ReadonlyMap<SessionId, ReadonlyMap<string, string>>;

const placeName = (origin: string, seq: number): string => `${origin} ${seq}`;

/** Where the rows were that a repair took out. */
export async function keptPlaces({ messages }: SessionTables): Promise<KeptPlaces> {
  const places = new Map<SessionId, Map<string, string>>();
  for await (const rows of messages.keptRows("unproven"))
    for (let row = 0; row < rows.length; row++) {
      const [origin, seq] = [rows.stringOrNull("origin", row), rows.intOrNull("seq", row)];
      const id = rows.string("id", row);
      const { record } = decodeRepeats(rows.stringOrNull("repeats", row) ?? "", id);
      // Pieces of a record have its place, and go with it.
      if (origin === null || seq === null || pieceOf({ id, record }) !== undefined) continue;
      const session = sessionId(rows.string("session_id", row));
      const own = places.get(session) ?? new Map<string, string>();
      places.set(session, own);
      own.set(placeName(origin, seq), id);
    }
  return places;
}

/** Names the rows of states by their ids where their places are those of rows that were read again. */
export async function anchorStates(tables: SessionTables, places: KeptPlaces): Promise<void> {
  for (const [session, ids] of places) {
    const [messages, states] = await Promise.all([
      readMessageOutlines(tables, session),
      readStates(tables, [session]),
    ]);
    const find = finderOf(messages, ids);
    for (const own of Map.groupBy(states, ({ source }) => source).values()) {
      const all = new SourceStates(own);
      for (const state of own) {
        const { runs, side } = all.holding(state.state);
        const found = joinRuns(runs.flatMap(find));
        if (found.length === runs.length) continue;
        await replaceState(tables, { ...state, content: new SourceStates([]).encode({ runs: found, side }) });
      }
    }
  }
}

/** A run as it is, or record by record where some of its rows are not where they were. */
function finderOf(
  messages: readonly StoredMessage[],
  ids: ReadonlyMap<string, string>,
): (run: Run) => readonly Run[] {
  const stored = new Set<string>(messages.map(({ id }) => id));
  const placed = new Set(
    messages.flatMap(({ [REF]: { origin, seq } }) =>
      origin === null || seq === null ? [] : [placeName(origin, seq)],
    ),
  );
  return (run) => {
    if ("id" in run) return [run];
    return Array.from({ length: run.count }, (_, at): Run => {
      const seq = run.from + at;
      const name = placeName(run.origin, seq);
      const id = ids.get(name);
      const isElsewhere = !placed.has(name) && id !== undefined && stored.has(id);
      return isElsewhere ? { id } : { origin: run.origin, from: seq, count: 1 };
    });
  };
}

/** The old row is kept until the new one is there: a repair that is cut off in between goes on with it. */
async function replaceState(
  { sources }: SessionTables,
  state: Parameters<typeof stateRow>[0],
): Promise<void> {
  const row = stateRow(state);
  await sources?.takeOutKeys({ firsts: [row.session_id], seconds: [row.source], thirds: [row.state] });
  await sources?.insertRows([row]);
  await sources?.putBack("unproven", async ({ length }) => Array.from({ length }, () => "leave out"));
}
