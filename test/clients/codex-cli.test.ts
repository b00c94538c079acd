/** The real Codex resumes what pond restored: the request it sends to the model carries the whole history. */
import { describe, expect, test } from "vitest";
import type { Lineage } from "../../src/adapters/index.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured, COMPACTED_LISTING, LISTING, NOTES } from "./captured.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { Going } from "./real-clients.ts";
import { codexCli, goOn, isMissing } from "./real-clients.ts";

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
