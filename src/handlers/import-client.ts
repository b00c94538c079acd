/**
 * Reads the changed sources of one client into the store. A cursor advances only after the commit that holds the rows
 * before it; a source that cannot be read is an issue, the others go on.
 */
import type { AdapterYield, Cursor, Issue } from "../adapters/index.ts";
import { toPondError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Event } from "../model/index.ts";
import { describeKey, entityOf } from "../model/index.ts";
import type { Ingest } from "../sessions/index.ts";
import type { Cursors, SourceName } from "../state/index.ts";
import type { Context } from "./context.ts";
import type { Stale, Sweep } from "./sweep.ts";
import { countIssue, isCursor, sourceName } from "./sweep.ts";
import type { ClientReport } from "./sync-report.ts";

export interface ImportOptions {
  readonly cursors: Cursors;
  /** Read from the start, whatever the cursor says. */
  readonly verify: boolean;
  /** Called after each source, with the messages of this client so far. */
  readonly onUnit: (unit: { readonly bytes: number; readonly messages: number }) => void;
}

interface Tally {
  read: number;
  waiting: number;
  superseded: number;
  messages: number;
  readonly issues: Record<string, number>;
  readonly examples: Issue[];
}

export async function importClient(
  context: Context,
  sweep: Sweep,
  options: ImportOptions,
): Promise<ClientReport> {
  const store = await context.store();
  const tally: Tally = { read: 0, waiting: 0, superseded: 0, messages: 0, issues: {}, examples: [] };
  for (const issue of sweep.issues) countIssue(tally, issue);
  const { sync } = context.config.values;
  let reached: { readonly source: SourceName; readonly cursor: JsonValue }[] = [];
  const ingest = store.ingest({
    clock: context.clock,
    limits: { rows: sync.batch_rows, bytes: sync.batch_bytes },
    onViolation: ({ message }, event) =>
      countIssue(tally, {
        kind: "unexpected_shape",
        adapter: sweep.adapter.name,
        path: describeKey(entityOf(event)),
        message,
      }),
    onCommit: () => {
      options.cursors.advance(reached);
      reached = [];
    },
  });
  for (const stale of sweep.stale) {
    if (context.signal.aborted) break;
    const source = sourceName(sweep.adapter, stale.place, stale.unit);
    const cursor = options.verify ? undefined : options.cursors.get(source);
    await importUnit(
      context,
      { sweep, stale, cursor },
      {
        tally,
        ingest,
        checkpoint: (next) => ingest.checkpoint(() => reached.push({ source, cursor: jsonOf(next) })),
      },
    );
    options.onUnit({ bytes: stale.bytes, messages: tally.messages });
  }
  const stored = context.signal.aborted ? await ingest.stop() : await ingest.flush();
  options.cursors.advance(reached);
  return {
    adapter: sweep.adapter.name,
    places: sweep.places.map(({ root }) => root),
    seen: sweep.seen,
    fresh: sweep.seen - sweep.stale.length,
    stale: sweep.stale.length,
    read: tally.read,
    waiting: tally.waiting,
    superseded: tally.superseded,
    bytes: sweep.bytes,
    stored,
    issues: tally.issues,
    examples: tally.examples,
  };
}

interface UnitSource {
  readonly sweep: Sweep;
  readonly stale: Stale;
  readonly cursor: JsonValue | undefined;
}

interface UnitSink {
  readonly tally: Tally;
  readonly ingest: Ingest;
  readonly checkpoint: (cursor: Cursor) => void;
}

async function importUnit(context: Context, source: UnitSource, sink: UnitSink): Promise<void> {
  const { adapter } = source.sweep;
  const { unit, place } = source.stale;
  const store = await context.store();
  try {
    const batches = adapter.read(unit, {
      place,
      machine: context.machine,
      now: context.clock.now(),
      signal: context.signal,
      stored: (sessions) => store.revisions(sessions),
      ...(isCursor(source.cursor) ? { cursor: source.cursor } : {}),
    });
    for await (const batch of batches) await takeBatch(batch, sink);
    sink.tally.read += 1;
  } catch (error) {
    if (context.signal.aborted) return;
    const fault = toPondError(error);
    // The store failing is no fault of the source: it ends the sync.
    if (fault.code === "storage_unavailable" || fault.code === "conflict") throw fault;
    const path = unit.files[0]?.path ?? unit.key;
    countIssue(sink.tally, { kind: "unreadable", adapter: adapter.name, path, message: fault.message });
  }
}

async function takeBatch(batch: readonly AdapterYield[], sink: UnitSink): Promise<void> {
  let events: Event[] = [];
  for (const item of batch) {
    if (item.kind === "issue") countIssue(sink.tally, item.issue);
    else if (item.kind === "waiting") sink.tally.waiting += 1;
    else if (item.kind === "superseded") sink.tally.superseded += 1;
    else if (item.kind === "checkpoint") {
      await sink.ingest.add(events);
      events = [];
      sink.checkpoint(item.cursor);
    } else {
      if (item.kind === "message") sink.tally.messages += 1;
      events.push(item);
    }
  }
  await sink.ingest.add(events);
}

/** A cursor is made of JSON values only; its type says so more precisely than JsonValue can. */
function jsonOf(cursor: Cursor): JsonValue {
  const files = Object.fromEntries(Object.entries(cursor.files).map(([path, file]) => [path, { ...file }]));
  return cursor.state === undefined ? { files } : { files, state: cursor.state };
}
