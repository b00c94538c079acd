/** The real Codex resumes what pond restored: the request it sends to the model carries the whole history. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { SerializeOptions } from "../../src/adapters/index.ts";
import { serialize } from "../../src/adapters/codex-cli/serialize.ts";
import type { Lineage } from "../../src/adapters/seam/index.ts";
import { replay } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { OfflineRun } from "./offline.ts";
import { findClient, runOffline } from "./offline.ts";
import { writeRestored } from "./write-files.ts";

const client = findClient("codex", "@openai/codex");
const adapter = adapterNamed("codex-cli")!;
const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");
const RECORDED = "/tmp/pond-fixture/demo";

const PAGINATED = "01a1e1d6-bf5e-7902-8eb6-c6db4b0f3477";
const FORK = "01a1e1d6-c4b3-7232-a47c-73213bb866a7";
const LEGACY = "01a1e1d6-dc28-7033-8d22-b4de37cc0373";

if ("missing" in client) console.log(`codex-cli clients test skipped: ${client.missing}`);

const LISTING = [
  "user: Please list the files in this folder.",
  "assistant: I will look.",
  'call: exec_command {"cmd":"ls"}',
  "result: Chunk ID:",
  "assistant: There is a README.md and an AGENTS.md.",
];
const README = [
  "user: # Context from my IDE setup:",
  'call: exec_command {"cmd":"cat README.md missing.txt"}',
  "result: Chunk ID:",
  "assistant: The README says Demo; missing.txt is not there.",
];

describe.skipIf("missing" in client)("the real Codex", () => {
  test("resumes a thread that was restored natively, in its reverted form", async () => {
    await using box = await tempDir();
    const run = resume(box.path, await captured(PAGINATED), { fidelity: "native" });
    expectInOrder(turnsOf(run), [
      ...LISTING,
      ...README,
      "user: Go on after the revert.",
      "user: Go on from here",
    ]);
    expect(JSON.stringify(run.requests)).not.toContain("What is on this picture?");
  });

  test("resumes its fork, whose history stands in the file of the thread", async () => {
    await using box = await tempDir();
    const run = resume(box.path, await captured(PAGINATED), { fidelity: "native", id: FORK });
    expectInOrder(turnsOf(run), [
      ...LISTING,
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
    const run = resume(box.path, await captured(LEGACY), { fidelity: "native" });
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
    const state = foreignSession(RECORDED);
    const run = resume(box.path, { state, children: [] }, { fidelity: "foreign" });
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
      'result: {"output":"a.txt b.txt"}',
      "assistant: Two files, and the patch failed.",
      "user: Try again",
      'call: shell {"command":["pwd"]}',
      "result: aborted",
      "user: Go on from here",
    ]);
  });

  test("resumes a session of Claude Code", async () => {
    const claude = adapterNamed("claude-code")!;
    const runs = await readFolder(claude, join(FIXTURES, "claude-code/projects"));
    const lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
    const lineage = lineages.find(({ state }) => state.session.id.startsWith("e78e1be3"))!;
    await using box = await tempDir();
    const run = resume(box.path, lineage, { fidelity: "foreign" });
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

async function captured(id: string): Promise<Lineage> {
  const runs = await readFolder(adapter, join(FIXTURES, "codex-cli/home"));
  const lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  return lineages.find(({ state }) => state.session.id === id)!;
}

/** Restores into a throwaway home and goes on with the session there. */
function resume(
  folder: string,
  lineage: Lineage,
  how: { readonly fidelity: SerializeOptions["fidelity"]; readonly id?: string },
): OfflineRun {
  if (!("path" in client)) throw new Error("checked above");
  const cwd = join(folder, "demo");
  const home = join(folder, "home/.codex");
  const mapPath = (path: string): string => (path.startsWith("/") ? cwd : path);
  const restored = serialize(lineage, {
    fidelity: how.fidelity,
    layout: "client",
    mapPath,
    now: 0,
  });
  expect(restored.resume.directory).toBe(cwd);
  writeRestored(restored, home);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.toml"), CONFIG);
  const run = runOffline(
    [client.path, "exec", "--skip-git-repo-check", "resume", how.id ?? restored.resume.id, "Go on from here"],
    { folder, cwd, rules: [{ text: "Going on." }] },
  );
  expect(run.status === 0 ? run.stdout : run.stderr).toBe("Going on.\n");
  return run;
}

/** The provider has the name that the captured threads recorded. */
const CONFIG = `model = "scripted"
model_provider = "mock"
[model_providers.mock]
name = "scripted"
base_url = "http://127.0.0.1:8399/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
