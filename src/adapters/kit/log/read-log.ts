/**
 * What reading a client's log has in common (spec.md#adapter-integrity-no-silent-drops): each line is told once and none
 * is dropped, and a source that cannot be read is an issue of its own while the run goes on.
 */
import { errnoOf } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { AdapterYield, ReadRequest, Unit } from "../sources/reading.ts";
import { HELD_BYTES } from "../files/tail-hash.ts";
import { committedMark } from "../sources/freshness.ts";
import type { JsonlLog } from "./jsonl-log.ts";
import type { Prefix, PrefixFormat } from "../session/prefix.ts";
import { resumeFrom, prefixToKeep } from "../session/prefix.ts";
import type { LogRecord, SessionLog } from "../session/session-log.ts";
import type { LogMark } from "../files/record-chain.ts";
import { valueHash } from "../../../base/json/value-hash.ts";

/** Makes entries of the records of one log, in their order. */
export interface RecordMapping {
  /** The entry of a record; `bytes` is its length in the source. */
  map(value: JsonValue, at: { readonly bytes: number; readonly hash: string }): LogRecord;
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

interface EmittedLog {
  readonly out: SessionLog;
  /** To be kept with the log's cursor. */
  readonly prefix: JsonValue | undefined;
  /** How far the log was told at its cursor. */
  readonly mark: LogMark;
  /** Records that were not told again. */
  readonly kept: number;
}

/** A log into its session, from where the kept prefix ends; what else an earlier read committed only moves the state. */
export async function* emitLog(
  log: JsonlLog,
  { request, format, before: kept, open }: LogReading,
): AsyncGenerator<readonly AdapterYield[], EmittedLog> {
  const known = committedMark(request.cursor);
  if (log.isFresh && known !== undefined) {
    const { out } = open(undefined);
    out.goTo(known);
    return { out, prefix: await request.prefix?.load(), mark: known, kept: known.records };
  }
  const { made, prefix: before } = resumeFrom(known === undefined ? undefined : kept, open);
  const { out, mapper } = made;
  const committed = new Committed(out, { bytes: log.committed, mark: known, isBehind: before !== undefined });
  const toKeep = (): JsonValue | undefined =>
    prefixToKeep(request, format, { start: log.end, headEnd: log.headEnd, log: out, reader: mapper });
  let ended: Pick<EmittedLog, "prefix" | "mark"> | undefined;
  for await (const batch of log.read(before)) {
    request.signal?.throwIfAborted();
    for (const item of batch) {
      // What has no newline yet is read again next time: the prefix ends before it.
      if (!item.terminated) ended ??= { prefix: toKeep(), mark: out.mark() };
      committed.pass(item.end);
      if (item.kind === "record") {
        const bytes = item.end - item.offset;
        out.add(mapper.map(item.value, { bytes, hash: valueHash(item.value) }), item);
        if (item.glued === 0)
          out.addIssue("glued_records", "several records on one line; all were kept", item);
      } else if (item.kind === "bad_line") out.addBadLine(item, item);
    }
    if (!committed.isHolding) yield out.drain();
  }
  committed.end();
  return { out, ...(ended ?? { prefix: toKeep(), mark: out.mark() }), kept: committed.kept };
}

/**
 * What an earlier read committed of a log, as it passes by again. It is not told a second time: where it is small, only
 * after its records were seen to be the same; elsewhere its bytes were (spec.md#sync-change-detection).
 */
export class Committed {
  readonly #out: SessionLog;
  readonly #bytes: number;
  readonly #mark: LogMark | undefined;
  /** True while what is told may have to be dropped. */
  isHolding = false;
  /** Records that are not told again. */
  kept = 0;
  #isMuting: boolean;
  #isPassed = false;

  /** `isBehind`: the log is read from where a prefix ends, which was told before. */
  constructor(
    out: SessionLog,
    from: { readonly bytes: number; readonly mark: LogMark | undefined; readonly isBehind: boolean },
  ) {
    this.#out = out;
    this.#mark = from.mark;
    // Without a mark the records were never recorded as a state: all of them are told.
    this.#bytes = from.mark === undefined ? 0 : from.bytes;
    this.isHolding = !from.isBehind && this.#bytes > 0 && this.#bytes <= HELD_BYTES;
    this.#isMuting = this.#bytes > 0 && !this.isHolding;
    if (this.#isMuting) out.mute();
  }

  /** Before the record that ends there is told. */
  pass(end: number): void {
    if (this.#isPassed || end <= this.#bytes) return;
    this.end();
  }

  /** The log has no more records. */
  end(): void {
    if (this.#isPassed) return;
    this.#isPassed = true;
    const { records, chain } = this.#out.mark();
    const isSame = this.#mark !== undefined && records === this.#mark.records && chain === this.#mark.chain;
    if (this.#isMuting) this.kept = records;
    else if (this.isHolding && isSame) {
      this.kept = records;
      this.#out.discard();
    }
    this.#isMuting = false;
    this.#out.unmute();
    this.isHolding = false;
  }
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
