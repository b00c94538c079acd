/** Other real clients go on with a session of pi: the request to the model carries its active branch. */
import { describe, test } from "vitest";
import type { Lineage } from "../../src/adapters/index.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured } from "./captured.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import { claudeCode, codexCli, goOn, isMissing } from "./real-clients.ts";

describe("a session of pi", () => {
  test.skipIf(isMissing(claudeCode))("goes on in the real Claude Code", async () => {
    await using box = await tempDir();
    const run = await goOn(claudeCode, await fork(), { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      "user: What grows in my garden?",
      "user: image image/png",
      "assistant: I will look at the beds.",
      "call: bash cat beds.txt",
      "call: read",
      "result: roses\nherbs",
      "failure: ENOENT",
      "assistant: Two beds: roses and herbs.",
      "user: only the roses",
      "assistant: Watering starts at seven.",
      "user: Plant tulips.",
      "call: write",
      "result: Successfully wrote",
      "assistant: The plan is written.",
      "user: Go on from here",
    ]);
  });

  test.skipIf(isMissing(codexCli))("goes on in the real Codex", async () => {
    await using box = await tempDir();
    const run = await goOn(codexCli, await fork(), { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      "user: What grows in my garden?",
      "user: image data:image/png",
      "assistant: I will look at the beds.",
      "call: bash",
      "call: read",
      "result: roses\nherbs",
      "result: ENOENT",
      "assistant: Two beds: roses and herbs.",
      "user: only the roses",
      "user: Plant tulips.",
      "call: write",
      "assistant: The plan is written.",
      "user: Go on from here",
    ]);
  });
});

async function fork(): Promise<Lineage> {
  const lineage = await captured({ place: "pi/sessions", id: "01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e" });
  return { ...lineage, children: [] };
}
