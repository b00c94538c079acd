/**
 * The real clients, and how each goes on with a session that pond restored: where it looks for sessions, what it must be
 * told of the scripted model, and its command.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, win32 } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import { printFile } from "../../src/adapters/restore.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import type { Restored, SerializeOptions } from "../../src/adapters/restore.ts";
import { brandOf } from "../../src/model/derived/index.ts";
import type { OfflineRun } from "./offline.ts";
import { MODEL_URL, runOffline } from "./offline.ts";
import type { ClientName } from "./versions.ts";
import { findClient, VERSIONS, versionSet } from "./versions.ts";

/** What a person types to go on, and what the model answers. */
export const PROMPT = "Go on from here";
const ANSWER = "Going on.";

/** Which model goes on: clients send their own model more than another one. */
export interface SessionModel {
  readonly provider: string;
  readonly model: string;
  /** The interface by which it is called, where the client has several: as pi names them. */
  readonly api: "anthropic-messages" | "openai-responses" | "openai-codex-responses" | "openai-completions";
}

export interface RealClient {
  readonly adapter: ClientName;
  readonly executable: ReturnType<typeof findClient>;
  /** Where restored files go, below the folder of the run. */
  readonly sessions: string;
  readonly settings?: { readonly path: string; readonly text: (model?: SessionModel) => string };
  /** `id` is the session to go on with; without a model it is the scripted one. */
  readonly command: (
    path: string,
    restored: Pick<Restored, "resume">,
    id: string,
    model?: SessionModel,
  ) => readonly string[];
  /** True for a client that writes nothing to stderr when all is well. */
  readonly isQuiet: boolean;
}

export const claudeCode: RealClient = {
  adapter: "claude-code",
  executable: findClient("claude-code"),
  sessions: "home/.claude/projects",
  command: (path, _, id, model) => {
    const words = model === undefined ? [] : ["--model", `${model.model}[1m]`];
    return [path, "-p", "--resume", id, ...words, PROMPT];
  },
  isQuiet: true,
};

export const codexCli: RealClient = {
  adapter: "codex-cli",
  executable: findClient("codex-cli"),
  sessions: "home/.codex",
  settings: {
    path: "home/.codex/config.toml",
    // The provider has the name that the captured threads recorded.
    text: (model) => `model = "${model?.model ?? "scripted"}"
model_provider = "mock"
# A client that compacts by itself would not send what it was handed.
model_context_window = 10000000
model_auto_compact_token_limit = 9000000
# As for its own models; of one that it does not know it sends less.
tool_output_token_limit = 10000
[model_providers.mock]
name = "scripted"
base_url = "${MODEL_URL}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`,
  },
  command: (path, _, id) => [path, "exec", "--skip-git-repo-check", "resume", id, PROMPT],
  isQuiet: false,
};

const SCRIPTED: SessionModel = { provider: "anthropic", model: "scripted", api: "anthropic-messages" };

/** By which opencode calls a provider. */
const PACKAGES: Readonly<Record<SessionModel["api"], string>> = {
  "anthropic-messages": "@ai-sdk/anthropic",
  "openai-responses": "@ai-sdk/openai",
  "openai-codex-responses": "@ai-sdk/openai",
  "openai-completions": "@ai-sdk/openai-compatible",
};

export const opencode: RealClient = {
  adapter: "opencode",
  executable: findClient("opencode"),
  sessions: "demo.app",
  settings: {
    path: "home/.config/opencode/opencode.json",
    text: ({ provider, model, api }: SessionModel = SCRIPTED) =>
      JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: `${provider}/${model}`,
        small_model: `${provider}/${model}`,
        provider: {
          [provider]: {
            npm: provider === "github-copilot" ? "@ai-sdk/github-copilot" : PACKAGES[api],
            options: { baseURL: `${MODEL_URL}/v1`, apiKey: "scripted" },
            models: {
              [model]: {
                name: "Scripted",
                tool_call: true,
                attachment: true,
                reasoning: true,
                modalities: { input: ["text", "image"], output: ["text"] },
                limit: { context: 10_000_000, output: 8000 },
              },
            },
          },
        },
      }),
  },
  command: (path, restored, id, { provider, model } = SCRIPTED) =>
    importing(path, restored, [`opencode run --session ${id} --model ${provider}/${model} "${PROMPT}"`]),
  isQuiet: false,
};

const PI_SCRIPTED: SessionModel = {
  provider: "scripted",
  model: "scripted-model",
  api: "anthropic-messages",
};

/** A token that names an account, signed by nobody. */
const ACCOUNT = [{}, { "https://api.openai.com/auth": { chatgpt_account_id: "scripted" } }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".");

