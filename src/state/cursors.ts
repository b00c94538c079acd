/**
 * Where each source was last read to, by store (spec.md#sync-change-detection). A log of JSON lines, the last line of
 * a source wins. Losing it costs time, never rows; a damaged line costs one source's time. Of each line only its
 * beginning is held, as a sync with nothing to do asks for stamps only; a cursor is read from the log when its source is.
 * What a reader knows of the part before its cursor stands in a file of its own, named by its digest in the line.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { LogLine } from "../base/files/append-log.ts";
import { appendLines, linesOf, readAt, rewriteLines } from "../base/files/append-log.ts";
import type { JsonValue } from "../base/json/json.ts";
import { stringifyJson, tryParseJson } from "../base/json/json.ts";
import { LineHeads } from "./line-heads.ts";
import { Prefixes } from "./prefixes.ts";

/** Names one source: the adapter, the folder it was found in, and its key there. */
export interface SourceName {
  readonly adapter: string;
  readonly root: string;
  readonly key: string;
}

export interface Reached {
  readonly source: SourceName;
  /** What the source looked like when it was read: digits and what stands between them, digits first. */
  readonly stamp: string;
  readonly cursor: JsonValue;
  /** What to know of the source up to the cursor to read on from there; absent where that is not kept. */
  readonly prefix?: string | undefined;
}

/** The log is rewritten once it has this many lines a live source, so that it stays proportional to the sources. */
const MAX_LINES_PER_SOURCE = 3;

export class Cursors {
  readonly #path: string;
  /** What the log looked like before it was read. */
  readonly #seen: string;
  /** By the text that names the source, which is how its line begins. */
  #heads = new LineHeads();
  readonly #prefixes: Prefixes;
  #written = 0;
  #mark: string | undefined;
  #place = { adapter: "", root: "", text: '["","",' };
  /** Lines that could not be read when the log was opened: these sources are read again from the start. */
  readonly damaged: number;

  private constructor(path: string, prefixes: Prefixes) {
    this.#path = path;
    this.#prefixes = prefixes;
    this.#seen = stampOfLog(path);
    this.damaged = this.#read();
  }

  /** The cursors of one store; `storeId` is the store's own identity, so that a store made anew starts anew. */
  static open(stateFolder: string, storeId: string): Cursors {
    const name = encodeURIComponent(storeId);
    const prefixes = new Prefixes(join(stateFolder, "prefixes"), name);
    return new Cursors(join(stateFolder, "cursors", `${name}.jsonl`), prefixes);
  }

