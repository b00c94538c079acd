/**
 * The real opencode takes what pond restored: an import followed by its own export is equal, and a session that it goes
 * on with carries the whole history to the model.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Restored } from "../../src/adapters/index.ts";
import { serialize } from "../../src/adapters/opencode/serialize.ts";
import type { Lineage } from "../../src/adapters/seam/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { firstDifference, isJsonObject, parseJson } from "../../src/base/json.ts";
import { replay } from "../../src/model/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { foreignSession } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { OfflineRun } from "./offline.ts";
import { findClient, MODEL_URL, runOffline } from "./offline.ts";
import { writeRestored } from "./write-files.ts";

const client = findClient("opencode", "opencode-ai");
const opencode = adapterNamed("opencode")!;
const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");

/** The client quotes a prompt of several words. */
const GO_ON = 'user: "Go on from here"';

const GARDEN = "ses_e1dfc6e09ffe3lAwy288LtSjGi";

if ("missing" in client) console.log(`opencode clients test skipped: ${client.missing}`);

describe.skipIf("missing" in client)("the real opencode", () => {
  test.each([
    ["a database", "opencode/data", GARDEN],
    ["a tree", "opencode/legacy", GARDEN],
    ["an export", "opencode/exports", GARDEN],
  ])("imports and exports again, value for value, what came from %s", async (_, place, id) => {
    await using box = await tempDir();
    const restored = restore(box.path, await captured(id, place), "native");
    const ids = restored.files.map(({ path }) => path.replace(/^.*\/|\.json$/g, ""));
    expect(ids).toEqual([GARDEN, "ses_e1dfc5ccbffevJfiFnCNYDZmwr"]);
    const run = inClient(
      box.path,
      restored,
      ids.map((name) => `opencode export ${name} > ${name}.json`),
    );
    expect(run.status).toBe(0);
    for (const [index, file] of restored.files.entries()) {
      const exported = parseJson(readFileSync(join(box.path, "work", `${ids[index]}.json`), "utf8"));
      const expected = file.kind === "json" ? file.value : null;
      expect(firstDifference(withoutPlace(expected), withoutPlace(exported))).toBeUndefined();
    }
  });

  test("resumes a session that was restored natively, from its compaction on", async () => {
    await using box = await tempDir();
    const run = resume(box.path, await captured(GARDEN, "opencode/data"), "native");
    expect(run.status).toBe(0);
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: What did we do so far?",
      "assistant: ## Goal\nA garden of roses and herbs.",
      "user: And tomorrow?",
      "assistant: Tomorrow the roses.",
      GO_ON,
    ]);
    expect(turns.join("\n")).not.toContain("Write the plan down");
  });

  test("resumes a session with calls and pictures that was restored natively", async () => {
    await using box = await tempDir();
    const { state } = await captured(GARDEN, "opencode/data");
    const end = state.messages.findIndex(({ parts }) =>
      parts.some((part) => part.type === "text" && part.text === "Ask a helper about the weather."),
    );
    const carriers = state.messages.filter(({ message }) => message.seq === undefined);
    const messages = [...state.messages.slice(0, end), ...carriers];
    const run = resume(box.path, { state: { ...state, messages }, children: [] }, "native");
    expect(run.status).toBe(0);
    expectInOrder(turnsOf(run), [
      "user: What grows in my garden?",
      "user: image image/png",
      "user: Called the Read tool",
      "assistant: I will look at the beds.",
      "call: bash cat beds.txt",
      "call: read",
      "call: bash exit 3",
      "result: roses\nherbs",
      "failure: File not found",
      "result: (no output)",
      "assistant: Two beds: roses and herbs.",
      GO_ON,
    ]);
  });

  test("resumes a session of another client", async () => {
    await using box = await tempDir();
    const run = resume(box.path, { state: foreignSession("/srv/elsewhere"), children: [] }, "foreign");
    expect(run.status).toBe(0);
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
      "failure: [Tool execution was interrupted]",
      GO_ON,
    ]);
  });

  test("resumes a session of Claude Code, and pond knows it again", async () => {
    const lineage = await captured("e78e1be3-8fad-455a-adfe-a548a4aafee2", "claude-code/projects");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect(run.status).toBe(0);
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
      GO_ON,
    ]);
    const data = join(box.path, "home/.local/share/opencode");
    const [state] = replay((await readFolder(opencode, data)).flatMap(({ events }) => events));
    const prompts = (state?.messages ?? []).filter(({ message }) => message.role === "user");
    const replayed = prompts.map(({ message }) => (message.options["pond"] as JsonObject)["replays"]);
    expect(replayed.at(-1)).toBeUndefined();
    expect(replayed.slice(0, -1).every((mark) => isJsonObject(mark))).toBe(true);
    expect(replayed.length).toBeGreaterThan(3);
  });

  test("resumes a compacted thread of Codex from its summary", async () => {
    const lineage = await captured("01a1e1d6-dc28-7033-8d22-b4de37cc0373", "codex-cli/home");
    await using box = await tempDir();
    const run = resume(box.path, lineage, "foreign");
    expect(run.status).toBe(0);
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: What did we do so far?",
      "assistant: ",
      "user: Go on after the compaction.",
      "assistant: Going on.",
      GO_ON,
    ]);
    expect(turns[1]).toContain("the folder holds README.md and AGENTS.md.");
  });
});

