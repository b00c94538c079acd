/** Histories in which syncs are killed at any point: what was read before is there, and the next sync makes it whole. */
import fc from "fast-check";
import { describe, test } from "vitest";
import { expectHistory } from "../support/histories/checks.ts";
import { MODELS } from "../support/histories/index.ts";
import type { Operation } from "../support/histories/operations.ts";
import { histories } from "../support/histories/operations.ts";
import { EVERYTHING } from "../support/histories/scope.ts";

const RUNS = Number(process.env["HISTORY_RUNS"] ?? 2);
const SEED = Number(process.env["HISTORY_SEED"] ?? 20_260_102);
/** Each kill costs a process, which is slow on a busy machine. */
const TIMEOUT = 300_000;

/** Faults and pauses are only those of this process. */
const KILLED = {
  ...EVERYTHING,
  kinds: [...EVERYTHING.kinds.filter((kind) => kind !== "fault" && kind !== "race"), "kill", "kill"] as const,
  length: 6,
};

/** Before, in and after each insert: of messages, of parts, of the session's row, of the state. */
const POINTS = 12;
const append: Operation = { kind: "append", place: 0, session: 0, turn: "prompt", how: "append" };
const kill = (point: number): Operation => ({ kind: "kill", machine: 0, places: [0], point });

/** Every second point for one client, the others for the next. */
const TURNS = MODELS.map((model, turn) => ({ label: model.label, model, turn }));

describe("after any history with kills", () => {
  test.each(TURNS)(
    "of $label a sync goes on where a killed one stopped",
    { timeout: TIMEOUT },
    async ({ model, turn }) => {
      const points = Array.from({ length: POINTS }, (_, point) => point).filter(
        (point) => point % 2 === turn % 2,
      );
      await expectHistory([append, ...points.map(kill), append, kill(5)], { model, ...KILLED.trial });
    },
  );

  test.each(MODELS)(
    "of $label every state that was read is there, and nothing else",
    { timeout: TIMEOUT },
    async (model) => {
      await fc.assert(
        fc.asyncProperty(histories(KILLED), (history) => expectHistory(history, { model, ...KILLED.trial })),
        { numRuns: RUNS, seed: SEED },
      );
    },
  );
});
