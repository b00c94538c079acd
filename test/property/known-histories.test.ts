/**
 * Short histories that once did harm, each with what it did: two ends of one session, an older backup, a file that could
 * not be read, a record that was rewritten.
 */
import { describe, expect, test } from "vitest";
import { tryHistory } from "../support/histories/checks.ts";
import { claudeCode } from "../support/histories/claude-code.ts";
import { codexCli, codexPaginated } from "../support/histories/codex-cli.ts";
import { opencodeDatabase, opencodeTree } from "../support/histories/opencode.ts";
import type { Operation, PlaceNumber } from "../support/histories/operations.ts";
import { pi } from "../support/histories/pi.ts";
import { EVERYTHING } from "../support/histories/scope.ts";
import type { SourceModel, Turn } from "../support/histories/source-model.ts";

const append = (turn: Turn, place: PlaceNumber = 0): Extract<Operation, { kind: "append" }> => ({
  kind: "append",
  place,
  session: 0,
  turn,
  how: "append",
});
const sync = (...places: PlaceNumber[]): Operation => ({
  kind: "sync",
  machine: 0,
  places,
  isLive: false,
  isFull: false,
});
const drop = (at: number): Operation => ({ kind: "drop", place: 0, session: 0, at, how: "in place" });
const rewrite = (at: number, isSameLength: boolean): Operation => ({
  kind: "rewrite",
  place: 0,
  session: 0,
  at,
  isSameLength,
  isQuiet: false,
  how: "replace",
});
const side = (content: "A" | "B" | "gone", isOlder = false): Operation => ({
  kind: "side file",
  place: 0,
  session: 0,
  file: 0,
  content,
  isOlder,
});
const diverge: Operation = { kind: "diverge", place: 1, session: 0, from: 0, turn: "prompt" };
const backup = (back: number): Operation => ({
  kind: "copy",
  place: 1,
  session: 0,
  from: 0,
  back,
  isOlder: true,
});
const denied = (file: number): Operation => ({
  kind: "fault",
  place: 0,
  session: 0,
  file,
  fault: "denied",
});
const heal: Operation = { kind: "heal", place: 0, session: 0 };
const TURNS = [append("prompt"), append("answer"), append("prompt")];
const LOGS = [claudeCode, codexCli, codexPaginated, pi];
const ALL = [...LOGS, opencodeTree, opencodeDatabase];

interface Known {
  readonly title: string;
  readonly models: readonly SourceModel[];
  readonly history: readonly Operation[];
}

const KNOWN: readonly Known[] = [
  {
    title: "two ends of a session in two places, synced together",
    models: ALL,
    history: [...TURNS, diverge, sync(0, 1)],
  },
  {
    title: "two ends of a session in two places, synced one after the other",
    models: ALL,
    history: [...TURNS, sync(0), diverge, sync(1), sync(0)],
  },
  {
    title: "a log that lost a record and then grew",
    models: LOGS,
    history: [...TURNS, sync(0), drop(1), append("answer"), append("prompt"), sync(0)],
  },
  {
    title: "an older backup, synced after the live place",
    models: [opencodeTree, opencodeDatabase],
    history: [...TURNS, append("answer"), sync(0), backup(2), sync(1)],
  },
  {
    title: "a record that was rewritten in place",
    models: [claudeCode, codexPaginated, pi],
    history: [...TURNS, sync(0), rewrite(1, false), sync(0)],
  },
  {
    title: "a record that was rewritten in place, in the same length",
    models: [claudeCode, codexPaginated, pi],
    history: [...TURNS, sync(0), rewrite(1, true), sync(0)],
  },
  {
    title: "a log that was replaced whole under the same id",
    models: LOGS,
    history: [
      ...TURNS,
      sync(0),
      { kind: "rewrite all", place: 0, session: 0, turns: ["prompt", "answer"], how: "replace" },
      sync(0),
    ],
  },
  {
    title: "a file that cannot be read for a while",
    models: [opencodeTree],
    history: [...TURNS, sync(0), denied(3), append("answer"), sync(0)],
  },
  {
    title: "a file that can be read again, as it was",
    models: [opencodeTree],
    history: [...TURNS, sync(0), denied(3), append("answer"), sync(0), heal, sync(0)],
  },
  {
    title: "a side file that was A, then B, then A again",
    models: [claudeCode],
    history: [...TURNS, side("A"), sync(0), side("B"), sync(0), side("A"), sync(0)],
  },
  {
    title: "a side file that was replaced by one with an older time",
    models: [claudeCode],
    history: [...TURNS, side("A"), sync(0), side("B", true), sync(0)],
  },
  {
    title: "a database that was replaced by one with as many changes",
    models: [opencodeDatabase],
    history: [append("prompt"), sync(0), { ...append("prompt"), how: "replace" }, sync(0)],
  },
  {
    title: "a folder that was never synced",
    models: ALL,
    history: [...TURNS, sync(0), { kind: "append", place: 1, session: 1, turn: "prompt", how: "append" }],
  },
];

describe("a history that once did harm", () => {
  for (const { title, models, history } of KNOWN)
    test.each(models)(`${title}: $label`, async (model) => {
      const findings = await tryHistory(history, { model, ...EVERYTHING.trial });
      expect(findings).toEqual([]);
    });
});
