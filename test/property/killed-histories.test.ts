/** Histories in which syncs are killed at any point: what was read before is there, and the next sync makes it whole. */
import fc from "fast-check";
import { describe, test } from "vitest";
import { expectHistory } from "../support/histories/checks.ts";
import { MODELS } from "../support/histories/index.ts";
import type { Operation } from "../support/histories/operations.ts";
import { histories } from "../support/histories/operations.ts";
import { SCOPE } from "../support/histories/scope.ts";

const RUNS = Number(process.env["HISTORY_RUNS"] ?? 2);
const SEED = Number(process.env["HISTORY_SEED"] ?? 20_260_102);

/** A process that is killed costs half a second. Faults are only those of this process. */
const KILLED = {
  ...SCOPE,
  kinds: [
    ...SCOPE.kinds.filter((kind) => kind !== "fault" && kind !== "race"),
    "kill",
    "kill",
    "kill",
  ] as const,
  length: 6,
};

/** Before, in and after each insert: of parts, of messages, of the session's row. */
const POINTS = 9;
const append: Operation = { kind: "append", place: 0, session: 0, turn: "prompt", how: "append" };
const kill = (point: number): Operation => ({ kind: "kill", machine: 0, places: [0], point });

describe("after any history with kills", () => {
  test.each(MODELS)(
    "of $label each sync goes on where a killed one stopped, at every point",
    async (model) => {
      const kills = Array.from({ length: POINTS }, (_, point) => kill(point));
      await expectHistory([append, ...kills, append, kill(2), append, kill(5)], { model, ...KILLED.trial });
    },
  );

  test.each(MODELS)("of $label every state that was read is there, and nothing else", async (model) => {
    await fc.assert(
      fc.asyncProperty(histories(KILLED), (history) => expectHistory(history, { model, ...KILLED.trial })),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
