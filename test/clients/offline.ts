/** Runs a real client with loopback as its only network, a throwaway home and the scripted model next to it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Rule } from "./scripted-model.ts";

const PORT = 8399;

/** Where the scripted model answers, for clients that are configured by a file. */
export const MODEL_URL = `http://127.0.0.1:${PORT}`;

const MODEL = join(import.meta.dirname, "scripted-model.ts");

export interface OfflineRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What the client sent to the model, in order. */
  readonly requests: readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
}

export interface OfflineOptions {
  /** A folder of this run's own: `home`, the script and the log go there. */
  readonly folder: string;
  readonly cwd: string;
  readonly rules: readonly Rule[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a command and waits for it, at most four minutes: opencode needs one by itself. */
export function runOffline(command: readonly string[], options: OfflineOptions): OfflineRun {
  const home = join(options.folder, "home");
  const script = join(options.folder, "script.json");
  const log = join(options.folder, "requests.ndjson");
  mkdirSync(home, { recursive: true });
  mkdirSync(options.cwd, { recursive: true });
  writeFileSync(script, JSON.stringify(options.rules));
  writeFileSync(log, "");
  // The model is up when its port answers; the loop is bounded, not timed.
  const inside = `ip link set lo up
"$NODE" "$MODEL" ${PORT} "$SCRIPT" "$LOG" & model=$!
for _ in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/${PORT}) 2>/dev/null && break; sleep 0.05; done
"$@"; code=$?; kill $model; exit $code`;
  const done = spawnSync("unshare", ["-n", "bash", "-c", inside, "offline", ...command], {
    cwd: options.cwd,
    encoding: "utf8",
    input: options.input ?? "",
    timeout: 240_000,
    maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      NODE: process.execPath,
      MODEL,
      SCRIPT: script,
      LOG: log,
      MODEL_URL,
      ANTHROPIC_BASE_URL: MODEL_URL,
      ANTHROPIC_API_KEY: "scripted",
      OPENAI_API_KEY: "scripted",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTO_COMPACT: "1",
      ...options.env,
    },
  });
  const requests = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return { status: done.status, stdout: done.stdout, stderr: done.stderr, requests };
}
