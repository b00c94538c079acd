/**
 * `status`: what is stored and how fresh it is. The cheap part (counts of summaries, pending sources) comes first; the health
 * of tables and indexes, which asks the engine, comes after it.
 */
import { isoTime } from "../../base/clock.ts";
import { messageCount } from "../../sessions/index.ts";
import type { SummaryList, TableHealth } from "../../sessions/index.ts";
import { displayUrl } from "../../sessions/peek.ts";
import type { LastSync } from "../../state/index.ts";
import type { GroupCount, StatusReport, TableReport } from "../../wire/status.ts";
import type { Context } from "../context/context.ts";
import { isGone, lastSyncHere, rememberedSync } from "../context/remembered.ts";
import { sweepSources } from "../sources/sweep.ts";
import { vectorsReport } from "./vectors.ts";
import { partedByWaits } from "../sources/waits.ts";

const PROJECTS_SHOWN = 10;

/** `onFirst` gets the cheap part as soon as it is known. */
export async function status(
  context: Context,
  onFirst: (report: StatusReport) => void = () => undefined,
): Promise<StatusReport> {
  const known = await rememberedSync(context);
  const remembered = typeof known === "string" ? undefined : known;
  await using sweeps = await sweepSources(context, {}, remembered?.cursors);
  const store = await context.existingStore();
  const summaries = await store?.summaries();
  const synced = lastSyncHere(context, await store?.knownId());
  const at = synced === undefined ? undefined : isoTime(synced.at);
  const first: StatusReport = {
    store: displayUrl(context.address.url),
    exists: store !== undefined,
    ...(store === undefined && (await isGone(context)) ? { is_gone: true } : {}),
    ...totalsOf(summaries),
    pending: sweeps.clients.map(({ adapter, stale, seen }) => {
      const { ready, waiting } = partedByWaits(stale, synced?.waits ?? [], context.clock.now());
      return { adapter: adapter.name, sources: ready.length, seen, waits: waiting };
    }),
    ...(synced === undefined || at === undefined ? {} : { last_sync: lastSyncReport(synced, at) }),
    embeddings: { state: context.embeddings === undefined ? "off" : "on" },
  };
  onFirst(first);
  if (store === undefined) return first;
  const [tables, models] = await Promise.all([store.health(), vectorsReport(store)]);
  return { ...first, embeddings: { ...first.embeddings, models }, tables: tables.map(tableReport) };
}

function lastSyncReport(
  { messages, issues, interrupted }: LastSync,
  at: string,
): NonNullable<StatusReport["last_sync"]> {
  return { at, messages, issues, interrupted };
}

function tableReport({ table, version, facts, due }: TableHealth): TableReport {
  return {
    table,
    version,
    rows: facts.rows,
    fragments: facts.fragments,
    bytes: facts.liveBytes,
    old_bytes: facts.deadBytes,
    indexes: facts.indexes.map(({ spec, built, indexedRows, unindexedRows, bytes }) => ({
      column: spec.column,
      kind: spec.kind,
      built,
      rows: indexedRows,
      unindexed_rows: unindexedRows,
      bytes,
    })),
    due,
  };
}

function totalsOf(
  summaries: SummaryList | undefined,
): Pick<StatusReport, "sessions" | "messages" | "bytes" | "clients" | "projects"> {
  const clients = new Map<string, GroupCount>();
  const projects = new Map<string, GroupCount>();
  let bytes = 0;
  let messages = 0;
  for (const summary of summaries?.newestFirst ?? []) {
    const count = messageCount(summary);
    messages += count;
    bytes += summary.bytes;
    add(clients, summary.source_agent, count);
    add(projects, summary.project, count);
  }
  const bySize = (groups: Map<string, GroupCount>): GroupCount[] =>
    [...groups.values()].toSorted((a, b) => b.messages - a.messages || (a.name < b.name ? -1 : 1));
  return {
    sessions: summaries?.size ?? 0,
    messages,
    bytes,
    clients: bySize(clients),
    projects: bySize(projects).slice(0, PROJECTS_SHOWN),
  };
}

function add(groups: Map<string, GroupCount>, name: string, messages: number): void {
  const group = groups.get(name);
  groups.set(name, {
    name,
    sessions: (group?.sessions ?? 0) + 1,
    messages: (group?.messages ?? 0) + messages,
  });
}
