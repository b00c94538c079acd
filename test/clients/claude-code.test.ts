/** The real Claude Code resumes what pond restored: the request it sends to the model carries the whole history. */
import { describe, expect, test } from "vitest";
import type { Lineage } from "../../src/adapters/index.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured, COMPACTED_NOTES, LISTING, NOTES } from "./captured.ts";
import { foreignSession, foreignTurns } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import { claudeCode, goOn, isMissing, restoreFor } from "./real-clients.ts";

describe.skipIf(isMissing(claudeCode))("the real Claude Code", () => {
  test("resumes a session that was restored natively", async () => {
    await using box = await tempDir();
    const run = await goOn(claudeCode, await captured(NOTES), { folder: box.path, fidelity: "native" });
    expectInOrder(turnsOf(run), [
      ...NOTES.turns,
      "result: image image/png",
      "user: Print a lot",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted session with a subagent from its summary", async () => {
    const lineage = await captured(COMPACTED_NOTES);
    expect(lineage.children).toHaveLength(1);
    await using box = await tempDir();
    const run = await goOn(claudeCode, lineage, { folder: box.path, fidelity: "native" });
    expectInOrder(turnsOf(run), [
      "user: This session is being continued",
      "user: After the compaction",
      "user: What colour is this dot?",
      "user: image image/png",
      "user: Go on from here",
    ]);
  });

  test("resumes a session of another client", async () => {
    await using box = await tempDir();
    const state = foreignSession("/srv/elsewhere");
    const lineage = { state, children: [{ state: child(state), children: [] }] };
    const run = await goOn(claudeCode, lineage, { folder: box.path, fidelity: "foreign" });
    expect(JSON.stringify(run.requests)).not.toContain("secret thoughts");
    expectInOrder(turnsOf(run), [...foreignTurns("No result was recorded."), "user: Go on from here"]);
  });

  test("resumes a compacted thread of Codex, and its fork, whose history is in the thread", async () => {
    const lineage = await captured(LISTING);
    await using box = await tempDir();
    const going = { folder: box.path, fidelity: "foreign" } as const;
    const run = await goOn(claudeCode, lineage, going);
    expectInOrder(turnsOf(run), [
      "user: Another language model started to solve this problem",
      "user: Please list the files in this folder.",
      "user: What is on this picture?",
      "user: image image/png",
      "user: Delegate the counting.",
      "user: Go on after the compaction.",
      "assistant: Going on.",
      "user: Go on from here",
    ]);
    const fork = lineage.children.find(({ state }) => state.session.relation === "fork")!;
    const alone = await restoreFor(claudeCode, fork, going);
    const forked = run.restored.files.find(({ path }) => path.includes(alone.resume.id));
    expect(JSON.stringify(forked)).toContain("Please list the files in this folder.");
  });
});

function child({ session, messages }: Lineage["state"]): Lineage["state"] {
  const id = `${session.id}/child` as typeof session.id;
  return { session: { ...session, id, parent_session_id: session.id, relation: "spawn" }, messages };
}
