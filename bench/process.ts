/** Runs the built command, or any other program of Node's, and tells what it took. */
import { spawn as start, spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { LAUNCHER_ENV, LAUNCHER_FLAGS } from "./launcher.ts";

const BIN = resolve(import.meta.dirname, "../bin/pond.js");

export interface Ended {
  readonly seconds: number;
  /** Seconds of user and system time. */
  readonly cpu: number;
  /** Peak, in MB. */
  readonly rss: number;
  readonly stdout: string;
}

/** Runs pond as its launcher does, with this folder as the user's home. */
export function pond(home: string, args: readonly string[]): Ended {
  return spawn(home, [...LAUNCHER_FLAGS, BIN, ...args]);
}

/** GNU time tells the peak and the CPU time of another process. */
export function spawn(home: string, args: readonly string[]): Ended {
  const begun = process.hrtime.bigint();
  const child = spawnSync("/usr/bin/time", timed(args), {
    env: environment(home),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  return ended({ seconds, code: child.status, stdout: child.stdout, stderr: child.stderr });
}

/** The same while something is looked at again and again. */
export async function pondWatched(home: string, args: readonly string[], look: () => void): Promise<Ended> {
  const begun = process.hrtime.bigint();
  const child = start("/usr/bin/time", timed([...LAUNCHER_FLAGS, BIN, ...args]), { env: environment(home) });
  const told = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (told.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told.stderr += text));
  const looking = setInterval(look, LOOK_EVERY_MS);
  const code = await new Promise<number | null>((done) => void child.on("close", done));
  clearInterval(looking);
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  return ended({ seconds, code, ...told });
}

const LOOK_EVERY_MS = 50;

const timed = (args: readonly string[]): readonly string[] => ["-f", "%M %U %S", process.execPath, ...args];

const environment = (home: string): NodeJS.ProcessEnv => ({
  ...LAUNCHER_ENV,
  HOME: home,
  PATH: process.env["PATH"] ?? "",
});

function ended({ seconds, code, stdout, stderr }: Exit): Ended {
  const [kilobytes = 0, user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "")
    .split(" ")
    .map(Number);
  // 1: some samples are damaged on purpose.
  if (code !== 0 && code !== 1) throw new Error(stderr);
  return { seconds, cpu: user + system, rss: kilobytes / 1024, stdout };
}

interface Exit {
  readonly seconds: number;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The least that looking for changes takes: a process that lists a tree and stats each of its files. */
export function bareSweep(home: string, folder: string): Ended {
  return spawn(home, ["-e", `(${statAll.toString()})(${JSON.stringify(folder)})`]);
}

/** Complete in itself, so that its text is a program. */
function statAll(folder: string): number {
  const { readdirSync: list, statSync: look } = process.getBuiltinModule("node:fs");
  let bytes = 0;
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    for (const entry of list(next, { withFileTypes: true })) {
      const path = `${next}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else bytes += look(path).size;
    }
  return bytes;
}

export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Of what is there: files may come and go meanwhile. */
export function bytesBelow(folder: string): number {
  let bytes = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      bytes += entry.isDirectory()
        ? bytesBelow(path)
        : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  } catch {
    // The folder has just gone, or never was.
  }
  return bytes;
}

/** By the measure given. */
export function medianOf<T>(rounds: number, run: (round: number) => T, measure: (value: T) => number): T {
  const sorted = Array.from({ length: rounds }, (_, round) => run(round)).toSorted(
    (a, b) => measure(a) - measure(b),
  );
  const middle = sorted[Math.floor(rounds / 2)];
  if (middle === undefined) throw new Error("no rounds");
  return middle;
}