export const pi: RealClient = {
  adapter: "pi",
  executable: findClient("pi"),
  sessions: "home/.pi/agent/sessions",
  settings: {
    path: "home/.pi/agent/models.json",
    text: ({ provider, model, api }: SessionModel = PI_SCRIPTED) =>
      JSON.stringify({
        providers: {
          [provider]: {
            baseUrl: api === "anthropic-messages" ? MODEL_URL : `${MODEL_URL}/v1`,
            api,
            apiKey: api === "openai-codex-responses" ? ACCOUNT : "scripted",
            models: [
              {
                id: model,
                input: ["text", "image"],
                reasoning: true,
                contextWindow: 10_000_000,
                maxTokens: 8000,
              },
            ],
          },
        },
      }),
  },
  command: (path, _, id, { provider, model } = PI_SCRIPTED) => {
    const words = ["--provider", provider, "--model", model];
    return [path, "-p", "--session", id, ...words, PROMPT];
  },
  isQuiet: true,
};

export const qwenCode: RealClient = {
  adapter: "qwen-code",
  executable: findClient("qwen-code"),
  sessions: "home/.qwen/projects",
  settings: {
    path: "home/.qwen/settings.json",
    text: () => JSON.stringify({ security: { auth: { selectedType: "openai" } } }),
  },
  command: (path, _, id) => [
    "env",
    `OPENAI_BASE_URL=${MODEL_URL}/v1`,
    "OPENAI_MODEL=scripted",
    path,
    "--resume",
    id,
    "-p",
    PROMPT,
  ],
  isQuiet: false,
};

/** Imports the restored files, as the restore says, and runs the commands. */
export function importing(
  path: string,
  { resume }: Pick<Restored, "resume">,
  commands: readonly string[],
): string[] {
  const imports = (resume.imports?.files ?? []).map((file) => `${resume.imports?.words.join(" ")} ${file}`);
  const script = `opencode() { ${path} "$@" </dev/null; }\nset -e\n${[...imports, ...commands].join("\n")}`;
  return ["bash", "-c", script];
}

/** True where the client is not there; says why. */
export function isMissing({ adapter, executable }: RealClient): boolean {
  if ("path" in executable) return false;
  const { version } = VERSIONS[adapter][versionSet()];
  console.log(`tests with the real ${adapter} ${version} are skipped: ${executable.missing}`);
  return true;
}

export interface Going {
  /** A folder of this run's own. */
  readonly folder: string;
  readonly fidelity: SerializeOptions["fidelity"];
  /** Another session of the lineage than the first. */
  readonly id?: string;
  /** Instead of going on. */
  readonly command?: RealClient["command"];
  /** Another model than the scripted one. */
  readonly model?: SessionModel | undefined;
}

export interface WentOn extends OfflineRun {
  readonly restored: Restored;
}

/** Restores into a throwaway home and goes on with the session there. */
export async function goOn(client: RealClient, lineage: Lineage, going: Going): Promise<WentOn> {
  const { folder } = going;
  const restored = await restoreFor(client, lineage, going);
  const { settings, executable } = client;
  if (settings !== undefined) write(join(folder, settings.path), settings.text(going.model));
  if (!("path" in executable)) throw new Error(executable.missing);
  const { id, directory } = restored.resume;
  const command = (going.command ?? client.command)(executable.path, restored, going.id ?? id, going.model);
  const rules = [{ when: PROMPT, text: ANSWER }];
  const run = runOffline(command, { folder, cwd: directory, rules });
  assert.deepEqual(
    [run.status, run.status === 0 && !client.isQuiet ? "" : run.stderr],
    [0, ""],
    `${run.stderr}\n${run.stdout}`,
  );
  if (going.command === undefined) assert.ok(run.stdout.includes(ANSWER), run.stdout);
  return { ...run, restored };
}

/** The files of a lineage where the client looks for them; its paths are those of the run. */
export async function restoreFor(client: RealClient, lineage: Lineage, going: Going): Promise<Restored> {
  const cwd = join(going.folder, "demo.app");
  const { restore } = adapterNamed(client.adapter)!;
  if (restore.kind !== "supported") throw new Error(`${client.adapter} restores`);
  const source = adapterNamed(brandOf(lineage.state.session.source_agent));
  const isKnown = going.fidelity === "foreign" && source?.restore.kind === "supported";
  const restored = await restore.serialize(lineage, {
    ...(isKnown ? { context: await source.restore.context() } : {}),
    fidelity: going.fidelity,
    layout: "client",
    mapPath: (path) => (isAbsolute(path) ? cwd : path),
    now: Date.now(),
  });
  assert.equal(restored.resume.directory, cwd);
  for (const file of restored.files) write(join(going.folder, client.sessions, file.path), printFile(file));
  return restored;
}

/** Of any system: a session may come from another. */
const isAbsolute = (path: string): boolean => path.startsWith("/") || win32.isAbsolute(path);

function write(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, data);
}
