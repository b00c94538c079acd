/** The real pi resumes what pond restored: the request it sends to the model carries the whole history. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import type { MessageWithParts } from "../../src/model/events/index.ts";
import { activeBranch } from "../../src/model/derived/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { Captured } from "./captured.ts";
import { captured, COMPACTED_LISTING, COMPACTED_NOTES, LISTING, NOTES } from "./captured.ts";
import { foreignSession, foreignTurns } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import { goOn, isMissing, pi } from "./real-clients.ts";

const place = "pi/sessions";

describe.skipIf(isMissing(pi))("the real pi", () => {
  test("resumes a fork that was restored natively, with everything before the fork", async () => {
    const lineage = await alone({ place, id: "01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e" });
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "native" });
    expectInOrder(turnsOf(run), [
      "user: What grows in my garden?",
      "user: image image/png",
      "assistant: I will look at the beds.",
      "call: bash cat beds.txt",
      "call: read",
      "result: roses\nherbs",
      "failure: ENOENT",
      "assistant: Two beds: roses and herbs.",
      "user: Ran `wc -l beds.txt`",
      "user: Ran `exit 3`",
      'user: <skill name="watering"',
      "assistant: Watering starts at seven.",
      "user: Rain is expected tonight.",
      "user: Plant tulips.",
      "call: write",
      "result: Successfully wrote",
      "assistant: The plan is written.",
      "user: Go on from here",
    ]);
  });
  test("resumes on the branch that pond calls active, from its last compaction", async () => {
    const lineage = await alone({ place, id: "01a1e1d0-8d21-70bd-9619-b545abc296ea" });
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "native" });
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: The conversation history before this point was compacted",
      'user: <skill name="watering"',
      "assistant: Watering starts at seven.",
      "user: Rain is expected tonight.",
      "user: The following is a summary of a branch",
      "user: Water the herbs instead.",
      "call: write",
      "result: Successfully wrote",
      "user: And tomorrow?",
      "assistant: done",
      "user: Go on.",
      "user: Go on from here",
    ]);
    const { messages } = lineage.state;
    const active = activeBranch(messages.map(({ message }) => message));
    const abandoned = messages.filter(({ message }) => !active.has(message.id)).flatMap(typedTexts);
    expect(abandoned).toContain("Write the plan down.");
    expect(turns).not.toContain("user: Write the plan down.");
  });

  test("goes on in the restored file itself, and pond reads on from there", async () => {
    const lineage = await alone({ place, id: "01a1e1d1-7bdb-729a-b55b-b3c0ead01643" });
    await using box = await tempDir();
    await goOn(pi, lineage, { folder: box.path, fidelity: "native" });
    const root = join(box.path, pi.sessions);
    const [grown] = replay((await readFolder(adapterNamed("pi")!, root)).flatMap(({ events }) => events));
    const before = lineage.state.messages.length;
    expect(grown?.session.id).toBe(lineage.state.session.id);
    expect(grown?.messages.slice(1, before).map(withoutSession)).toEqual(
      lineage.state.messages.slice(1).map(withoutSession),
    );
    expect(grown?.messages.slice(before).flatMap(typedTexts)).toEqual(["Go on from here", "Going on."]);
  });

  test("resumes a session of another client", async () => {
    await using box = await tempDir();
    const lineage: Lineage = { state: foreignSession("/srv/elsewhere"), children: [] };
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    expect(JSON.stringify(run.requests)).not.toContain("secret thoughts");
    expectInOrder(turnsOf(run), [...foreignTurns("No result provided"), "user: Go on from here"]);
  });

  test("resumes a session of Claude Code", async () => {
    const lineage = await alone(NOTES);
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      ...NOTES.turns,
      "result: (see attached image)\nimage image/png",
      "user: Go on from here",
    ]);
  });

  test("resumes a thread of Codex", async () => {
    const lineage = await alone({ ...LISTING, id: "01a1e1d6-de11-7d30-b2a8-ac31dea4ea24" });
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      ...LISTING.turns,
      'call: exec_command {"cmd":"cat README.md missing.txt"}',
      "failure: Chunk ID:",
      "assistant: The README says Demo; missing.txt is not there.",
      "user: In the fork, say so.",
      "assistant: This is the fork.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted thread of Codex from its summary", async () => {
    const lineage = await alone(COMPACTED_LISTING);
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    const turns = turnsOf(run);
    expect(turns[0]).toContain("Summary: the folder holds README.md and AGENTS.md.");
    expectInOrder(turns.slice(1), [
      "user: Please list the files in this folder.",
      "user: # Context from my IDE setup:",
      "user: Go on after the compaction.",
      "assistant: Going on.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted session of opencode from its summary", async () => {
    const lineage = await alone({ place: "opencode/data", id: "ses_e1dfc6e09ffe3lAwy288LtSjGi" });
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    const turns = turnsOf(run);
    expect(turns[0]).toContain("A garden of roses and herbs.");
    expect(turns.slice(1)).toEqual([
      "user: And tomorrow?",
      "assistant: Tomorrow the roses.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted session of Claude Code from its summary", async () => {
    const lineage = await alone(COMPACTED_NOTES);
    await using box = await tempDir();
    const run = await goOn(pi, lineage, { folder: box.path, fidelity: "foreign" });
    const turns = turnsOf(run);
    expect(turns[0]).toContain("compacted into the following summary");
    expectInOrder(turns, [
      "user: After the compaction",
      "user: What colour is this dot?",
      "user: Go on from here",
    ]);
  });
});

/** Without its descendants: pi makes sessions of their own of them. */
async function alone(from: Captured): Promise<Lineage> {
  return { ...(await captured(from)), children: [] };
}

function typedTexts({ parts }: MessageWithParts): string[] {
  return parts.flatMap((part) =>
    part.type === "text" && part.provenance === "conversational" ? [part.text ?? ""] : [],
  );
}

/** Session ids and paths are those of the machine it was restored on; the rest is as it was. */
function withoutSession({ message, parts }: MessageWithParts): unknown {
  return {
    message: { ...message, session_id: "" },
    parts: parts.map((part) => ({ ...part, session_id: "" })),
  };
}
