/** Messages that a crash left without some of their parts. */
import type { KeySet, Table } from "../../substrate/index.ts";
import { joinKey } from "../../substrate/index.ts";
import type { StoredVersion } from "./claim.ts";
import type { PARTS } from "./schema.ts";
import type { RecordedState } from "./states.ts";
import { SourceStates } from "./states.ts";

export interface Incomplete {
  /** Keys of messages. */
  readonly messages: ReadonlySet<string>;
  /** The parts that are there, of these and of others. */
  readonly parts?: KeySet;
}

/** Those of the messages that have fewer parts than they should: none that a state holds, which was written later. */
export async function incompleteMessages(
  parts: Pick<Table<typeof PARTS>, "knownKeys">,
  versions: readonly StoredVersion[],
  states: readonly RecordedState[],
): Promise<Incomplete> {
  const doubtful = unheld(
    versions.filter((version) => version.parts !== null && version.parts > 0),
    states,
  );
  if (doubtful.length === 0) return { messages: new Set() };
  const ids = doubtful.map(({ id }) => id);
  const keys = await parts.knownKeys(ids, 1);
  const counts = new Map<string, number>();
  for (const key of keys.joined) {
    const message = key.slice(0, key.lastIndexOf("\0\u0002"));
    counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  const short = doubtful.filter(
    (version) => (counts.get(messageKeyText(version)) ?? 0) < (version.parts ?? 0),
  );
  return { messages: new Set(short.map(messageKeyText)), parts: keys };
}

export const messageKeyText = ({ session_id, id }: StoredVersion): string => joinKey([session_id, id]);

/** Those that no state of their session holds. */
function unheld(versions: readonly StoredVersion[], states: readonly RecordedState[]): StoredVersion[] {
  if (versions.length === 0 || states.length === 0) return [...versions];
  const rows = new Set<string>();
  const runs = new Map<string, { readonly from: number; readonly count: number }[]>();
  const bySource = Map.groupBy(states, ({ session_id, source }) => joinKey([session_id, source]));
  for (const of of bySource.values()) {
    const source = new SourceStates(of);
    for (const { session_id, state } of of) {
      const holding = source.holding(state);
      for (const { id } of holding.side) rows.add(joinKey([session_id, id]));
      for (const run of holding.runs)
        if ("id" in run) rows.add(joinKey([session_id, run.id]));
        else {
          const key = joinKey([session_id, run.origin]);
          const known = runs.get(key);
          if (known === undefined) runs.set(key, [run]);
          else if (!known.some(({ from, count }) => from === run.from && count >= run.count)) known.push(run);
        }
    }
  }
  return versions.filter((version) => {
    if (rows.has(messageKeyText(version))) return false;
    const { session_id, origin, seq } = version;
    if (origin === null || seq === null) return true;
    const of = runs.get(joinKey([session_id, origin])) ?? [];
    return !of.some(({ from, count }) => seq >= from && seq < from + count);
  });
}
