/**
 * `pond sync` as a user runs it: everything of the Claude Code and Codex samples against a bare parse of the same bytes
 * and against the least that a sync must do (sync-floor.mjs), a sync with nothing to do against a bare stat sweep of the
 * same tree, one grown file among 20,000, and one more message in a large log against one in a small one.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { adapterNamed } from "../src/adapters/index.ts";
import { openAt, unitsOf } from "../test/support/adapter-run.ts";
import { writeBatches } from "./batches.ts";
import { LAUNCHER_FLAGS } from "./launcher.ts";
import { NO_SAMPLES, samplesOf } from "../test/support/samples.ts";
import { parsePass } from "./parse.ts";
import { bytesBelow, listFiles, medianOf, pond, spawn } from "./process.ts";
import { record, writeTinyLogs } from "./tiny-logs.ts";

const FLOOR = resolve(import.meta.dirname, "sync-floor.mjs");
const ROUNDS = 5;

export async function run(): Promise<void> {
  const which = process.argv[3];
  if (which === undefined || which === "full") await fullSync();
  for (const files of [5000, 20_000]) if (which === undefined || which === String(files)) noOp(files);
  if (which === undefined || which === "grown") for (const megabytes of [1, 50]) grownLog(megabytes);
}

/** One `pond sync` into a new store, indexes included; the stages tell their own times. */
async function fullSync(): Promise<void> {
  for (const adapter of ["claude-code", "codex-cli"]) {
    const folder = samplesOf(adapter);
    if (folder === undefined) return console.log(`full sync: skipped, ${NO_SAMPLES}`);
    const bare = bareParse(folder);
    const parse = await parseAlone(adapter, folder);
    const batches = mkdtempSync(join(tmpdir(), "pond-bench-"));
    await writeBatches(adapter, folder, batches);
    const rounds = Array.from({ length: 3 }, () => ({
      ...syncOnce(adapter, folder),
      alone: bareAlone(folder),
      floor: spawn(folder, [...LAUNCHER_FLAGS, FLOOR, folder, batches]).seconds,
    }));
    rmSync(batches, { recursive: true, force: true });
    const alone = Math.min(...rounds.map((round) => round.alone));
    const floor = Math.min(...rounds.map((round) => round.floor));
    const { seconds, rss, took, messages, disk } = rounds.toSorted((a, b) => a.seconds - b.seconds)[0]!;
    console.log(
      `${adapter}: ${(bare.bytes / 1e6).toFixed(0)} MB, ${messages} messages; sync ${seconds.toFixed(2)} s ` +
        `(import ${ms(took.import / 1000)}, of which reading and mapping ${ms(parse)}; indexes ${ms(took["update-indexes"] / 1000)}), ` +
        `${(bare.bytes / 1e6 / seconds).toFixed(1)} MB/s, ${Math.round(messages / seconds)} messages/s, peak ${rss.toFixed(0)} MB; ` +
        `bare parse ${ms(bare.seconds)} in a process that is warm: ratio ${(seconds / bare.seconds).toFixed(2)}; ` +
        `${ms(alone)} as a process of its own, as a sync is: ratio ${(seconds / alone).toFixed(2)}; ` +
        `the least that a sync must do ${ms(floor)}: ${(floor / bare.seconds).toFixed(2)} bare parses, ratio ${(seconds / floor).toFixed(2)}; ` +
        `store ${(disk / bare.bytes).toFixed(3)} of the source`,
    );
  }
}

function syncOnce(adapter: string, folder: string) {
  const home = mkdtempSync(join(tmpdir(), "pond-bench-"));
  const { stdout, seconds, rss } = pond(home, ["sync", "--json", "--adapter", adapter, "--path", folder]);
  const report = JSON.parse(stdout) as {
    clients: [{ stored: { messages: { inserted: number } } }];
    took: { import: number; "update-indexes": number };
  };
  const disk = bytesBelow(join(home, ".local/share/pond"));
  rmSync(home, { recursive: true, force: true });
  return { seconds, rss, disk, took: report.took, messages: report.clients[0].stored.messages.inserted };
}

