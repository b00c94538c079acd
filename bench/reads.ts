/**
 * Reads of a large store, warm: a page of 20 messages with their parts out of 500,000 messages and 1,500,000 parts, from
 * the store and through `get`; through the handlers the newest 50 of 20,000 sessions, searches by words and exact text.
 * `npm run bench -- reads [scale] [folder]`: the scale divides the numbers for a quick look; a store in the folder is
 * used as it is and kept. Wall times are noisy where others work: the CPU of a request says more.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { loadConfig } from "../src/config/index.ts";
import type { Context } from "../src/handlers/index.ts";
import { createContext, get, listSessions, search } from "../src/handlers/index.ts";
import type { Event, Part } from "../src/model/index.ts";
import { hydrateTree, planTree, resolveTree } from "../src/model/tree/index.ts";
import { partId, sessionId } from "../src/model/index.ts";
import { sealExtracted } from "../src/model/extracted.ts";
import type { SessionStore } from "../src/sessions/index.ts";
import { corpus } from "./corpus.ts";

const SESSIONS = 20_000;
const MESSAGES = 25;
const ROUNDS = 101;
/** From the most frequent word of the corpus to a rare one, and a name that is found by its piece. */
const QUERIES = ["reta", "conma terin", "tering polo verma", "exloma", "giingGiing"];

export async function run(): Promise<void> {
  const sessions = Math.round(SESSIONS / Number(process.argv[3] ?? "1"));
  const kept = process.argv[4];
  const folder = kept ?? mkdtempSync(join(tmpdir(), "pond-bench-"));
  const isNew = !existsSync(join(folder, "default"));
  await using context = await openContext(folder);
  if (isNew) await fill(context, sessions);
  await report(context);
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}

async function openContext(folder: string): Promise<Context> {
  const environment = {
    env: { POND_STORE: folder },
    home: tmpdir(),
    platform: process.platform,
    cwd: tmpdir(),
  };
  const { signal } = new AbortController();
  return createContext({ config: await loadConfig({ environment }), machine: environment, signal });
}

async function fill(context: Context, sessions: number): Promise<void> {
  const store = await context.store();
  const ingest = store.ingest({ clock: systemClock });
  let chunk: Event[] = [];
  for (const event of tripled(corpus({ name: "reads", sessions, messages: MESSAGES }))) {
    chunk.push(event);
    if (chunk.length < 2000) continue;
    await ingest.add(chunk);
    chunk = [];
  }
  await ingest.add(chunk);
  await ingest.flush();
  await store.maintain({ force: true, retentionMs: 0 });
  await store.refreshSummaries();
}

/** Two more parts a message: a shorter copy and an injected one. */
function* tripled(events: Iterable<Event>): Generator<Event> {
  for (const event of events) {
    yield event;
    if (event.kind !== "part") continue;
    yield { kind: "part", part: copyOf(event.part, 1, "conversational") };
    yield { kind: "part", part: copyOf(event.part, 2, "injected") };
  }
}

function copyOf(part: Part, ordinal: number, provenance: Part["provenance"]): Part {
  const copy = { ...part, id: partId(String(ordinal)), ordinal };
  return copy.type === "text"
    ? { ...copy, provenance, text: sealExtracted((copy.text ?? "").slice(0, 300)) }
    : copy;
}

async function report(context: Context): Promise<void> {
  const store = await context.store();
  const opened = performance.now();
  const { newestFirst } = await store.summaries();
  const [messages, parts] = await Promise.all([store.tables.messages.count(), store.tables.parts.count()]);
  console.log(
    `${messages} messages, ${parts} parts, ${newestFirst.length} sessions; summaries read in ${ms(performance.now() - opened)}`,
  );
  console.log("                                        p50       p95   CPU");
  const session = (round: number): string => newestFirst[(round * 331) % newestFirst.length]?.id ?? "";
  const query = (round: number): string => QUERIES[round % QUERIES.length] ?? "";
  await measure("20 messages with all parts", (round) => readPage(store, session(round)));
  for (const response_mode of ["conversational", "complete", "verbatim"] as const)
    await measure(`get, 20 messages, ${response_mode}`, (round) =>
      get(context, { session_id: session(round), response_mode }),
    );
  await measure("sessions, newest 50", () => listSessions(context, { limit: 50 }));
  await measure("search by words", (round) => search(context, { query: query(round) }));
  await measure("search by words, filtered", (round) =>
    search(context, {
      query: query(round),
      filters: { role: "user", from_date: "2026-01-01", project: "re" },
    }),
  );
  await measure("search, exact, frequent", () => search(context, { query: "reta conma", mode: "exact" }), 5);
  await measure(
    "search, exact, absent",
    (round) => search(context, { query: `absent${round}`, mode: "exact" }),
    3,
  );
}

/** The page as the store gives it: canonical messages and parts, every body read. */
async function readPage(store: SessionStore, id: string): Promise<unknown> {
  const source = store.tree({ payloads: false, outlines: store.summaries(), ahead: ["bodies"] });
  const plan = await planTree(source, sessionId(id), { depth: 0, messages: { limit: 20 } });
  const refs = await resolveTree(source, plan.value, (node) => "session_id" in node);
  return hydrateTree(source, refs.value);
}

async function measure(
  name: string,
  work: (round: number) => Promise<unknown>,
  rounds = ROUNDS,
): Promise<void> {
  // Warm is the second time: the engine's caches are filled, the code is compiled.
  for (let round = 0; round < (rounds === ROUNDS ? rounds : 1); round++) await work(round);
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const cpu = (user + system) / 1000 / rounds;
  console.log(
    `${name.padEnd(34)} ${ms(at(0.5)).padStart(9)} ${ms(at(0.95)).padStart(9)} ${ms(cpu).padStart(9)}`,
  );
}

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
