/** The real pi resumes what pond restored: the request it sends to the model carries the whole history. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { SerializeOptions } from "../../src/adapters/index.ts";
import { serialize as restore } from "../../src/adapters/pi/serialize.ts";
import type { Lineage } from "../../src/adapters/seam/index.ts";
import type { MessageWithParts } from "../../src/model/index.ts";
import { activeBranch, replay } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { OfflineRun } from "./offline.ts";
import { findClient, MODEL_URL, runOffline } from "./offline.ts";
import { writeRestored } from "./write-files.ts";

const client = findClient("pi", "@mariozechner/pi-coding-agent");
const pi = adapterNamed("pi")!;
const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");

if ("missing" in client) console.log(`pi clients test skipped: ${client.missing}`);

describe.skipIf("missing" in client)("the real pi", () => {
  test("resumes a fork that was restored natively, with everything before the fork", async () => {
    const lineage = await captured("01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "native");
    expect([run.status, run.stderr]).toEqual([0, ""]);
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
    const lineage = await captured("01a1e1d0-8d21-70bd-9619-b545abc296ea");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "native");
    expect([run.status, run.stderr]).toEqual([0, ""]);
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
    const lineage = await captured("01a1e1d1-7bdb-729a-b55b-b3c0ead01643");
    await using box = await tempDir();
    resume(box.path, lineage, "native");
    const root = join(box.path, "home/.pi/agent/sessions");
    const [grown] = replay((await readFolder(pi, root)).flatMap(({ events }) => events));
    const before = lineage.state.messages.length;
    expect(grown?.session.id).toBe(lineage.state.session.id);
    expect(grown?.messages.slice(1, before).map(withoutSession)).toEqual(
      lineage.state.messages.slice(1).map(withoutSession),
    );
    expect(grown?.messages.slice(before).flatMap(typedTexts)).toEqual(["Go on from here", "Going on."]);
  });

  test("resumes a session of another client", async () => {
    await using box = await tempDir();
    const run = resume(box.path, { state: foreignSession("/srv/elsewhere"), children: [] }, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(JSON.stringify(run.requests)).not.toContain("secret thoughts");
    expectInOrder(turnsOf(run), [
      "user: Look at the dot and count the files",
      "user: image image/png",
      "assistant: I look.",
      'call: shell {"command":["ls"]}',
      'call: apply_patch {"input":"*** Begin"}',
      "result: a.txt b.txt",
      "failure: no such file",
      "assistant: Two files, and the patch failed.",
      "user: Try again",
      'call: shell {"command":["pwd"]}',
      "failure: No result provided",
      "user: Go on from here",
    ]);
  });

  test("resumes a session of Claude Code", async () => {
    const lineage = await captured("e78e1be3-8fad-455a-adfe-a548a4aafee2", "claude-code/projects");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expectInOrder(turnsOf(run), [
      "user: List the notes \u{1F4DD} please",
      "assistant: I will look.",
      "call: Bash cat notes.txt",
      "result: alpha\nbeta",
      "assistant: Two notes: alpha and beta.",
      "user: Break something",
      "call: Bash exit 3",
      "failure: Exit code 3",
      "assistant: It failed as asked.",
      "user: Look at the picture",
      "result: (see attached image)\nimage image/png",
      "user: Go on from here",
    ]);
  });

  test("resumes a thread of Codex", async () => {
    const lineage = await captured("01a1e1d6-de11-7d30-b2a8-ac31dea4ea24", "codex-cli/home");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expectInOrder(turnsOf(run), [
      "user: Please list the files in this folder.",
      "assistant: I will look.",
      'call: exec_command {"cmd":"ls"}',
      "result: Chunk ID:",
      "assistant: There is a README.md and an AGENTS.md.",
      'call: exec_command {"cmd":"cat README.md missing.txt"}',
      "failure: Chunk ID:",
      "assistant: The README says Demo; missing.txt is not there.",
      "user: In the fork, say so.",
      "assistant: This is the fork.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted thread of Codex from its summary", async () => {
    const lineage = await captured("01a1e1d6-dc28-7033-8d22-b4de37cc0373", "codex-cli/home");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    const turns = turnsOf(run);
    expect(turns[0]).toContain("Summary: the folder holds README.md and AGENTS.md.");
    expect(turns.slice(1)).toEqual([
      "user: Go on after the compaction.",
      "assistant: Going on.",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted session of Claude Code from its summary", async () => {
    const lineage = await captured("42a619cc-bb76-46e4-81e9-08563bb4c708", "claude-code/projects");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    const turns = turnsOf(run);
    expect(turns[0]).toContain("compacted into the following summary");
    expectInOrder(turns, [
      "user: After the compaction",
      "user: What colour is this dot?",
      "user: Go on from here",
    ]);
  });
});

async function captured(id: string, place = "pi/sessions"): Promise<Lineage> {
  const runs = await readFolder(adapterNamed(place.split("/")[0] ?? "")!, join(FIXTURES, place));
  const all = (lineages: readonly Lineage[]): readonly Lineage[] =>
    lineages.flatMap((lineage) => [lineage, ...all(lineage.children)]);
  const lineages = all(lineagesOf(replay(runs.flatMap(({ events }) => events))));
  const { state } = lineages.find((lineage) => lineage.state.session.id === id)!;
  return { state, children: [] };
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

/** Restores into a throwaway home and goes on with the session there. */
function resume(folder: string, lineage: Lineage, fidelity: SerializeOptions["fidelity"]): OfflineRun {
  const cwd = join(folder, "garden");
  const agent = join(folder, "home/.pi/agent");
  const { project } = lineage.state.session;
  mkdirSync(cwd, { recursive: true });
  const restored = restore(lineage, {
    fidelity,
    layout: "client",
    mapPath: (path) => (path === project ? cwd : path),
    now: Date.UTC(2026, 10, 16),
  });
  writeRestored(restored, join(agent, "sessions"));
  writeFileSync(join(agent, "models.json"), JSON.stringify(MODELS));
  if (!("path" in client)) throw new Error(client.missing);
  const model = ["--provider", "scripted", "--model", "scripted-model"];
  const command = [client.path, "-p", "--session", restored.resume.id, ...model, "Go on from here"];
  return runOffline(command, { folder, cwd: restored.resume.directory, rules: [{ text: "Going on." }] });
}

/** The scripted model as a provider of pi's: it speaks Anthropic Messages. */
const MODELS = {
  providers: {
    scripted: {
      baseUrl: MODEL_URL,
      api: "anthropic-messages",
      apiKey: "scripted",
      models: [{ id: "scripted-model", input: ["text", "image"], contextWindow: 200_000, maxTokens: 8000 }],
    },
  },
};