const claude = findClient("claude", "@anthropic-ai/claude-code");
const codex = findClient("codex", "@openai/codex");

describe("a session of opencode", () => {
  const expected = [
    "user: What grows in my garden?",
    "assistant: I will look at the beds.",
    "call: bash",
    "call: read",
    "call: bash",
    "result: roses\nherbs",
    "assistant: Two beds: roses and herbs.",
    "user: Ask a helper about the weather.",
    "call: task",
    "assistant: The helper says: sunny.",
    "user: Water the herbs instead.",
    "user: And tomorrow?",
    "assistant: Tomorrow the roses.",
    "user: Go on from here",
  ];

  test.skipIf("missing" in claude)("goes on in the real Claude Code", async () => {
    await using box = await tempDir();
    const { id } = await intoForeign(box.path, "claude-code", "home/.claude/projects");
    const path = "path" in claude ? claude.path : "";
    const run = elsewhere(box.path, [path, "-p", "--resume", id, "Go on from here"]);
    expectInOrder(turnsOf(run), expected);
    expect(turnsOf(run).join("\n")).not.toContain("Write the plan down");
  });

  test.skipIf("missing" in codex)("goes on in the real Codex", async () => {
    await using box = await tempDir();
    const { id } = await intoForeign(box.path, "codex-cli", "home/.codex");
    writeFileSync(join(box.path, "home/.codex/config.toml"), CODEX_CONFIG);
    const path = "path" in codex ? codex.path : "";
    const run = elsewhere(box.path, [path, "exec", "--skip-git-repo-check", "resume", id, "Go on from here"]);
    expectInOrder(turnsOf(run), expected);
  });
});

const CODEX_CONFIG = `model = "scripted"
model_provider = "mock"
[model_providers.mock]
name = "scripted"
base_url = "${MODEL_URL}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;

async function intoForeign(box: string, name: string, folder: string): Promise<Restored["resume"]> {
  const { restore: face } = adapterNamed(name)!;
  if (face.kind !== "supported") throw new Error(`${name} restores`);
  const mapPath = (): string => join(box, "work");
  const lineage = await captured(GARDEN, "opencode/data");
  const restored = await face.serialize(lineage, {
    fidelity: "foreign",
    layout: "client",
    mapPath,
    now: Date.now(),
  });
  writeRestored(restored, join(box, folder));
  return restored.resume;
}

function elsewhere(box: string, command: readonly string[]): OfflineRun {
  const run = runOffline(command, { folder: box, cwd: join(box, "work"), rules: [{ text: "Going on." }] });
  expect([run.status, run.status === 0 ? "" : run.stderr]).toEqual([0, ""]);
  return run;
}

async function captured(id: string, place: string): Promise<Lineage> {
  const runs = await readFolder(adapterNamed(place.split("/")[0] ?? "")!, join(FIXTURES, place));
  return lineagesOf(replay(runs.flatMap(({ events }) => events))).find(
    ({ state }) => state.session.id === id,
  )!;
}

/** Restored for the client, into the folder in which it runs. */
function restore(box: string, lineage: Lineage, fidelity: "native" | "foreign"): Restored {
  const mapPath = (): string => join(box, "work");
  const restored = serialize(lineage, {
    fidelity,
    layout: "client",
    mapPath,
    now: Date.now(),
  });
  writeRestored(restored, join(box, "work"));
  return restored;
}

function resume(box: string, lineage: Lineage, fidelity: "native" | "foreign"): OfflineRun {
  const restored = restore(box, lineage, fidelity);
  const { id } = restored.resume;
  return inClient(box, restored, [
    `opencode run --session ${id} --model anthropic/scripted "Go on from here"`,
  ]);
}

/** Imports the restored files, as the restore says, and runs the commands. */
function inClient(box: string, restored: Restored, commands: readonly string[]): OfflineRun {
  const home = join(box, "home/.config/opencode");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "opencode.json"), JSON.stringify(CONFIG));
  const { command, files } = restored.resume.imports!;
  const imports = files.map((file) => `${command} ${file}`);
  const path = "path" in client ? client.path : "";
  const script = `opencode() { ${path} "$@" </dev/null; }\nset -e\n${[...imports, ...commands].join("\n")}`;
  return runOffline(["bash", "-c", script], {
    folder: box,
    cwd: join(box, "work"),
    rules: [{ when: "Go on from here", text: "Going on." }],
  });
}

const CONFIG = {
  autoupdate: false,
  share: "disabled",
  model: "anthropic/scripted",
  small_model: "anthropic/scripted",
  provider: {
    anthropic: {
      npm: "@ai-sdk/anthropic",
      options: { baseURL: `${MODEL_URL}/v1`, apiKey: "scripted" },
      models: {
        scripted: {
          name: "Scripted",
          tool_call: true,
          attachment: true,
          modalities: { input: ["text", "image"], output: ["text"] },
          limit: { context: 200_000, output: 8000 },
        },
      },
    },
  },
};

/** An import puts a session into the project and the folder in which it runs. */
function withoutPlace(value: unknown): JsonObject {
  if (!isJsonObject(value as JsonObject)) return {};
  const { info, ...rest } = value as { info: JsonObject };
  return { ...rest, info: { ...info, projectID: "", directory: "", path: "" } };
}
