/** The real Claude Code resumes what pond restored: the request it sends to the model carries the whole history. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Adapter, SerializeOptions } from "../../src/adapters/index.ts";
import { serialize as restore } from "../../src/adapters/claude-code/serialize.ts";
import type { Lineage } from "../../src/adapters/seam/index.ts";
import { replay } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { OfflineRun } from "./offline.ts";
import { findClient, runOffline } from "./offline.ts";
import { writeRestored } from "./write-files.ts";

const client = findClient("claude", "@anthropic-ai/claude-code");
const adapter = adapterNamed("claude-code")!;
const FIXTURE = join(import.meta.dirname, "../fixtures/adapters/claude-code/projects");
const CODEX = join(import.meta.dirname, "../fixtures/adapters/codex-cli/home");
/** Where the fixtures were captured: restored, they work in the run's own folder. */
const RECORDED: readonly string[] = ["/tmp/pond_fixture/demo.app", "/tmp/pond-fixture/demo"];

if ("missing" in client) console.log(`claude-code clients test skipped: ${client.missing}`);

describe.skipIf("missing" in client)("the real Claude Code", () => {
  test("resumes a session that was restored natively", async () => {
    const lineage = await captured(adapter, FIXTURE, "e78e1be3-8fad-455a-adfe-a548a4aafee2");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "native");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    const turns = turnsOf(run);
    expectInOrder(turns, [
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
      "result: image image/png",
      "user: Print a lot",
      "user: Go on from here",
    ]);
  });

  test("resumes a compacted session with a subagent from its summary", async () => {
    const lineage = await captured(adapter, FIXTURE, "42a619cc-bb76-46e4-81e9-08563bb4c708");
    expect(lineage.children).toHaveLength(1);
    await using box = await tempDir();
    const run = resume(box.path, lineage, "native");
    expect([run.status, run.stderr]).toEqual([0, ""]);
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
    const state = foreignSession(RECORDED[0]!);
    const run = resume(box.path, { state, children: [{ state: child(state), children: [] }] }, "foreign");
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
      "failure: No result was recorded.",
      "user: Go on from here",
    ]);
  });

  test("resumes a thread of Codex, and its fork, whose history stands in the thread", async () => {
    const lineage = await captured(adapterNamed("codex-cli")!, CODEX, "01a1e1d6-bf5e-7902-8eb6-c6db4b0f3477");
    const listing = [
      "user: Please list the files in this folder.",
      "assistant: I will look.",
      'call: exec_command {"cmd":"ls"}',
      "result: Chunk ID:",
      "assistant: There is a README.md and an AGENTS.md.",
    ];
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expectInOrder(turnsOf(run), [...listing, "user: What is on this picture?", "user: Go on from here"]);
    const fork = lineage.children.find(({ state }) => state.session.relation === "fork")!;
    const restored = restore(lineage, { ...CLIENT, fidelity: "foreign" });
    const alone = restore(fork, { ...CLIENT, fidelity: "foreign" });
    const forked = restored.files.find(({ path }) => path.includes(alone.resume.id));
    expect(JSON.stringify(forked)).toContain("Please list the files in this folder.");
  });
});

async function captured(from: Adapter, root: string, id: string): Promise<Lineage> {
  const runs = await readFolder(from, root);
  const lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  return lineages.find(({ state }) => state.session.id === id)!;
}

function child({ session, messages }: Lineage["state"]): Lineage["state"] {
  const id = `${session.id}/child` as typeof session.id;
  return { session: { ...session, id, parent_session_id: session.id, relation: "spawn" }, messages };
}

const CLIENT: SerializeOptions = { fidelity: "native", layout: "client", mapPath: (path) => path, now: 0 };

/** Restores into a throwaway home and goes on with the session there. */
function resume(folder: string, lineage: Lineage, fidelity: SerializeOptions["fidelity"]): OfflineRun {
  const cwd = join(folder, "demo.app");
  const home = join(folder, "home");
  mkdirSync(cwd, { recursive: true });
  const restored = restore(lineage, {
    fidelity,
    layout: "client",
    mapPath: (path) => (RECORDED.includes(path) ? cwd : path),
    now: 0,
  });
  writeRestored(restored, join(home, ".claude/projects"));
  if (!("path" in client)) throw new Error(client.missing);
  const command = [client.path, "-p", "--resume", restored.resume.id, "Go on from here"];
  return runOffline(command, { folder, cwd: restored.resume.directory, rules: [{ text: "Going on." }] });
}
