/**
 * A throwaway home in which real commands are killed at random moments, and what they leave there: everything below it is
 * looked at, so that nothing can hide (spec.md#storage-no-garbage).
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { BIN } from "../cli/pond.ts";
import { unneededIn } from "./unneeded.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program of test/support or the command itself, which is `pond`. */
export type Command = readonly [program: string, ...args: string[]];

const HOUR_MS = 3_600_000;
/** Past the hour that versions stay and past the day after which nobody is at a draft any more. */
const LONG_AGO_MS = 48 * HOUR_MS;

export class KillHome implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "pond-kills-"));
  readonly store = join(this.path, "data/pond/store");
  readonly state = join(this.path, "state/pond");
  readonly temporary = join(this.path, "tmp");
  /** Where restores go; what is in it is the test's to judge. */
  readonly targets = join(this.path, "targets");

  constructor() {
    mkdirSync(this.temporary);
  }

  start(command: Command, env: Readonly<Record<string, string>> = {}): ChildProcess {
    const [program, ...args] = command;
    const script = program === "pond" ? BIN : join(import.meta.dirname, program);
    return spawn(process.execPath, [script, ...args], {
      cwd: this.path,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...WITHOUT_VECTORS,
        HOME: this.path,
        PATH: process.env["PATH"] ?? "",
        TMPDIR: this.temporary,
        XDG_CONFIG_HOME: join(this.path, "config"),
        XDG_DATA_HOME: join(this.path, "data"),
        XDG_STATE_HOME: join(this.path, "state"),
        XDG_CACHE_HOME: join(this.path, "cache"),
        ...env,
      },
    });
  }

  run(command: Command, env?: Readonly<Record<string, string>>): Promise<Ended> {
    return ended(this.start(command, env));
  }

  /** As if two days had passed: of everything that pond has written, folders too. */
  passTime(): void {
    const at = Date.now() / 1000 - LONG_AGO_MS / 1000;
    for (const root of [this.store, this.state, this.temporary])
      for (const entry of entriesIn(root)) utimesSync(join(root, entry), at, at);
  }

  /** Everything below the home that should not be there once all commands have ended, by its path. */
  async left(): Promise<readonly string[]> {
    const left = [
      // Node keeps compiled code in cache/pond, whatever happens to a command.
      ...others(this.path, [".claude", "cache", "data", "state", "targets", "tmp"]),
      ...others(join(this.path, "cache"), ["pond"]),
      ...others(join(this.path, "data"), ["pond"]),
      ...others(join(this.path, "data/pond"), ["store"]),
      ...others(join(this.path, "state"), ["pond"]),
      ...this.#leftInState().map((path) => join(this.state, path)),
      ...entriesIn(this.temporary).map((path) => join(this.temporary, path)),
    ];
    for (const namespace of readdirSync(this.store)) {
      const folder = join(this.store, namespace);
      left.push(...(await unneededIn(folder, Date.now() - HOUR_MS)).map((path) => join(folder, path)));
    }
    return left.map((path) => relative(this.path, path));
  }

  /** Of cursors and the like only those of stores that are remembered stay. */
  #leftInState(): readonly string[] {
    const lines = readFileSync(join(this.state, "stores.jsonl"), "utf8").trimEnd().split("\n");
    const remembered = new Map(
      lines.map((line) => {
        const { url, namespace, cursors } = JSON.parse(line) as Record<string, string>;
        return [`${url} ${namespace}`, cursors];
      }),
    );
    const names = [...remembered.values()].join("|");
    const known = new RegExp(
      `^(?:reader|(?:stores|restores)\\.jsonl|locks|scratch|cursors|syncs|prefixes|(?:cursors|syncs)/(?:${names})\\.jsonl|prefixes/(?:${names})(?:/[0-9a-f]+\\.json)?)$`,
    );
    return entriesIn(this.state).filter((path) => !known.test(path));
  }

  /** Bytes of the files of a namespace. */
  sizes(namespace = "default"): ReadonlyMap<string, number> {
    const folder = join(this.store, namespace);
    const stats = entriesIn(folder).map((path) => [path, statSync(join(folder, path))] as const);
    return new Map(stats.filter(([, stat]) => stat.isFile()).map(([path, { size }]) => [path, size]));
  }

  bytes(namespace?: string): number {
    return [...this.sizes(namespace).values()].reduce((sum, size) => sum + size, 0);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 10 });
  }
}

function ended(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((done) => child.once("close", (code, signal) => done({ code, signal, stdout, stderr })));
}

/** Names of files and folders below one that may be missing, with their paths from there. */
const entriesIn = (root: string): string[] =>
  existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : [];

const others = (folder: string, known: readonly string[]): string[] =>
  readdirSync(folder)
    .filter((name) => !known.includes(name))
    .map((name) => join(folder, name));

export interface Kills {
  readonly home: KillHome;
  /** How many are to land. */
  readonly kills: number;
  /** Makes sure that there is something to do, and says what is to be killed at it. */
  readonly work: (landed: number) => Promise<{
    readonly command: Command;
    readonly env?: Readonly<Record<string, string>>;
  }>;
}

/** One of so many is left alone: what the killed ones did not come to makes the next run longer. */
const LEFT_ALONE_EVERY = 8;

/**
 * Kills runs at moments that are spread evenly over a whole run; how long one takes is learnt from those that are left alone,
 * and from those that ended first. Such a kill is none, and is tried again. Says how many runs it took.
 */
export async function killOften({ home, kills, work }: Kills): Promise<number> {
  let runs = 0;
  let length = 0;
  for (let landed = 0; landed < kills; runs += 1) {
    const { command, env } = await work(landed);
    const started = performance.now();
    const child = home.start(command, env);
    const isLeftAlone = runs % LEFT_ALONE_EVERY === 0;
    const timer = isLeftAlone ? undefined : setTimeout(() => child.kill("SIGKILL"), length * Math.random());
    const { code, signal, stderr } = await ended(child);
    clearTimeout(timer);
    const took = performance.now() - started;
    if (signal === "SIGKILL") landed += 1;
    else if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr}`);
    else length = isLeftAlone ? took : (length + took) / 2;
  }
  return runs;
}
