/** How much a history may hold: the switch between what holds today and what is to hold. */
import type { Trial } from "./checks.ts";
import type { HistoryOptions, OperationKind } from "./operations.ts";

export interface Scope extends HistoryOptions {
  readonly trial: Omit<Trial, "model">;
}

/** Everything that may happen. */
export const OPERATIONS = [
  "append",
  "tear",
  "truncate",
  "drop",
  "rewrite",
  "rewrite all",
  "side file",
  "copy",
  "diverge",
  "remove",
  "fault",
  "heal",
  "sync",
  "race",
  "forget",
] as const satisfies readonly OperationKind[];

/** Logs, trees and databases in one place that only grow, read by two machines at once or in turn. */
export const GROWTH: Scope = {
  // A database that was replaced by one with as many changes is taken for the same.
  writes: ["append", "in place"],
  kinds: ["append", "tear", "sync", "race", "forget"],
  places: 1,
  machines: 2,
  length: 12,
  // Verify calls a source unequal that grew since it was read, and does not mind one that was never read.
  trial: { truths: { changed: "either", unstored: "either" } },
};

export const EVERYTHING: Scope = {
  kinds: OPERATIONS,
  places: 3,
  machines: 2,
  length: 12,
  trial: { truths: { changed: "fine", unstored: "wrong" } },
};

/** What holds today: `EVERYTHING` once sources have recorded states. */
export const SCOPE: Scope = process.env["HISTORY_SCOPE"] === "everything" ? EVERYTHING : GROWTH;
