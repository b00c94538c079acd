/** Runs the built command as a user does: another process, its own home, its own pipes. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { demoFiles } from "../../src/handlers/setup/demo-corpus.ts";
import { WITHOUT_VECTORS } from "../support/without-vectors.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BIN = join(ROOT, "bin", "pond.js");

const stale = existsSync(join(ROOT, "dist/.stamp"))
  ? execFileSync("find", ["src", "-newer", "dist/.stamp", "!", "-name", "*test.ts"], {
      cwd: ROOT,
      encoding: "utf8",
    })
  : "no dist";
if (stale !== "") throw new Error(`dist is older than src: npm run build (${stale.trim()})`);

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A pseudo-terminal without a native module: script(1) of util-linux. */
export const hasScript = spawnSync("script", ["--version"]).status === 0;
if (!hasScript) console.warn("skipped: no script(1) here, so nothing is run on a pseudo-terminal");

/** Compiled code of the tests' own processes, which a new home does not have. */
const compiled = process.env["NODE_COMPILE_CACHE"];

/** The environment of a person with an empty home: nothing of the machine that runs the tests. */
export const cleanEnv = (home: string, env: Options["env"] = {}): Record<string, string> => ({
  HOME: home,
  PATH: process.env["PATH"] ?? "",
  ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
  ...WITHOUT_VECTORS,
  ...env,
});

const PROGRESS = /^(?:\d+% .*|bringing the indexes up to date)\n/gm;

export class TempHome {
  readonly path = mkdtempSync(join(tmpdir(), "pond-cli-"));

  /** Writes the sessions of `pond demo` where their clients would have. */
  addDemoSessions(): void {
    for (const { path, content } of demoFiles()) {
      mkdirSync(dirname(join(this.path, path)), { recursive: true });
      writeFileSync(join(this.path, path), content);
    }
  }

  /** `pond <args>`. Whether it takes long enough to tell how far it is depends on the machine: that is left out. */
  async pond(args: readonly string[], options: Options = {}): Promise<Ended> {
    const ended = await this.exec(process.execPath, [BIN, ...args], options);
    return { ...ended, stderr: ended.stderr.replaceAll(PROGRESS, "") };
  }

  exec(file: string, args: readonly string[], { env, cwd = this.path }: Options = {}): Promise<Ended> {
    return new Promise((resolve) => {
      const child = execFile(file, args, { cwd, env: cleanEnv(this.path, env) }, (error, stdout, stderr) => {
        const notStarted = error !== null && child.pid === undefined ? error.message : "";
        resolve({ stdout, stderr: stderr + notStarted, code: child.exitCode });
      });
      child.stdin?.end();
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
