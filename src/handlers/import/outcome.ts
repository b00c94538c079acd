/** What an import came to: of one thread, of several, of one that read nothing. Plain data, because it crosses threads. */
import type { Issue } from "../../adapters/index.ts";
import type { IngestSummary, Inserted } from "../../sessions/ingest/index.ts";
import type { ClientReport } from "../../wire/sync.ts";
import type { Sweep } from "../sources/sweep.ts";
import type { FoundWait } from "../sources/waits.ts";
import { MOST_WAITS, reportedWait } from "../sources/waits.ts";

export interface ImportOutcome {
  readonly read: number;
  readonly waiting: number;
  readonly waits: readonly FoundWait[];
  readonly superseded: number;
  readonly stored: IngestSummary;
  readonly issues: Readonly<Record<string, number>>;
  /** The first issues of each kind, in the order of their sources. */
  readonly examples: readonly PlacedIssue[];
  /** A restored session was carried on, and what belongs to it is not stored: it may be in sources that did not change. */
  readonly isIncomplete: boolean;
}

export interface PlacedIssue {
  /** The place of its source among all sources. */
  readonly order: number;
  readonly issue: Issue;
}

/** Of each kind, at most: who mends them wants them all, a broken folder of a million files is not to be held. */
const EXAMPLES = 20;

/** Counts issues by kind and keeps the first of each, whatever order they come in. */
export class IssueTally {
  readonly issues: Record<string, number> = {};
  readonly #examples = new Map<string, PlacedIssue[]>();

  get examples(): readonly PlacedIssue[] {
    return [...this.#examples.values()].flat();
  }

  count(placed: PlacedIssue): void {
    const { kind } = placed.issue;
    this.issues[kind] = (this.issues[kind] ?? 0) + 1;
    this.#keep(placed);
  }

  /** As an example, without counting it. */
  #keep(placed: PlacedIssue): void {
    const { kind } = placed.issue;
    const kept = this.#examples.get(kind) ?? [];
    this.#examples.set(kind, kept);
    // Behind those of the same source, which come in their order.
    const place = kept.findLastIndex(({ order }) => order <= placed.order) + 1;
    if (place >= EXAMPLES) return;
    kept.splice(place, 0, placed);
    kept.length = Math.min(kept.length, EXAMPLES);
  }

  /** Counted elsewhere. */
  add(tally: Pick<ImportOutcome, "issues" | "examples">): void {
    for (const [kind, n] of Object.entries(tally.issues)) this.issues[kind] = (this.issues[kind] ?? 0) + n;
    for (const example of tally.examples) this.#keep(example);
  }
}

/** The report of a client whose sources were swept and of which so much was read, by none or several threads. */
export function clientReport(sweep: Sweep, outcomes: readonly ImportOutcome[]): ClientReport {
  const tally = new IssueTally();
  for (const issue of sweep.issues) tally.count({ order: -1, issue });
  for (const outcome of outcomes) tally.add(outcome);
  return {
    adapter: sweep.adapter.name,
    places: sweep.places.map(({ place }) => place.path),
    seen: sweep.seen,
    fresh: sweep.seen - sweep.staleUnits,
    stale: sweep.staleUnits,
    read: total(outcomes, ({ read }) => read),
    waiting: total(outcomes, ({ waiting }) => waiting),
    waits: outcomes
      .flatMap(({ waits }) => waits)
      .slice(0, MOST_WAITS)
      .map(reportedWait),
    superseded: total(outcomes, ({ superseded }) => superseded),
    bytes: sweep.bytes,
    stored: totalStored(outcomes.map(({ stored }) => stored)),
    issues: tally.issues,
    examples: tally.examples.map(({ issue }) => issue),
  };
}

function total<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

function totalStored(stored: readonly IngestSummary[]): IngestSummary {
  const rows = (of: (summary: IngestSummary) => Inserted): Inserted => ({
    inserted: total(stored, (summary) => of(summary).inserted),
    matched: total(stored, (summary) => of(summary).matched),
  });
  return {
    sessions: rows(({ sessions }) => sessions),
    messages: rows(({ messages }) => messages),
    parts: rows(({ parts }) => parts),
    relabelled: total(stored, ({ relabelled }) => relabelled),
    rejected: total(stored, ({ rejected }) => rejected),
    commits: total(stored, ({ commits }) => commits),
  };
}
