/**
 * What the same work costs in stores of different sizes: a store that costs twice as much at twice its size is not flat.
 * `npm run bench -- growth [sizes in GB of sources, 0 1 2 4] [new=500]`: into each size `new` MB of new sessions are
 * imported, then all else is measured on what is there. `growth logs [200000]`: that many tiny logs against a bare sweep
 * over them. `growth log [1000]`: one log of so many MB, and the pages of its session. Run after `npm run build`. Wall
 * times are noisy where others work: read CPU seconds, memory and ratios.
 */
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Copies } from "./copies.ts";
import type { Ended } from "./process.ts";
import { bareSweep, bytesBelow, medianOf, pond, pondWatched } from "./process.ts";
import { record, writeTinyLogs } from "./tiny-logs.ts";

const GB = 1e9;
const MB = 1e6;
const ROUNDS = 3;

export async function run(): Promise<void> {
  const [what, amount] = process.argv.slice(3);
  const home = mkdtempSync(join(tmpdir(), "pond-bench-"));
  try {
    if (what === "logs") manyLogs(home, Number(amount ?? 200_000));
    else if (what === "log") oneLog(home, Number(amount ?? 1000) * MB);
    else await sizes(home, process.argv.slice(3));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function sizes(home: string, args: readonly string[]): Promise<void> {
  const given = args.filter((arg) => !arg.includes("=")).map(Number);
  const fresh = Number(args.find((arg) => arg.startsWith("new="))?.slice("new=".length) ?? 500) * MB;
  const copies = Copies.into(home);
  let stored = 0;
  for (const size of given.length === 0 ? [0, 1, 2, 4] : given) {
    while (stored < size * GB) {
      stored += copies.add(Math.min(fresh, size * GB - stored)).bytes;
      pond(home, ["sync", "--quiet"]);
    }
    const before = stored;
    const { bytes, logs } = copies.add(fresh);
    stored += bytes;
    console.log(`\n${amountOf(before)} stored, then ${amountOf(bytes)} of new sessions`);
    heading();
    importAll(home);
    line("one new message", oneMessage(home, logs));
    noOp(home);
    reads(home);
    await updateIndexes(home);
  }
}

function manyLogs(home: string, files: number): void {
  const logs = writeTinyLogs(home, files);
  console.log(`${files} logs of two messages`);
  heading();
  importAll(home);
  noOp(home);
  line("one new message", oneMessage(home, logs));
  reads(home);
}

function oneLog(home: string, bytes: number): void {
  const folder = join(home, ".claude/projects/-home-me-project");
  mkdirSync(folder, { recursive: true });
  const id = "00000000-0000-4000-8000-000000000000";
  const path = join(folder, `${id}.jsonl`);
  const file = openSync(path, "w");
  let messages = 0;
  for (let written = 0; written < bytes; messages++)
    written += writeSync(file, record(id, messages, "some words of a message ".repeat(140)));
  closeSync(file);
  console.log(`one log of ${amountOf(bytes)}, ${messages} messages`);
  heading();
  importAll(home);
  line("one new message", oneMessage(home, [path]));
  for (const from of ["start", "end"])
    for (const mode of ["conversational", "verbatim"])
      line(`get, ${mode}, ${from}`, pond(home, ["get", id, "--json", "--from", from, "--mode", mode]));
}

/** A sync, its indexes included; the stages tell their own wall times. */
function importAll(home: string): void {
  const ended = pond(home, ["sync", "--json"]);
  const { took } = JSON.parse(ended.stdout) as { took: { import: number; "update-indexes": number } };
  const stages = [took.import, took["update-indexes"]].map((each) => (each / 1000).toFixed(1));
  line("import", ended, `reading and storing ${stages[0]} s, indexes ${stages[1]} s`);
}

function oneMessage(home: string, logs: readonly string[]): Ended {
  return median((round) => {
    const path = logs[(round * 7) % logs.length] ?? "";
    appendFileSync(path, record(basename(path, ".jsonl"), 1e6 + round, "one more message"));
    return pond(home, ["sync", "--quiet"]);
  });
}

function noOp(home: string): void {
  const sweep = median(() => bareSweep(home, join(home, ".claude")));
  const idle = median(() => pond(home, ["sync", "--quiet"]));
  line("bare stat sweep", sweep);
  line("no-op sync", idle, `${(idle.cpu / sweep.cpu).toFixed(2)} bare sweeps`);
}

function reads(home: string): void {
  const list = median(() => pond(home, ["sessions", "--json"]));
  const { total } = JSON.parse(list.stdout) as { total: number };
  line("sessions", list, `${total} sessions`);
  line(
    "search",
    median(() => pond(home, ["search", "--json", "message failed test"])),
  );
}

/** With the highest that the store's folder came to on the way. */
async function updateIndexes(home: string): Promise<void> {
  const folder = join(home, ".local/share/pond");
  const before = bytesBelow(folder);
  let most = before;
  const look = (): void => void (most = Math.max(most, bytesBelow(folder)));
  const ended = await pondWatched(home, ["sync", "--quiet", "--only", "update-indexes"], look);
  const after = bytesBelow(folder);
  line(
    "update-indexes",
    ended,
    `store ${amountOf(before)}, at most ${amountOf(most)}, then ${amountOf(after)}`,
  );
}

const median = (measure: (round: number) => Ended): Ended => medianOf(ROUNDS, measure, ({ cpu }) => cpu);

function heading(): void {
  console.log(`${"".padEnd(28)} CPU s   wall s  peak MB`);
}

function line(what: string, { cpu, seconds, rss }: Ended, more = ""): void {
  const cells = [cpu.toFixed(2), seconds.toFixed(2), rss.toFixed(0)].map((cell) => cell.padStart(8));
  console.log(`${what.padEnd(26)}${cells.join(" ")}  ${more}`.trimEnd());
}

const amountOf = (bytes: number): string => `${(bytes / MB).toFixed(0)} MB`;
