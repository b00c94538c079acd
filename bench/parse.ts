/**
 * Parsing against the bare pass over the same bytes (read, decode, split, JSON.parse) in the same run. Goal: at most
 * 2.5 times. `npm run bench -- parse [client ...]`; needs the samples (POND_SAMPLES). Peak memory is the process's.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { adapterNamed, adapters } from "../src/adapters/index.ts";
import type { Adapter, OpenedPlace, Unit } from "../src/adapters/index.ts";
import { LATER, openAt, unitsOf } from "../test/support/adapter-run.ts";
import { NO_SAMPLES, samplesOf } from "../test/support/samples.ts";

const ROUNDS = 5;
const GOAL = 2.5;

export async function run(): Promise<void> {
  const names = process.argv.slice(3);
  const chosen = names.length === 0 ? adapters() : names.flatMap((name) => adapterNamed(name) ?? []);
  for (const adapter of chosen) await runAdapter(adapter);
}

async function runAdapter(adapter: Adapter): Promise<void> {
  const root = samplesOf(adapter.name);
  if (root === undefined) {
    console.log(`${adapter.name}: ${NO_SAMPLES}`);
    return;
  }
  await using opened = await openAt(adapter, root);
  const { units } = await unitsOf(opened);
  const bare: Cost[] = [];
  const parse: Cost[] = [];
  let work = { bytes: 0, records: 0 };
  let events = 0;
  // Alternating, so that a noisy moment falls on both.
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await costOf(async () => (work = await barePass(units))));
    parse.push(await costOf(async () => (events = await parsePass(opened, units))));
  }
  const ratio = best(parse, "cpu") / best(bare, "cpu");
  const megabytes = work.bytes / 1e6;
  const rate = (megabytes / best(parse, "wall")) * 1000;
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  const shown = (costs: readonly Cost[]): string =>
    `${best(costs, "cpu").toFixed(0)} ms CPU (${best(costs, "wall").toFixed(0)} ms wall)`;
  console.log(
    `${adapter.name}: ${units.length} units, ${megabytes.toFixed(1)} MB, ${work.records} records, ${events} events\n` +
      `  bare pass ${shown(bare)}, parse ${shown(parse)}, best of ${ROUNDS}, ` +
      `${rate.toFixed(0)} MB/s, peak RSS ${peak} MB\n` +
      `  ratio ${ratio.toFixed(2)} of CPU time (goal ${GOAL}): ${ratio <= GOAL ? "met" : "MISSED"}`,
  );
}

/** Milliseconds. A busy machine stretches the wall clock, and more so for whoever waits more often. */
interface Cost {
  readonly cpu: number;
  readonly wall: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000, wall: performance.now() - start };
}

function best(costs: readonly Cost[], kind: keyof Cost): number {
  return Math.min(...costs.map((cost) => cost[kind]));
}

/** What any reader of these files has to do: lines, whole files and rows of a database, each parsed as JSON. */
async function barePass(
  units: readonly Unit[],
): Promise<{ readonly bytes: number; readonly records: number }> {
  let bytes = 0;
  let records = 0;
  const folders = new Set<string>();
  const parse = (text: string): void => {
    if (text.trim() === "") return;
    try {
      JSON.parse(text);
      records += 1;
    } catch {
      // Bad lines are part of the samples.
    }
  };
  for (const unit of units)
    for (const { path } of unit.files) {
      if (statSync(path).isDirectory()) {
        // Sessions of one tree share a folder.
        if (!folders.has(path)) for (const text of await filesBelow(path)) parse(text);
        folders.add(path);
      } else if (path.endsWith(".db")) bytes += bareRows(path, parse);
      else {
        // As pond reads logs: trips to the thread pool are no part of what parsing must cost.
        const data = readFileSync(path);
        bytes += data.length;
        if (path.endsWith(".json")) parse(data.toString("utf8"));
        if (path.endsWith(".jsonl")) for (const line of data.toString("utf8").split("\n")) parse(line);
      }
    }
  return { bytes, records };
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Promise.all(entries.map(async ({ parentPath, name }) => readFile(join(parentPath, name), "utf8")));
}

/** Every JSON column of every row, from the database as it stands without its log. */
function bareRows(path: string, parse: (text: string) => void): number {
  let bytes = 0;
  using database = new DatabaseSync(`file:${encodeURI(path)}?immutable=1`, { readOnly: true });
  for (const table of ["session", "message", "part", "sessions", "messages"]) {
    if (database.prepare("select 1 from sqlite_master where name = ?").get(table) === undefined) continue;
    for (const row of database.prepare(`select * from ${table}`).iterate())
      for (const value of Object.values(row))
        if (typeof value === "string" && /^[[{]/.test(value)) {
          bytes += value.length;
          parse(value);
        }
  }
  return bytes;
}

/** Everything an adapter makes of the units, kept nowhere. */
export async function parsePass(opened: OpenedPlace, units: readonly Unit[]): Promise<number> {
  let events = 0;
  for (const unit of units)
    for await (const batch of opened.read(unit, { now: LATER })) events += batch.length;
  return events;
}
