/**
 * What reading a client's log has in common (spec.md#adapter-integrity-no-silent-drops): each line is told once and none
 * is dropped, and a source that cannot be read is an issue of its own while the run goes on.
 */
import { errnoOf } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { AdapterYield, Unit } from "./adapter.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import type { LogEntry, SessionLog } from "./session-log.ts";

interface RecordMapping {
  /** The entry of a record; `bytes` is its length in the source. */
  map(value: JsonValue, bytes: number): LogEntry;
}

/** The whole log into its session; what an earlier read committed only moves the state. */
export async function* tellLog(
  log: JsonlLog,
  out: SessionLog,
  reading: { readonly mapper: RecordMapping; readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly AdapterYield[]> {
  for await (const batch of log.read()) {
    reading.signal?.throwIfAborted();
    for (const item of batch) {
      out.quiet = item.end <= log.committed;
      out.record = item;
      if (item.kind === "record") {
        out.add(reading.mapper.map(item.value, item.end - item.offset));
        if (item.glued === 0) out.addIssue("glued_records", "several records stand on one line", item);
      } else if (item.kind === "bad_line") out.addBadLine(item);
    }
    if (!out.quiet) yield out.drain();
  }
  out.quiet = false;
  out.record = undefined;
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
