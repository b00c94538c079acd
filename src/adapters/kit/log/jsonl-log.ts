/**
 * A JSONL log that is read once: ahead until its session is known, then from the start, then to the end. What was
 * read ahead is kept up to a bound; a log that tells itself later than that is opened a second time. It also knows
 * where the last committed read stopped (spec.md#sync-change-detection), and can go on from there alone.
 */
import type { FileCursor } from "../sources/freshness.ts";
import { fileCursor, resumeOffset } from "../sources/freshness.ts";
import type { JsonlItem } from "./jsonl.ts";
import { readJsonl } from "./jsonl.ts";
import type { LineStart } from "../session/prefix.ts";
import { SourceFile } from "../files/source-file.ts";
import type { FileStamp } from "../files/stamp.ts";
import { isSameStamp, isSettled } from "../files/stamp.ts";

/** Bytes read ahead that are kept. */
const KEEP_BYTES = 8 * 1024 * 1024;

export class JsonlLog implements Disposable {
  /** Bytes that an earlier read committed: everything up to here is told quietly. 0 when the file was rewritten. */
  readonly committed: number;
  /** True when all of the file was committed then, and nothing about it can have changed: it need not be read at all. */
  readonly isFresh: boolean;
  /** Bytes that hold all that was looked for ahead; what comes behind them does not change what the log is. */
  headEnd = Number.POSITIVE_INFINITY;
  readonly #file: SourceFile;
  readonly #stamp: FileStamp;
  readonly #known: FileCursor | undefined;
  readonly #settledSize: number | undefined;
  /** True when the file ends in what is not data yet: it must not look fresh then. */
  #hasTail = false;
  #batches: AsyncGenerator<readonly JsonlItem[], void, undefined>;
  #kept: (readonly JsonlItem[])[] | undefined = [];
  /** Behind the last terminated line that was passed. */
  #end: LineStart = { offset: 0, line: 1 };

  /** `now` decides whether the file is settled: then its unterminated tail is data. */
  static open(stamp: FileStamp, now: number, known?: FileCursor): JsonlLog {
    const file = SourceFile.open(stamp.path);
    const settledSize = isSettled(stamp, now) ? stamp.size : undefined;
    try {
      return new JsonlLog(file, { stamp, known, settledSize, committed: resumeOffset(file, known) });
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(
    file: SourceFile,
    at: {
      readonly stamp: FileStamp;
      readonly known: FileCursor | undefined;
      readonly settledSize: number | undefined;
      readonly committed: number;
    },
  ) {
    this.#file = file;
    this.#stamp = at.stamp;
    this.#known = at.known;
    this.#settledSize = at.settledSize;
    this.committed = at.committed;
    this.isFresh = at.committed > 0 && at.committed === at.stamp.size && isSameStamp(at.stamp, at.known);
    this.#batches = this.#open();
  }

  /** Shows the log from its start until `see` says that it knows the head, or to the end. */
  async readAhead(see: (items: readonly JsonlItem[]) => boolean): Promise<void> {
    for (;;) {
      const next = await this.#batches.next();
      if (next.done === true) return;
      this.#kept?.push(next.value);
      const isKnown = see(next.value);
      const end = next.value.at(-1)?.end ?? 0;
      if (isKnown) this.headEnd = end;
      if (isKnown) return;
      if (end > KEEP_BYTES) this.#kept = undefined;
    }
  }

  /** The log in order, whatever was read ahead: all of it, or from a line on. Once. */
  async *read(from?: LineStart): AsyncGenerator<readonly JsonlItem[]> {
    const kept = from === undefined ? this.#kept : undefined;
    this.#kept = undefined;
    this.#end = from ?? this.#end;
    if (kept === undefined) this.#batches = this.#open();
    else
      for (const batch of kept) {
        this.#pass(batch);
        yield batch;
      }
    for await (const batch of this.#batches) {
      this.#pass(batch);
      yield batch;
    }
  }

  /** Where the next read goes on, once what was read so far is committed. */
  get end(): LineStart {
    return this.#end;
  }

  /** The same with how the file looked. The stamp is the one from before this read, so that growth since is seen. */
  cursor(): FileCursor {
    if (this.isFresh && this.#known !== undefined) return this.#known;
    const { offset } = this.#end;
    const tail = this.#file.tailHash(offset);
    return fileCursor(this.#stamp, { offset, tail, isUnsettled: this.#hasTail });
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #open(): AsyncGenerator<readonly JsonlItem[], void, undefined> {
    return readJsonl(this.#file, { ...this.#end, settledSize: this.#settledSize });
  }

  #pass(batch: readonly JsonlItem[]): void {
    if (batch.at(-1)?.kind === "tail") this.#hasTail = true;
    const last = batch.findLast(({ terminated }) => terminated);
    if (last !== undefined) this.#end = { offset: last.end, line: last.line + 1 };
  }
}