/** Seconds to read and map everything, keeping nothing. */
async function parseAlone(name: string, folder: string): Promise<number> {
  const adapter = adapterNamed(name);
  if (adapter === undefined) return Number.NaN;
  await using opened = await openAt(adapter, folder);
  const { units } = await unitsOf(opened);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const start = process.hrtime.bigint();
    await parsePass(opened, units);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
  }
  return best;
}

/** Read, decode, split, parse: what any reader of these files must do at least. The best of three rounds. */
function bareParse(folder: string): { readonly bytes: number; readonly seconds: number } {
  const files = listFiles(folder).filter((path) => path.endsWith(".jsonl"));
  let best = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let round = 0; round < 3; round++) {
    const start = process.hrtime.bigint();
    bytes = parseFiles(files);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9);
  }
  return { bytes, seconds: best };
}

/** The same from start to end of a process, which compiles its code as it goes. */
function bareAlone(folder: string): number {
  const files = listFiles(folder).filter((path) => path.endsWith(".jsonl"));
  return spawn(folder, ["-e", `(${parseFiles.toString()})(${JSON.stringify(files)})`]).seconds;
}

/** Complete in itself, so that its text is a program. */
function parseFiles(paths: readonly string[]): number {
  const { readFileSync: read } = process.getBuiltinModule("node:fs");
  let bytes = 0;
  for (const path of paths) {
    const content = read(path);
    bytes += content.length;
    for (const line of content.toString("utf8").split("\n")) {
      if (line === "") continue;
      try {
        JSON.parse(line);
      } catch {
        // Some samples are damaged on purpose.
      }
    }
  }
  return bytes;
}

function noOp(files: number): void {
  const home = mkdtempSync(join(tmpdir(), "pond-bench-"));
  const logs = writeTinyLogs(home, files);
  const first = pond(home, ["sync", "--quiet"]);
  const start = median(() => spawn(home, ["-e", "0"]).seconds);
  const sweep = median(() => statSweep(join(home, ".claude")));
  const idle = median(() => pond(home, ["sync", "--quiet"]).seconds);
  const { rss } = pond(home, ["sync", "--quiet"]);
  const grown = median((round) => {
    appendFileSync(logs[round * 7] ?? "", record("grown", 100 + round));
    return pond(home, ["sync", "--quiet"]).seconds;
  });
  const bound = start + 3 * sweep;
  console.log(
    `${files} files: first sync ${first.seconds.toFixed(1)} s; no-op ${ms(idle)}, peak ${rss.toFixed(0)} MB ` +
      `(node ${ms(start)} + 3 x stat sweep ${ms(sweep)} = ${ms(bound)}: ratio ${(idle / bound).toFixed(2)}); ` +
      `one grown file ${ms(grown)}, ${ms(grown - idle)} above the no-op`,
  );
  rmSync(home, { recursive: true, force: true });
}

/** CPU time, which tells more than the clock does on a busy machine. */
function grownLog(megabytes: number): void {
  const home = mkdtempSync(join(tmpdir(), "pond-bench-"));
  const folder = join(home, ".claude/projects/-home-me-project");
  mkdirSync(folder, { recursive: true });
  const id = "00000000-0000-4000-8000-000000000000";
  const path = join(folder, `${id}.jsonl`);
  const text = "some words of a message ".repeat(90);
  for (let n = 0; n < megabytes * 400; n++) appendFileSync(path, record(id, n, text));
  const bytes = statSync(path).size;
  const first = pond(home, ["sync", "--quiet"]);
  const more = median((round) => {
    appendFileSync(path, record(id, 1e6 + round, text));
    return pond(home, ["sync", "--quiet"]).cpu;
  });
  const kept = bytesBelow(join(home, ".local/state/pond/prefixes"));
  console.log(
    `a log of ${(bytes / 1e6).toFixed(1)} MB: first sync ${ms(first.cpu)}, one more message ${ms(more)} of CPU time; ` +
      `kept of it ${(kept / 1e3).toFixed(0)} KB, ${((kept / bytes) * 100).toFixed(2)} %`,
  );
  rmSync(home, { recursive: true, force: true });
}

function statSweep(folder: string): number {
  const start = process.hrtime.bigint();
  for (const path of listFiles(folder)) statSync(path);
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function median(measure: (round: number) => number): number {
  return medianOf(ROUNDS, measure, (value) => value);
}

const ms = (seconds: number): string => `${Math.round(seconds * 1000)} ms`;
