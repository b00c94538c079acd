/** Summaries by id and by age: a list that does not change under its reader. */
import { isSubagent } from "../../model/derived/index.ts";
import type { SessionSummary } from "./summarise.ts";

type Label = "source_agent" | "project";

export class SummaryList {
  readonly #byId: ReadonlyMap<string, SessionSummary>;
  #sorted: readonly SessionSummary[] | undefined;
  readonly #labels = new Map<Label, ReadonlySet<string>>();
  #main: readonly SessionSummary[] | undefined;
  #pages = 0;
  #children: ReadonlyMap<string | undefined, readonly SessionSummary[]> | undefined;

  constructor(byId: ReadonlyMap<string, SessionSummary>) {
    this.#byId = byId;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): SessionSummary | undefined {
    return this.#byId.get(id);
  }

  /** In no particular order. */
  values(): IteratorObject<SessionSummary> {
    return this.#byId.values();
  }

  /** By the time of the last message; ties by id. */
  get newestFirst(): readonly SessionSummary[] {
    return (this.#sorted ??= [...this.#byId.values()].toSorted(compareByAge));
  }

  /**
   * A page of those that are wanted, newest first. A single page does without sorting all of them, which a command asks for;
   * who asks again is answered from the sorted list.
   */
  page(isWanted: (summary: SessionSummary) => boolean, { after, limit }: PageOptions): SummaryPage {
    const isSorted = this.#sorted !== undefined || this.#pages++ > 0;
    const chosen = isSorted ? this.newestFirst.filter(isWanted) : this.values().filter(isWanted).toArray();
    const rest = after === undefined ? chosen : chosen.filter((summary) => compareByAge(after, summary) < 0);
    const sessions = isSorted ? rest.slice(0, limit) : newestOf(rest, limit);
    return { sessions, total: chosen.length, hasMore: sessions.length < rest.length };
  }

  /** Without the sessions of subagents (spec.md#adapter-lineage), newest first. */
  get main(): readonly SessionSummary[] {
    return (this.#main ??= this.newestFirst.filter(({ source_agent: agent }) => !isSubagent(agent)));
  }

  /** The different values of a label. */
  labels(label: Label): ReadonlySet<string> {
    const known = this.#labels.get(label);
    if (known !== undefined) return known;
    const labels = new Set<string>();
    for (const summary of this.#byId.values()) labels.add(summary[label]);
    this.#labels.set(label, labels);
    return labels;
  }

  /** The other sessions that name this one as their parent, newest first. */
  childrenOf(id: string): readonly SessionSummary[] {
    this.#children ??= Map.groupBy(
      this.newestFirst.filter(
        ({ id: own, parent_session_id: parent }) => parent !== undefined && parent !== own,
      ),
      ({ parent_session_id: parent }) => parent,
    );
    return this.#children.get(id) ?? [];
  }
}

export interface PageOptions {
  /** The last one of the page before. */
  readonly after?: Aged | undefined;
  readonly limit: number;
}

export interface SummaryPage {
  readonly sessions: readonly SessionSummary[];
  /** Of all that are wanted. */
  readonly total: number;
  readonly hasMore: boolean;
}

/** The first of some sessions in their order, without sorting all of them. */
function newestOf(sessions: Iterable<SessionSummary>, limit: number): readonly SessionSummary[] {
  const newest: SessionSummary[] = [];
  for (const session of sessions) {
    const last = newest.at(-1);
    if (newest.length >= limit && last !== undefined && compareByAge(last, session) < 0) continue;
    const place = newest.findLastIndex((other) => compareByAge(other, session) < 0) + 1;
    newest.splice(place, 0, session);
    if (newest.length > limit) newest.pop();
  }
  return newest;
}

/** The order of lists of sessions: newest first, the same on every machine. */
export function compareByAge(a: Aged, b: Aged): number {
  if (a.last_at !== b.last_at) return b.last_at - a.last_at;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

interface Aged {
  readonly last_at: number;
  readonly id: string;
}

/** Messages of all roles. */
export function messageCount({ messages }: Pick<SessionSummary, "messages">): number {
  return messages.user + messages.assistant + messages.tool + messages.system;
}
