/**
 * Histories: whatever happens to the sources of a session, in whatever order and by however many machines it is read, what
 * pond has read restores exactly, nothing is fused, and verify tells the truth. A failure prints the shortest history
 * that still fails. More runs, another start:
 * `HISTORY_RUNS=500 HISTORY_SEED=7 npx vitest run test/property/histories.test.ts`.
 */
import fc from "fast-check";
import { describe, test } from "vitest";
import { expectHistory } from "../support/histories/checks.ts";
import { MODELS } from "../support/histories/index.ts";
import { histories } from "../support/histories/operations.ts";
import { EVERYTHING } from "../support/histories/scope.ts";

/** About three seconds a client on two cores. */
const RUNS = Number(process.env["HISTORY_RUNS"] ?? 6);
const SEED = Number(process.env["HISTORY_SEED"] ?? 20_260_101);

describe("after any history", () => {
  test.each(MODELS)(
    "of $label every state that was read is there, and nothing else",
    { timeout: 300_000 },
    async (model) => {
      await fc.assert(
        fc.asyncProperty(histories(EVERYTHING), (history) =>
          expectHistory(history, { model, ...EVERYTHING.trial }),
        ),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});
