/**
 * Parsing against the bare pass over the same bytes (read, decode, split, JSON.parse) in the same run. Goal: at most
 * 2.5 times. `npm run bench -- parse [client ...]`; needs the samples (POND_SAMPLES). Peak memory is the process's.
 */
import { readFile } from "node:fs/promises";
import { adapterNamed, adapters } from "../src/adapters/index.ts";
import type { Adapter, Unit } from "../src/adapters/index.ts";
import { listUnits, LATER, NOWHERE, placeAt } from "../test/support/adapter-run.ts";
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
  const { units } = await listUnits(adapter, root);
  const bare: number[] = [];
  const parse: number[] = [];
  let work = { bytes: 0, records: 0 };
  let events = 0;
  // Alternating, so that a noisy moment falls on both.
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    work = await barePass(units);
    const middle = performance.now();
    events = await parsePass(adapter, units, root);
    bare.push(middle - start);
    parse.push(performance.now() - middle);
  }
  const ratio = Math.min(...parse) / Math.min(...bare);
  const megabytes = work.bytes / 1e6;
  const rate = (megabytes / Math.min(...parse)) * 1000;
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(
    `${adapter.name}: ${units.length} units, ${megabytes.toFixed(1)} MB, ${work.records} records, ${events} events\n` +
      `  bare pass ${Math.min(...bare).toFixed(0)} ms, parse ${Math.min(...parse).toFixed(0)} ms ` +
      `(best of ${ROUNDS}), ${rate.toFixed(0)} MB/s, peak RSS ${peak} MB\n` +
      `  ratio ${ratio.toFixed(2)} (goal ${GOAL}): ${ratio <= GOAL ? "met" : "MISSED"}`,
  );
}

/** What any reader of these files has to do. */
async function barePass(
  units: readonly Unit[],
): Promise<{ readonly bytes: number; readonly records: number }> {
  let bytes = 0;
  let records = 0;
  for (const unit of units)
    for (const { path } of unit.files) {
      const data = await readFile(path);
      bytes += data.length;
      if (!path.endsWith(".jsonl")) continue;
      for (const line of data.toString("utf8").split("\n")) {
        if (line.trim() === "") continue;
        try {
          JSON.parse(line);
          records += 1;
        } catch {
          // Bad lines are part of the samples.
        }
      }
    }
  return { bytes, records };
}

async function parsePass(adapter: Adapter, units: readonly Unit[], root: string): Promise<number> {
  let events = 0;
  const request = { place: placeAt(root), machine: NOWHERE, now: LATER };
  for (const unit of units) for await (const batch of adapter.read(unit, request)) events += batch.length;
  return events;
}
