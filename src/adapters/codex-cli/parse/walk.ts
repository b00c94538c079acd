/**
 * Places the lines of a rollout, each once the one after it is known. The last two wait for the end of the file: the
 * prefix that is kept ends before them (spec.md#sync-prefix), because only a line that is followed by another is told
 * for good.
 */
import type { AdapterYield, RecordSource } from "../../kit/sources/index.ts";
import type { LogMark } from "../../kit/files/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import type { LineStart, PrefixState, SessionLog } from "../../kit/session/index.ts";
import { Committed } from "../../kit/log/index.ts";
import type { ReadRecord, RecordMapper } from "../records/records.ts";
import { readRecord } from "../records/records.ts";

/** A line on its way. */
interface Pending {
  readonly item: JsonlItem;
  /** Absent for a line that is not JSON. */
  readonly entry?: ReadRecord;
}

interface WalkedSource {
  /** Bytes that an earlier read committed, and how far it had told the log there. */
  readonly committed: number;
  readonly mark: LogMark | undefined;
  /** True when the last record of those was told as if nothing came behind it: that is not taken back. */
  readonly endsAlone: boolean;
  /** True where the offsets of lines are those of bytes in the file. */
  readonly hasSpans: boolean;
  /** The line that is walked from; absent: the first. */
  readonly from: LineStart | undefined;
}

/** Lines that wait. */
const LAST = 2;

export class Walk {
  readonly #log: SessionLog;
  readonly #mapper: RecordMapper;
  readonly #source: WalkedSource;
  readonly #waiting: Pending[] = [];
  readonly #committed: Committed;
  /** The last line that came in sight. */
  #last: JsonlItem | undefined;
  /** Behind the last line that is placed and ended. */
  #end: LineStart;
  /** How far the log is told there. */
  mark: LogMark;
  /** True when the file ends in what is not data yet. */
  hasTail = false;
  /** True when the last line that is placed and ended would mean something else if a record came behind it. */
  endsAlone = false;

  constructor(log: SessionLog, mapper: RecordMapper, source: WalkedSource) {
    this.#log = log;
    this.#mapper = mapper;
    this.#source = source;
    this.#end = source.from ?? { offset: 0, line: 1 };
    this.mark = log.mark();
    const { committed: bytes, mark, from } = source;
    this.#committed = new Committed(log, { bytes, mark, isBehind: from !== undefined });
  }

  add(item: JsonlItem): void {
    if (item.kind === "tail") {
      // What of a line is written is no data yet.
      this.hasTail = true;
      return;
    }
    this.#last = item;
    if (item.kind === "record") {
      const entry = readRecord(item.value, { bytes: item.end - item.offset, source: this.#sourceOf(item) });
      this.#mapper.meet(entry);
      this.#waiting.push({ item, entry });
    } else this.#waiting.push({ item });
    if (this.#waiting.length > LAST) this.#placeFirst();
  }

  /** Bytes up to the end of the last line that is placed and ended. */
  get offset(): number {
    return this.#end.offset;
  }

  /** What is known before the first record that waits, and where that one ends. Undefined in the middle of a line. */
  get waiting(): (Omit<PrefixState, "headEnd"> & { readonly end: number }) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const { item, entry } = first;
    if (item.kind === "record" && (item.glued ?? 0) > 0) return undefined;
    const reader = { state: () => this.#mapper.state(entry) };
    return { start: this.#end, end: item.end, log: this.#log, reader };
  }

  /** Nothing while it is not sure that any of it is new. */
  drain(): readonly AdapterYield[] {
    return this.#committed.isHolding ? [] : this.#log.drain();
  }

  /** Records that were not told again. */
  get kept(): number {
    return this.#committed.kept;
  }

  /** What the rollout holds, once nothing more is placed. */
  emitState(source: Parameters<SessionLog["emitState"]>[0]): AdapterYield {
    return this.#log.emitState(source);
  }

  /** True when the last line was told alone by an earlier read. */
  get isLastAlone(): boolean {
    return this.#last !== undefined && this.#wasAlone(this.#last);
  }

  /** Places all lines but the last: true when that one may mean something else once another follows, and is not told yet. */
  isLastUnsettled(): boolean {
    while (this.#waiting.length > 1) this.#placeFirst();
    const [last] = this.#waiting;
    if (last?.entry === undefined || last.item.end <= this.#source.committed) return false;
    return this.#mapper.needsNext(last.entry);
  }

  finish(): void {
    while (this.#waiting.length > 0) this.#placeFirst();
  }

  /** Nothing more is placed. */
  end(): void {
    this.#committed.end();
  }

  #sourceOf(item: JsonlItem): RecordSource | undefined {
    return this.#source.hasSpans ? item : undefined;
  }

  #wasAlone(item: JsonlItem): boolean {
    const { endsAlone, committed } = this.#source;
    return endsAlone && item.terminated && item.end === committed;
  }

  /** Nothing stands behind it, or only a piece of a line, which was taken for all that will come. */
  #isAlone({ item, entry }: Pending, next: Pending | undefined): boolean {
    if (entry === undefined || item.end <= this.#source.committed) return false;
    const isLast = next === undefined || (next.entry === undefined && !next.item.terminated);
    return isLast && this.#mapper.needsNext(entry);
  }

  #placeFirst(): void {
    const placed = this.#waiting.shift();
    if (placed === undefined) return;
    const { item, entry } = placed;
    const [next] = this.#waiting;
    const isEnded = item.terminated;
    const isAlone = this.#isAlone(placed, next);
    this.#committed.pass(isEnded ? item.end : Number.POSITIVE_INFINITY);
    if (item.kind === "bad_line") this.#log.addBadLine(item, this.#sourceOf(item));
    else if (entry !== undefined) this.#mapper.place(entry, next?.entry, this.#wasAlone(item));
    if (item.kind === "record" && item.glued === 0)
      this.#log.addIssue("glued_records", "several records on one line; all were kept", item);
    if (!isEnded || next?.item.line === item.line) return;
    this.#end = { offset: item.end, line: item.line + 1 };
    this.endsAlone = isAlone;
    this.mark = this.#log.mark();
  }
}
