/**
 * Two throwaway homes, one for the command of each checkout, and the sources that both read: the fixtures of this
 * checkout, and the samples where there are any. The sources stand at one path, with old times, so that nothing waits.
 */
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { NO_SAMPLES, samplesOf } from "../../test/support/samples.ts";

const THIS = resolve(import.meta.dirname, "../..");
const FIXTURES = join(THIS, "test/fixtures");

/** The id of a state folder is random, and rows name it: both get this one. */
const READER = "same-as-reader-1";

/** What was printed while it ran: whether there is any depends on the machine. */
const PROGRESS = /^(?:\d+% .*|bringing the indexes up to date)\n/gm;

export interface Home {
  readonly checkout: string;
  readonly path: string;
  readonly store: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Bench {
  readonly folder: string;
  /** Of the clients that the checkout before knows. */
  readonly clients: readonly string[];
  readonly sources: string;
  readonly withSamples: boolean;
  readonly before: Home;
  readonly after: Home;
  sync(home: Home): Promise<Ended>;
}

export function makeBench(before: string, { withSamples }: { readonly withSamples: boolean }): Bench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pond-same-as-")));
  const sources = join(folder, "sources");
  const clients = readdirSync(join(resolve(before), "test/fixtures/adapters")).toSorted();
  const sampled = clients.filter((client) => layOut(client, join(sources, client), withSamples));
  if (withSamples && sampled.length === 0) console.log(NO_SAMPLES);
  const home = (name: string, checkout: string): Home => {
    const path = join(folder, name);
    write(
      join(path, ".config/pond/config.toml"),
      clients
        .map((client) => `[adapters.${client}]\npaths = [${JSON.stringify(join(sources, client))}]\n`)
        .join("\n"),
    );
    write(join(path, ".local/state/pond/reader"), READER);
    return { checkout, path, store: join(path, ".local/share/pond/store/default") };
  };
  return {
    folder,
    clients,
    sources,
    withSamples: sampled.length > 0,
    before: home("before", resolve(before)),
    after: home("after", THIS),
    sync: async (of) => {
      const ended = await pond(of, ["sync", "--json"]);
      if (ended.code !== 0 && ended.code !== 1)
        throw new Error(`sync ended with ${ended.code}: ${ended.stderr}`);
      return ended;
    },
  };
}

/** Returns whether there were samples. */
function layOut(client: string, to: string, withSamples: boolean): boolean {
  for (const kind of ["adapters", "handing-over"]) {
    const from = join(FIXTURES, kind, client);
    if (existsSync(from)) cpSync(from, join(to, kind), { recursive: true });
  }
  const samples = withSamples ? samplesOf(client) : undefined;
  if (samples !== undefined) cpSync(samples, join(to, "samples"), { recursive: true });
  for (const entry of readdirSync(to, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), 1, 1);
  return samples !== undefined;
}

/** With modes and times. */
export function copyFolder(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}

/** The built command of the home's checkout, or of another one in the same home. */
export function pond(home: Home, args: readonly string[], checkout = home.checkout): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [join(checkout, "bin/pond.js"), ...args],
      { cwd: home.path, env: { HOME: home.path, PATH: process.env["PATH"] ?? "" }, maxBuffer: 1 << 30 },
      (_, stdout, stderr) => done({ code: child.exitCode, stdout, stderr: stderr.replaceAll(PROGRESS, "") }),
    );
    child.stdin?.end();
  });
}

function write(path: string, content: string): void {
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, content);
}
