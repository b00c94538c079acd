/**
 * Ingest of the Rust pond's shapes against a floor in the same run: the same rows built into the same Arrow batches
 * and committed with no checks. Each measurement runs in a process of its own, so that peak memory is its own. Where others
 * work on the machine, the ratio by CPU says more than the one by time: all threads, without making the corpus.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { stringifyJson } from "../src/base/json/json.ts";
import { eventSchema } from "../src/model/events/schema.ts";
import { searchText } from "../src/model/derived/index.ts";
import type { Event, Message, Part } from "../src/model/index.ts";
import { messageRow, partBytes, partRow, sessionRow } from "../src/sessions/tables/encode.ts";
import { DEFAULT_LIMITS } from "../src/sessions/ingest/index.ts";
import { SessionStore } from "../src/sessions/index.ts";
import { openStore } from "../src/substrate/index.ts";
import { corpus, type Shape } from "./corpus.ts";
import { ENTRY_FLAGS, LAUNCHER_ENV, LAUNCHER_FLAGS } from "./launcher.ts";

const SHAPES: readonly Shape[] = [
  { name: "500 x 20", sessions: 500, messages: 20 },
  { name: "2000 x 50", sessions: 2000, messages: 50 },
  { name: "1 x 20000", sessions: 1, messages: 20_000 },
  { name: "1 x 200000", sessions: 1, messages: 200_000 },
];

interface Result {
  readonly seconds: number;
  /** CPU seconds of all threads. */
  readonly cpu: number;
  readonly rss: number;
  readonly stored: number;
}

export async function run(): Promise<void> {
  const [mode, name, folder] = process.argv.slice(3);
  const shape = SHAPES.find((candidate) => candidate.name === name);
  if (mode !== undefined && shape !== undefined && folder !== undefined) return measure(mode, shape, folder);
  console.log(
    "shape          messages     MB   pond s   floor s  ratio   by CPU   msg/s   MB/s  rss MB  disk/source",
  );
  for (const each of SHAPES.filter((candidate) => mode === undefined || candidate.name.startsWith(mode)))
    report(each);
}

function report(shape: Shape): void {
  const { messages, bytes } = sizeOf(shape);
  const bare = inChild("corpus", shape);
  const pond = less(inChild("pond", shape), bare);
  const floor = less(inChild("floor", shape), bare);
  const cells = [
    shape.name.padEnd(12),
    String(messages).padStart(10),
    (bytes / 1e6).toFixed(0).padStart(6),
    pond.seconds.toFixed(2).padStart(8),
    floor.seconds.toFixed(2).padStart(9),
    (pond.seconds / floor.seconds).toFixed(2).padStart(6),
    (pond.cpu / floor.cpu).toFixed(2).padStart(8),
    Math.round(messages / pond.seconds)
      .toString()
      .padStart(7),
    (bytes / 1e6 / pond.seconds).toFixed(1).padStart(6),
    (pond.rss / 1e6).toFixed(0).padStart(7),
    (pond.stored / bytes).toFixed(3).padStart(12),
  ];
  console.log(cells.join(" "));
}

/** Without making the corpus, which both do as they go. */
function less(result: Result, bare: Result): Result {
  return { ...result, seconds: result.seconds - bare.seconds, cpu: result.cpu - bare.cpu };
}

function inChild(mode: string, shape: Shape): Result {
  const folder = mkdtempSync(join(tmpdir(), "pond-bench-"));
  try {
    const args = [
      ...LAUNCHER_FLAGS,
      ...ENTRY_FLAGS,
      process.argv[1] ?? "",
      "ingest",
      mode,
      shape.name,
      folder,
    ];
    const output = execFileSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, ...LAUNCHER_ENV },
    });
    return JSON.parse(output) as Result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(mode: string, shape: Shape, folder: string): Promise<void> {
  const store = await openStore(folder);
  const sessions = await SessionStore.open(store);
  const start = process.hrtime.bigint();
  if (mode === "pond") {
    const writer = sessions.ingest({ clock: systemClock });
    for (const events of chunks(corpus(shape), 500)) await writer.add(events);
    await writer.flush();
  } else if (mode === "floor") await writeFloor(sessions, shape, folder);
  else for (const _ of corpus(shape));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  if (mode === "pond") await settle(sessions);
  console.log(
    stringifyJson({
      seconds,
      cpu: (userCPUTime + systemCPUTime) / 1e6,
      rss: maxRSS * 1024,
      stored: diskBytes(folder),
    }),
  );
}

/** Indexes built, old versions gone: what a store of this size takes in the end. The first round leaves its own versions. */
async function settle(sessions: SessionStore): Promise<void> {
  for (let round = 0; round < 2; round++) await sessions.maintain({ force: true, retentionMs: 0 });
}

/** The same rows in batches of the same size, one unchecked commit each: what the engine and the encoding cost alone. */
async function writeFloor(sessions: SessionStore, shape: Shape, folder: string): Promise<void> {
  const { tables } = sessions;
  const engine = await rawTables(folder);
  const batches = {
    sessions: tables.sessions.batch(),
    messages: tables.messages.batch(),
    parts: tables.parts.batch(),
  };
  const isFull = (): boolean => {
    const all = [batches.sessions, batches.messages, batches.parts];
    const held = (of: "rows" | "bytes"): number => all.reduce((sum, batch) => sum + batch[of], 0);
    return held("rows") >= DEFAULT_LIMITS.rows || held("bytes") >= DEFAULT_LIMITS.bytes;
  };
  const flush = async (): Promise<void> => {
    for (const name of ["parts", "messages", "sessions"] as const)
      if (batches[name].rows > 0) await engine[name].add(batches[name].finish().ipc, "append");
    Object.assign(batches, {
      sessions: tables.sessions.batch(),
      messages: tables.messages.batch(),
      parts: tables.parts.batch(),
    });
  };
  let message: Message | undefined;
  for (const events of chunks(corpus(shape), 500)) {
    for (const event of events) {
      if (event.kind === "session") batches.sessions.add(sessionRow(event.session, 0));
      else if (event.kind === "message") message = event.message;
      else if (message !== undefined) {
        const part = partRow(event.part);
        batches.parts.add(part);
        const facts = { searchText: searchText(message, [event.part as Part]), partBytes: partBytes(part) };
        batches.messages.add(
          messageRow(message, {
            ...facts,
            parts: 1,
            hash: 1,
            origin: "o",
            source_agent: "claude-code",
            project: "p",
            ingested_at: 0,
          }),
        );
      }
    }
    if (isFull()) await flush();
  }
  await flush();
}

/** The engine's own append, past every check of ours. */
async function rawTables(folder: string) {
  const { connect } = createRequire(import.meta.url)("@lancedb/lancedb");
  const db = await connect(join(folder, "default"));
  const open = async (name: string): Promise<{ add(ipc: Buffer, mode: string): Promise<unknown> }> =>
    (await db.openTable(name)).inner;
  return { sessions: await open("sessions"), messages: await open("messages"), parts: await open("parts") };
}

function* chunks(events: Iterable<Event>, size: number): Generator<Event[]> {
  let chunk: Event[] = [];
  for (const event of events) {
    chunk.push(event);
    if (chunk.length === size) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Source bytes: each event as one JSON line, a message together with its parts, as a client would write it. */
function sizeOf(shape: Shape): { readonly messages: number; readonly bytes: number } {
  let bytes = 0;
  for (const event of corpus(shape)) bytes += stringifyJson(eventSchema.encode(event) as never).length;
  return { messages: shape.sessions * shape.messages, bytes };
}

function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
