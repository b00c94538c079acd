/** Other real clients go on with a session of pi: the request to the model carries its active branch. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Restored } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/index.ts";
import { readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import { findClient, MODEL_URL, runOffline } from "./offline.ts";
import { writeRestored } from "./write-files.ts";

const PLACE = join(import.meta.dirname, "../fixtures/adapters/pi/sessions");
const FORK = "01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e";

const claude = findClient("claude", "@anthropic-ai/claude-code");
const codex = findClient("codex", "@openai/codex");

for (const client of [claude, codex])
  if ("missing" in client) console.log(`pi-elsewhere clients test skipped: ${client.missing}`);

describe("a session of pi", () => {
  test.skipIf("missing" in claude)("goes on in the real Claude Code", async () => {
    await using box = await tempDir();
    const restored = await restoreInto("claude-code", box.path);
    writeRestored(restored, join(box.path, "home/.claude/projects"));
    const run = runOffline([pathOf(claude), "-p", "--resume", restored.resume.id, "Go on from here"], {
      folder: box.path,
      cwd: restored.resume.directory,
      rules: [{ text: "Going on." }],
    });
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
      "user: only the roses",
      "assistant: Watering starts at seven.",
      "user: Plant tulips.",
      "call: write",
      "result: Successfully wrote",
      "assistant: The plan is written.",
      "user: Go on from here",
    ]);
  });

  test.skipIf("missing" in codex)("goes on in the real Codex", async () => {
    await using box = await tempDir();
    const home = join(box.path, "home/.codex");
    const restored = await restoreInto("codex-cli", box.path);
    writeRestored(restored, home);
    writeFileSync(join(home, "config.toml"), CODEX_CONFIG);
    const run = runOffline(
      [pathOf(codex), "exec", "--skip-git-repo-check", "resume", restored.resume.id, "Go on from here"],
      { folder: box.path, cwd: restored.resume.directory, rules: [{ text: "Going on." }] },
    );
    expect(run.status === 0 ? run.stdout : run.stderr).toBe("Going on.\n");
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

async function restoreInto(target: string, folder: string): Promise<Restored> {
  const states = replay((await readFolder(adapterNamed("pi")!, PLACE)).flatMap(({ events }) => events));
  const state = states.find(({ session }) => session.id === FORK)!;
  const cwd = join(folder, "garden");
  mkdirSync(cwd);
  const adapter = adapterNamed(target)!;
  if (adapter.restore.kind !== "supported") throw new Error(`${target} restores`);
  const mapPath = (path: string): string => (path === state.session.project ? cwd : path);
  return adapter.restore.serialize(
    { state, children: [] },
    { fidelity: "foreign", layout: "client", mapPath, now: 0 },
  );
}

function pathOf(client: ReturnType<typeof findClient>): string {
  if ("missing" in client) throw new Error(client.missing);
  return client.path;
}

const CODEX_CONFIG = `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${MODEL_URL}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
