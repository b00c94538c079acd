/** How much a history may hold. */
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

export const EVERYTHING: Scope = {
  kinds: OPERATIONS,
  places: 3,
  machines: 2,
  length: 12,
  trial: { truths: { changed: "fine", unstored: "wrong" } },
};
