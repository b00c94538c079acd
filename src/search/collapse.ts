/**
 * One hit for one message (spec.md#search-dedup): a message that forks and resumed copies repeat is shown once, in the
 * oldest session that has it, and a record that its client rewrote is shown as its newest version. Pure.
 */
import type { JsonObject } from "../base/json.ts";
import type { Candidate } from "./candidates.ts";

export interface Collapsed extends Candidate {
  /** The same message in other sessions. */
  readonly copies: readonly Candidate[];
}

/** Candidates in order, `bornAt` by session: copies of a message keep its id. */
export function collapseCopies(
  candidates: readonly Candidate[],
  bornAt: (session: string) => number,
): Collapsed[] {
  const shown = new Map<string, Collapsed>();
  for (const candidate of candidates) {
    const other = shown.get(candidate.message_id);
    if (other === undefined) shown.set(candidate.message_id, { ...candidate, copies: [] });
    else if (bornAt(candidate.session_id) < bornAt(other.session_id)) {
      const { copies, ...copy } = other;
      // The place of the best one stays, whichever session shows it.
      shown.set(candidate.message_id, { ...candidate, score: other.score, copies: [...copies, copy] });
    } else shown.set(candidate.message_id, { ...other, copies: [...other.copies, candidate] });
  }
  return [...shown.values()];
}

/** Leaves out versions that a newer one among the candidates stands for. `spaces` is `options.pond` of each. */
export function newestVersions<T extends Candidate>(
  candidates: readonly T[],
  spaces: readonly JsonObject[],
): T[] {
  const newest = new Map<string, { readonly candidate: T; readonly at: number }>();
  for (const [index, candidate] of candidates.entries()) {
    const { revises, at } = spaces[index] ?? {};
    const key = `${candidate.session_id}\0${typeof revises === "string" ? revises : candidate.message_id}`;
    const age = typeof at === "number" ? at : candidate.timestamp / 1000;
    const known = newest.get(key);
    if (known === undefined || age >= known.at) newest.set(key, { candidate, at: age });
  }
  const kept = new Set([...newest.values()].map(({ candidate }) => candidate));
  return candidates.filter((candidate) => kept.has(candidate));
}
