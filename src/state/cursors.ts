/**
 * Where each source was last read to, by store (spec.md#sync-change-detection). A log of JSON lines, the last line of
 * a source wins. Losing it costs time, never rows; a damaged line costs one source's time.
 */
import { join } from "node:path";
import { appendLog, readLog, rewriteLog } from "../base/append-log.ts";
import type { JsonValue } from "../base/json.ts";

/** Names one source: the adapter, the folder it was found in, and its key there. */
export interface SourceName {
  readonly adapter: string;
  readonly root: string;
  readonly key: string;
}

/** The log is rewritten once it has this many lines a live source, so that it stays proportional to the sources. */
const MAX_LINES_PER_SOURCE = 3;

export class Cursors {
  readonly #path: string;
  readonly #cursors: Map<string, JsonValue>;
  #lines: number;
  /** Lines that could not be read when the log was opened: these sources are read again from the start. */
  readonly damaged: number;

  private constructor(
    path: string,
    cursors: Map<string, JsonValue>,
    counts: { lines: number; damaged: number },
  ) {
    this.#path = path;
    this.#cursors = cursors;
    this.#lines = counts.lines;
    this.damaged = counts.damaged;
  }

  /** The cursors of one store; `storeId` is the store's own identity, so that a store made anew starts anew. */
  static open(stateFolder: string, storeId: string): Cursors {
    const path = join(stateFolder, "cursors", `${encodeURIComponent(storeId)}.jsonl`);
    const { values, damaged } = readLog(path);
    const cursors = new Map<string, JsonValue>();
    let unreadable = damaged;
    for (const line of values) {
      if (!Array.isArray(line) || line.length !== 4) unreadable += 1;
      else
        cursors.set(
          joinName({ adapter: String(line[0]), root: String(line[1]), key: String(line[2]) }),
          line[3],
        );
    }
    return new Cursors(path, cursors, { lines: values.length, damaged: unreadable });
  }

  get size(): number {
    return this.#cursors.size;
  }

  get(source: SourceName): JsonValue | undefined {
    return this.#cursors.get(joinName(source));
  }

  /** Remembers cursors whose rows are committed; on the disk when this returns. */
  advance(updates: readonly { readonly source: SourceName; readonly cursor: JsonValue }[]): void {
    for (const { source, cursor } of updates) this.#cursors.set(joinName(source), cursor);
    this.#lines += updates.length;
    if (this.#lines > 1000 && this.#lines > this.#cursors.size * MAX_LINES_PER_SOURCE) this.#compact();
    else
      appendLog(
        this.#path,
        updates.map(({ source, cursor }) => [source.adapter, source.root, source.key, cursor]),
      );
  }

  #compact(): void {
    rewriteLog(
      this.#path,
      this.#cursors.entries().map(([name, cursor]): JsonValue => [...name.split("\0"), cursor]),
    );
    this.#lines = this.#cursors.size;
  }
}

/** Paths cannot hold NUL. */
function joinName({ adapter, root, key }: SourceName): string {
  return `${adapter}\0${root}\0${key}`;
}
