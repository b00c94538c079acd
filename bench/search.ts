/**
 * The speed of search in a large store, warm, as a process that lives long answers (spec.md#search-windows): by words, filtered,
 * for exact text and patterns, and a page of `get`; what one bare full-text call of the engine takes in the same run, and the
 * first search of a new process. `npm run bench -- search [messages] [--keep folder]`: 500,000 messages unless told
 * otherwise; a store in the folder is used as it is and kept. CPU says more than time where others work.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { loadConfig } from "../src/config/index.ts";
import type { Context } from "../src/handlers/index.ts";
import { createContext, get, search } from "../src/handlers/index.ts";
import type { Event } from "../src/model/index.ts";
import type { SearchRequest } from "../src/wire/index.ts";
import { ENTRY_FLAGS, LAUNCHER_ENV, LAUNCHER_FLAGS } from "./launcher.ts";
import { madeSessions, questions, wordAt } from "./search/sessions.ts";

const MESSAGES = 500_000;
const ROUNDS = 100;
const SCANS = 3;
/** Messages that the engine is asked for by the bare call: as many as a first page ranks. */
const POOL = 1000;
const COLD = "--cold";

export async function run(): Promise<void> {
  const args = process.argv.slice(3);
  const [first] = args;
  const keepAt = args.indexOf("--keep");
  const kept = keepAt < 0 ? undefined : args[keepAt + 1];
  if (first === COLD) return askOnce(args[1] ?? "");
  const messages = first === undefined || first.startsWith("--") ? MESSAGES : Number(first);
  const folder = kept ?? mkdtempSync(join(tmpdir(), "pond-bench-"));
  await using context = await openContext(folder);
  if (!existsSync(join(folder, "default"))) await fill(context, messages);
  await report(context, folder);
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}

async function openContext(folder: string): Promise<Context> {
  const env = { POND_STORE: folder };
  const environment = { env, home: tmpdir(), platform: process.platform, cwd: tmpdir() };
  const { signal } = new AbortController();
  return createContext({ config: await loadConfig({ environment }), machine: environment, signal });
}

async function fill(context: Context, messages: number): Promise<void> {
  const store = await context.store();
  const ingest = store.ingest({ clock: systemClock });
  let events: Event[] = [];
  for (const session of madeSessions(messages)) {
    events.push(...session.events);
    if (events.length < 5000) continue;
    await ingest.add(events);
    events = [];
  }
  await ingest.add(events);
  await ingest.flush();
  await store.maintain({ force: true, retentionMs: 0 });
  await store.refreshSummaries();
}

async function report(context: Context, folder: string): Promise<void> {
  const store = await context.store();
  const { newestFirst } = await store.summaries();
  const texts = newestFirst.reduce((sum, session) => sum + session.texts, 0);
  const messages = await store.tables.messages.count();
  console.log(`${messages} messages, ${texts} with text, ${newestFirst.length} sessions`);
  console.log(`first search of a process: ${coldOf(folder)}`);
  console.log(
    `${"".padEnd(34)}     CPU ms          wall ms\n${"".padEnd(34)}   p50    p95     p50    p95  bare calls`,
  );
  const asked = questions(3 * ROUNDS);
  const query = (round: number): string => asked[round] ?? "";
  const bare = await measure("bare full-text call", (round) =>
    store.tables.messages.search({
      column: "search_text",
      query: { match: query(round) },
      select: [],
      limit: POOL,
    }),
  );
  const searched = (
    name: string,
    request: (round: number) => SearchRequest,
    rounds = ROUNDS,
  ): Promise<number> => measure(name, (round) => search(context, request(round)), { rounds, bare });
  await searched("words", (round) => ({ query: query(round) }));
  await searched("words, asked before", (round) => ({ query: query(ROUNDS + (round % ROUNDS)) }));
  await searched("words, one project of 40", (round) => ({
    query: query(round),
    filters: { project: wordAt(200 + (round % 40)) },
  }));
  // Each from another day on: a count that is kept for the same filters says nothing of this.
  await searched("words, by date", (round) => ({
    query: query(round),
    filters: { from_date: new Date(Date.UTC(2025, 3, 1 + round)).toISOString() },
  }));
  await searched("words, by role", (round) => ({ query: query(round), filters: { role: "user" } }));
  // Place of the arms that are planned: vectors, fused.
  // One that cannot be answered in time took as long.
  const scanned = (name: string, request: (round: number) => SearchRequest): Promise<number> =>
    measure(name, (round) => search(context, request(round)).catch(() => undefined), {
      rounds: SCANS,
      bare,
    });
  await scanned("exact, with hits", (round) => ({
    query: query(round).split(" ").at(-1) ?? "",
    mode: "exact",
  }));
  await scanned("exact, without hits", (round) => ({ query: `absent ${round} zq`, mode: "exact" }));
  await scanned("regex, with hits", (round) => ({ query: `error E1\\d${round}4`, mode: "regex" }));
  await scanned("regex, without hits", (round) => ({ query: `absent[0-9] ${round}`, mode: "regex" }));
  const session = (round: number): string => newestFirst[(round * 331) % newestFirst.length]?.id ?? "";
  await measure("get, a page of 20", (round) => get(context, { session_id: session(round), limit: 20 }), {
    bare,
  });
  console.log(`memory: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
}

interface Measuring {
  readonly rounds?: number;
  /** CPU of the bare call, to compare with. */
  readonly bare?: number;
}

/**
 * Its CPU time, p50. Warm is what comes after as many rounds before, of other numbers: the engine's caches are filled, the code
 * is compiled, and what is asked is new.
 */
async function measure(
  name: string,
  work: (round: number) => Promise<unknown>,
  { rounds = ROUNDS, bare }: Measuring = {},
): Promise<number> {
  for (let round = 0; round < rounds; round++) await work(round);
  const cpu: number[] = [];
  const wall: number[] = [];
  for (let round = rounds; round < 2 * rounds; round++) {
    const before = process.cpuUsage();
    const start = performance.now();
    await work(round);
    wall.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  }
  const p50 = quantile(cpu, 0.5);
  const cells = [p50, quantile(cpu, 0.95), quantile(wall, 0.5), quantile(wall, 0.95)];
  const shown = cells.map((value) => value.toFixed(value < 100 ? 1 : 0).padStart(6)).join(" ");
  console.log(
    `${name.padEnd(34)}${shown}  ${bare === undefined ? "" : (p50 / bare).toFixed(1).padStart(8)}`.trimEnd(),
  );
  return p50;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
}

/** In a process of its own: the engine and the store are opened before, as a command opens them. */
function coldOf(folder: string): string {
  const args = [...LAUNCHER_FLAGS, ...ENTRY_FLAGS, process.argv[1] ?? "", "search", COLD, folder];
  const env = { ...process.env, ...LAUNCHER_ENV };
  return execFileSync(process.execPath, args, { encoding: "utf8", env }).trim();
}

async function askOnce(folder: string): Promise<void> {
  await using context = await openContext(folder);
  const start = performance.now();
  const before = process.cpuUsage();
  await search(context, { query: questions(1)[0] ?? "" });
  const { user, system } = process.cpuUsage(before);
  const rss = `${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`;
  console.log(
    `${(performance.now() - start).toFixed(0)} ms, ${((user + system) / 1000).toFixed(0)} ms CPU, ${rss}`,
  );
}
