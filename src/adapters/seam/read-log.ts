/**
 * What reading a client's log has in common (spec.md#adapter-integrity-no-silent-drops): each line is told once and none
 * is dropped, and a source that cannot be read is an issue of its own while the run goes on.
 */
import { errnoOf } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { AdapterYield, ReadRequest, Unit } from "./adapter.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import type { Prefix, PrefixFormat } from "./prefix.ts";
import { goOn, prefixToKeep } from "./prefix.ts";
import type { LogEntry, SessionLog } from "./session-log.ts";

interface RecordMapping {
  /** The entry of a record; `bytes` is its length in the source. */
  map(value: JsonValue, bytes: number): LogEntry;
  /** All that the records so far decide of those behind them. */
  state(): JsonObject;
}

export interface LogReading {
  readonly request: ReadRequest;
  readonly format: PrefixFormat;
  /** The prefix that was kept of the log. */
  readonly before: Prefix | undefined;
  /** A session's log and what fills it: empty, or as a prefix left them. */
  readonly open: (before: Prefix | undefined) => { readonly out: SessionLog; readonly mapper: RecordMapping };
}

interface ToldLog {
  readonly out: SessionLog;
  /** To be kept with the log's cursor. */
  readonly prefix: JsonValue | undefined;
}

/** A log into its session, from where the kept prefix ends; what else an earlier read committed only moves the state. */
export async function* tellLog(
  log: JsonlLog,
  { request, format, before: kept, open }: LogReading,
): AsyncGenerator<readonly AdapterYield[], ToldLog> {
  if (log.isFresh) return { out: open(undefined).out, prefix: await request.prefix?.load() };
  const { made, prefix: before } = goOn(kept, open);
  const { out, mapper } = made;
  const toKeep = (): JsonValue | undefined =>
    prefixToKeep(request, format, { start: log.end, headEnd: log.headEnd, log: out, reader: mapper });
  let ended: ToldLog | undefined;
  for await (const batch of log.read(before)) {
    request.signal?.throwIfAborted();
    for (const item of batch) {
      // What has no newline yet is read again next time: the prefix ends before it.
      if (!item.terminated) ended ??= { out, prefix: toKeep() };
      out.quiet = item.end <= log.committed;
      out.record = item;
      if (item.kind === "record") {
        out.add(mapper.map(item.value, item.end - item.offset));
        if (item.glued === 0) out.addIssue("glued_records", "several records stand on one line", item);
      } else if (item.kind === "bad_line") out.addBadLine(item);
    }
    if (!out.quiet) yield out.drain();
  }
  out.quiet = false;
  out.record = undefined;
  return ended ?? { out, prefix: toKeep() };
}

/** The batches of a unit that is made of files, up to where they cannot be read. */
export async function* untilUnreadable(
  batches: AsyncIterable<readonly AdapterYield[]>,
  unit: Unit,
  reading: { readonly adapter: string; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<readonly AdapterYield[]> {
  try {
    yield* batches;
  } catch (error) {
    reading.signal?.throwIfAborted();
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    // A source that went away while pond looked is no fault; nothing of it is committed.
    if (errno === "ENOENT") return;
    const path = unit.files[0]?.path ?? unit.key;
    const message = error instanceof Error ? error.message : String(error);
    yield [{ kind: "issue", issue: { kind: "unreadable", adapter: reading.adapter, path, message } }];
  }
}
