/** The real Codex resumes what pond restored: the request it sends to the model carries the whole history. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { contextOf } from "../../src/adapters/codex-cli/restore/context.ts";
import { adapterNamed } from "../../src/adapters/index.ts";
import { historyOf, LossReport } from "../../src/adapters/kit/foreign/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured, COMPACTED_LISTING, LISTING, NOTES } from "./captured.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { Going } from "./real-clients.ts";
import { claudeCode, codexCli, goOn, isMissing } from "./real-clients.ts";

const FORK = "01a1e1d6-c4b3-7232-a47c-73213bb866a7";

const README = [
  "user: # Context from my IDE setup:",
  'call: exec_command {"cmd":"cat README.md missing.txt"}',
  "result: Chunk ID:",
  "assistant: The README says Demo; missing.txt is not there.",
];

describe.skipIf(isMissing(codexCli))("the real Codex", () => {
  test("resumes a thread that was restored natively, in its reverted form", async () => {
    await using box = await tempDir();
    const run = await goOn(codexCli, await captured(LISTING), { folder: box.path, fidelity: "native" });
    expectInOrder(turnsOf(run), [
      ...LISTING.turns,
      ...README,
      "user: Go on after the revert.",
      "user: Go on from here",
    ]);
    expect(JSON.stringify(run.requests)).not.toContain("What is on this picture?");
  });

  test("resumes its fork, whose history stands in the file of the thread", async () => {
    await using box = await tempDir();
    const going: Going = { folder: box.path, fidelity: "native", id: FORK };
    const run = await goOn(codexCli, await captured(LISTING), going);
    expectInOrder(turnsOf(run), [
      ...LISTING.turns,
      ...README,
      "user: What is on this picture?",
      "user: image data:image/png",
      "assistant: A single red pixel.",
      "user: <user_shell_command>",
      "user: Delegate the counting.",
      "call: spawn_agent",
      "result: {",
      "user: In the fork, say so.",
      "assistant: This is the fork.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted thread of the older history mode from its summary", async () => {
    await using box = await tempDir();
    const run = await goOn(codexCli, await captured(COMPACTED_LISTING), {
      folder: box.path,
      fidelity: "native",
    });
    expectInOrder(turnsOf(run), [
      "user: Please list the files in this folder.",
      "user: Another language model started to solve this problem",
      "user: Go on after the compaction.",
      "assistant: Going on.",
      "user: Go on from here",
    ]);
  });

  test("resumes a thread without the turns that were taken back, and hands over the same", async () => {
    await using box = await tempDir();
    const lineage = await takenBack(box.path);
    const own = await goOn(codexCli, lineage, { folder: join(box.path, "own"), fidelity: "native" });
    const kept = [
      "user: First question",
      "assistant: First answer",
      "user: Third question",
      "assistant: Third answer",
    ];
    expectInOrder(turnsOf(own), [...kept, "user: Go on from here"]);
    expect(JSON.stringify(own.requests)).not.toContain("Second");
    expect(JSON.stringify(own.requests)).not.toContain("Never mind");
    const { state } = lineage;
    const losses = new LossReport();
    const { messages } = historyOf(state, { losses, context: contextOf });
    expect(JSON.stringify(messages)).not.toMatch(/Second|Never mind/);
    expect(losses.list().filter(({ what }) => what === "turn of another branch")).toMatchObject([
      { count: 4 },
    ]);
    if (isMissing(claudeCode)) return;
    const other = await goOn(claudeCode, lineage, { folder: join(box.path, "other"), fidelity: "foreign" });
    expectInOrder(turnsOf(other), kept);
    expect(turnsOf(other).filter((turn) => /Second|Never mind/.test(turn))).toEqual([]);
  });

  test("resumes a session of another client, with pictures, calls and their results in order", async () => {
    await using box = await tempDir();
    const lineage: Lineage = { state: foreignSession("/srv/elsewhere"), children: [] };
    const run = await goOn(codexCli, lineage, { folder: box.path, fidelity: "foreign" });
    const sent = JSON.stringify(run.requests);
    expect(sent).not.toContain("secret thoughts");
    expect(sent).not.toContain("not for you");
    expectInOrder(turnsOf(run), [
      "user: Look at the dot and count the files",
      "user: image data:image/png",
      "assistant: I look.",
      'call: shell {"command":["ls"]}',
      'call: apply_patch {"input":"*** Begin"}',
      "result: no such file",
      "result: a.txt b.txt",
      "assistant: Two files, and the patch failed.",
      "user: Try again",
      'call: shell {"command":["pwd"]}',
      "result: aborted",
      "user: Go on from here",
    ]);
  });

  test("resumes a session of Claude Code", async () => {
    await using box = await tempDir();
    const run = await goOn(codexCli, await captured(NOTES), { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      "user: List the notes \u{1F4DD} please",
      "assistant: I will look.",
      'call: Bash {"command":"cat notes.txt"',
      "result: alpha\nbeta",
      "assistant: Two notes: alpha and beta.",
      "user: Break something",
      "result: Exit code 3",
      "assistant: It failed as asked.",
      "user: Go on from here",
    ]);
  });
});

/** Four turns, of which the second was taken back, and later the last. */
async function takenBack(folder: string): Promise<Lineage> {
  const id = "01a1e1d6-0000-7000-8000-0000000000aa";
  const timestamp = "2026-11-16T00:00:00.000Z";
  const record = (type: string, payload: object): object => ({ timestamp, type, payload });
  const head = {
    id,
    timestamp,
    cwd: "/srv/demo.app",
    originator: "codex_exec",
    cli_version: "0.166.0",
    source: "exec",
    model_provider: "mock",
  };
  const said = (role: string, type: string, text: string): object =>
    record("response_item", { type: "message", role, content: [{ type, text }] });
  const turn = (name: string): readonly object[] => [
    record("event_msg", { type: "task_started", turn_id: name, model_context_window: 10_000 }),
    said("developer", "input_text", `<model_switch>${name}</model_switch>`),
    said("user", "input_text", `${name} question`),
    record("event_msg", { type: "user_message", message: `${name} question`, images: [] }),
    record("event_msg", { type: "agent_message", message: `${name} answer` }),
    said("assistant", "output_text", `${name} answer`),
    record("event_msg", { type: "task_complete", turn_id: name, last_agent_message: null }),
  ];
  const back = record("event_msg", { type: "thread_rolled_back", num_turns: 1 });
  const records = [record("session_meta", head), ...turn("First"), ...turn("Second"), back];
  records.push(...turn("Third"), ...turn("Never mind"), back);
  const path = join(folder, "source", "sessions/2026/11/16", `rollout-2026-11-16T00-00-00-${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, records.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const runs = await readFolder(adapterNamed("codex-cli")!, join(folder, "source"));
  return lineagesOf(replay(runs.flatMap(({ events }) => events)))[0]!;
}