  /** True while nobody has written to the log since it was opened. */
  isCurrent(): boolean {
    return stampOfLog(this.#path) === this.#seen;
  }

  /** The mark that stands in the store since these cursors moved (spec.md#sync-marks); of an older pond's there is none. */
  get mark(): string | undefined {
    return this.#mark;
  }

  get size(): number {
    return this.#heads.size;
  }

  /** True when the source had this stamp when it was last read to the end. */
  isFresh(source: SourceName, stamp: string): boolean {
    return this.#heads.goesOn(this.#nameOf(source), `,"${stamp}",`);
  }

  get(source: SourceName): JsonValue | undefined {
    return this.#partsOf(this.#nameOf(source))[4];
  }

  has(source: SourceName): boolean {
    return this.#heads.placeOf(this.#nameOf(source)) !== undefined;
  }

  /** Every source with its cursor, as it was reached last. */
  *all(): Generator<{ readonly source: SourceName; readonly cursor: JsonValue }> {
    for (const line of linesOf(this.#path)) {
      const parsed = this.#heads.isNewest(line) ? tryParseJson(textOf(line)) : undefined;
      if (parsed?.kind !== "value" || !Array.isArray(parsed.value)) continue;
      const [adapter, root, key, , cursor] = parsed.value;
      if (typeof adapter !== "string" || typeof root !== "string" || typeof key !== "string") continue;
      if (cursor !== undefined) yield { source: { adapter, root, key }, cursor };
    }
  }

  /** What was to be known of the source up to its cursor; undefined when that was not kept, or is lost. */
  prefix(source: SourceName): string | undefined {
    const name = this.#nameOf(source);
    if (!this.#keepsPrefix(name)) return undefined;
    const digest = this.#partsOf(name)[5];
    return typeof digest === "string" ? this.#prefixes.read(name, digest) : undefined;
  }

  /** True when something was kept of the source up to its cursor: it is read on from there. */
  keepsPrefix(source: SourceName): boolean {
    return this.#keepsPrefix(this.#nameOf(source));
  }

  /** Remembers cursors whose rows are committed, as the mark in the store says; on the disk when this returns. */
  advance(updates: readonly Reached[], mark: string): void {
    const lines = updates.map(({ source, stamp, cursor, prefix }) => {
      const { adapter, root, key } = source;
      const digest = this.#keep(source, prefix);
      return stringifyJson([adapter, root, key, stamp, cursor, ...(digest === undefined ? [] : [digest])]);
    });
    // The mark first: what is torn off behind it is read again.
    const first = markLine(mark);
    this.#mark = mark;
    this.#written += lines.length + 1;
    let offset = appendLines(this.#path, [first, ...lines]) + first.length + 1;
    for (const line of lines) {
      const bytes = Buffer.from(line);
      this.#heads.add({ bytes, start: 0, end: bytes.length, offset });
      offset += bytes.length + 1;
    }
    if (this.#written > 1000 && this.#written > this.#heads.size * MAX_LINES_PER_SOURCE) this.#rewrite();
  }

  /** Takes damaged lines out of the log, so that they are told of once. For whoever holds the lock. */
  repair(): void {
    if (this.damaged > 0) this.#rewrite();
  }

  /** How many of the lines are damaged. */
  #read(): number {
    this.#heads = new LineHeads();
    this.#written = 0;
    let damaged = 0;
    this.#mark = undefined;
    for (const line of linesOf(this.#path)) {
      this.#written += 1;
      if (this.#heads.add(line)) continue;
      const mark = MARK_LINE.exec(textOf(line))?.[1];
      if (mark === undefined) damaged += 1;
      else this.#mark = mark;
    }
    if (damaged === 0 || this.#mark !== undefined) return damaged;
    // Without its mark nothing tells whether the store still holds what these say.
    damaged += this.#heads.size;
    this.#heads = new LineHeads();
    return damaged;
  }

  #rewrite(): void {
    const mark = this.#mark === undefined ? [] : [markLine(this.#mark)];
    const newest = linesOf(this.#path).filter((line) => this.#heads.isNewest(line));
    rewriteLines(this.#path, joined(mark, newest.map(textOf)));
    this.#read();
  }

  /** Before the line that names it, so that a line never names what is not there yet. */
  #keep(source: SourceName, prefix: string | undefined): string | undefined {
    const name = this.#nameOf(source);
    if (prefix !== undefined) return this.#prefixes.write(name, prefix);
    if (this.#keepsPrefix(name)) this.#prefixes.remove(name);
    return undefined;
  }

  /** A line that ends in a string ends in the digest of a prefix: a cursor ends in no quote. */
  #keepsPrefix(name: string): boolean {
    return this.#heads.placeOf(name)?.endsInText === true;
  }

  #partsOf(name: string): readonly JsonValue[] {
    const place = this.#heads.placeOf(name);
    const line = place && readAt(this.#path, place.offset, place.length)?.toString("utf8");
    // Another one stands there where someone else has rewritten the log meanwhile.
    const parsed = line?.startsWith(name) === true ? tryParseJson(line) : undefined;
    return parsed?.kind === "value" && Array.isArray(parsed.value) ? parsed.value : [];
  }

  /** How the line of a source begins; all sources of a place in a row begin the same. */
  #nameOf({ adapter, root, key }: SourceName): string {
    if (adapter !== this.#place.adapter || root !== this.#place.root)
      this.#place = { adapter, root, text: `${JSON.stringify([adapter, root]).slice(0, -1)},` };
    return this.#place.text + JSON.stringify(key);
  }
}

function* joined(first: readonly string[], rest: Iterable<string>): Generator<string> {
  yield* first;
  yield* rest;
}

const MARK_LINE = /^\{"mark":"([0-9a-f]+)"\}$/;
const markLine = (mark: string): string => JSON.stringify({ mark });
const textOf = ({ bytes, start, end }: LogLine): string => bytes.toString("utf8", start, end);

function stampOfLog(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
