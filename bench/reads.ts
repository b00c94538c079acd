/**
 * Reads of a large store, warm: a page of 20 messages with their parts out of 500,000 messages and 1,500,000 parts, and the
 * newest 50 of 20,000 sessions. `npm run bench -- reads [scale]`; the scale divides the numbers for a quick look.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import type { Event, Part, Session } from "../src/model/index.ts";
import { loadTree, messageId, partId, sessionId } from "../src/model/index.ts";
import { sealExtracted } from "../src/model/extracted.ts";
import { openSessionStore } from "../src/sessions/index.ts";
import type { SessionStore } from "../src/sessions/index.ts";

const SESSIONS = 20_000;
const MESSAGES = 25;
const PARTS = 3;
const ROUNDS = 60;

export async function run(): Promise<void> {
  const sessions = Math.round(SESSIONS / Number(process.argv[3] ?? "1"));
  const folder = mkdtempSync(join(tmpdir(), "pond-bench-"));
  await using store = await openSessionStore(
    { url: folder, namespace: "default", options: {} },
    { create: true },
  );
  const ingest = store.ingest({ clock: systemClock });
  for (let index = 0; index < sessions; index++) await ingest.add(eventsOf(index));
  await ingest.flush();
  const unindexed = await measure((round) => page(store, round, sessions));
  await store.maintain();
  await store.refreshSummaries();
  const indexed = await measure((round) => page(store, round, sessions));
  const newest = await measure(async () => (await store.summaries()).newestFirst.slice(0, 50));
  console.log(
    `${sessions * MESSAGES} messages, ${sessions * MESSAGES * PARTS} parts, ${sessions} sessions, warm, p50 / p95:\n` +
      `  page of 20 messages with parts: ${unindexed} before maintenance, ${indexed} after (goal 10 ms)\n` +
      `  newest 50 sessions: ${newest} (goal 20 ms)`,
  );
  rmSync(folder, { recursive: true, force: true });
}

/** The last 20 messages of a random session, with their parts. */
async function page(store: SessionStore, round: number, sessions: number): Promise<void> {
  const root = sessionId(`session-${(round * 7919) % sessions}`);
  const scope = { depth: 0, messages: { from: "end", limit: 20 } } as const;
  const { messages } = (await loadTree(store.tree({ payloads: false }), root, scope)).value;
  if (messages.length !== 20 || messages.some(({ parts }) => parts.length !== PARTS))
    throw new Error("not the page asked for");
}

async function measure(work: (round: number) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  const sorted = times.slice(5).toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  return `${at(0.5)} / ${at(0.95)} ms`;
}

function eventsOf(index: number): Event[] {
  const id = sessionId(`session-${index}`);
  const at = (n: number): Session["created_at"] =>
    (1_760_000_000_000_000 + index * 60_000_000 + n * 1_000_000) as Session["created_at"];
  const project = sealExtracted(`/home/me/project-${index % 40}`);
  const events: Event[] = [
    {
      kind: "session",
      session: { id, source_agent: "claude-code", created_at: at(0), project, options: {} },
    },
  ];
  for (let n = 0; n < MESSAGES; n++) {
    const message_id = messageId(`${index}-${n}`);
    const role = n % 2 === 0 ? ("user" as const) : ("assistant" as const);
    events.push({
      kind: "message",
      message: {
        id: message_id,
        session_id: id,
        seq: n,
        timestamp: at(n),
        role,
        options: { source: { record: { n } } },
      },
    });
    for (let p = 0; p < PARTS; p++)
      events.push({ kind: "part", part: textPart({ id, message_id, p }, `${index} ${n} ${p}`) });
  }
  return events;
}

function textPart(
  key: { readonly id: Session["id"]; readonly message_id: Part["message_id"]; readonly p: number },
  seed: string,
): Part {
  return {
    id: partId(String(key.p)),
    session_id: key.id,
    message_id: key.message_id,
    ordinal: key.p,
    provenance: key.p === 0 ? "conversational" : "injected",
    type: "text",
    text: sealExtracted(`${seed} ${"the quick brown fox jumps over the lazy dog ".repeat(3)}`),
    options: {},
  };
}
