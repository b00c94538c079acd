/**
 * Where each source was last read to, by store (spec.md#sync-change-detection). A log of JSON lines, the last line of
 * a source wins. Losing it costs time, never rows; a damaged line costs one source's time. Lines are kept as they
 * are and parsed when a source is read: a sync with nothing to do asks for stamps only. What a reader knows of the part
 * before its cursor stands in a file of its own, named by its digest in the line.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { appendLines, readLines, rewriteLines } from "../base/append-log.ts";
import type { JsonValue } from "../base/json.ts";
import { isEscaped } from "../base/json-slow.ts";
import { stringifyJson, tryParseJson } from "../base/json.ts";
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
  readonly #lines: Map<string, string>;
  readonly #prefixes: Prefixes;
  #written: number;
  #mark: string | undefined;
  #place = { adapter: "", root: "", text: '["","",' };
  /** Lines that could not be read when the log was opened: these sources are read again from the start. */
  readonly damaged: number;

  private constructor(path: string, prefixes: Prefixes) {
    this.#path = path;
    this.#prefixes = prefixes;
    this.#seen = lookOf(path);
    const lines = readLines(path);
    this.#lines = new Map();
    this.#written = lines.length;
    let damaged = 0;
    for (const line of lines) {
      const end = endOfName(line);
      const mark = end === -1 ? MARK_LINE.exec(line)?.[1] : undefined;
      if (mark !== undefined) this.#mark = mark;
      else if (end === -1) damaged += 1;
      else this.#lines.set(line.slice(0, end), line);
    }
    // Without its mark nothing tells whether the store still holds what these say.
    const isUnmarked = damaged > 0 && this.#mark === undefined;
    this.damaged = isUnmarked ? damaged + this.#lines.size : damaged;
    if (isUnmarked) this.#lines.clear();
  }

  /** The cursors of one store; `storeId` is the store's own identity, so that a store made anew starts anew. */
  static open(stateFolder: string, storeId: string): Cursors {
    const name = encodeURIComponent(storeId);
    const prefixes = new Prefixes(join(stateFolder, "prefixes"), name);
    return new Cursors(join(stateFolder, "cursors", `${name}.jsonl`), prefixes);
  }

  /** True while nobody has written to the log since it was opened. */
  isCurrent(): boolean {
    return lookOf(this.#path) === this.#seen;
  }

  /** The mark that stands in the store since these cursors moved (spec.md#sync-marks); of an older pond's there is none. */
  get mark(): string | undefined {
    return this.#mark;
  }

  get size(): number {
    return this.#lines.size;
  }

  /** True when the source had this stamp when it was last read to the end. */
  isFresh(source: SourceName, stamp: string): boolean {
    const name = this.#nameOf(source);
    return this.#lines.get(name)?.startsWith(`,"${stamp}",`, name.length) === true;
  }

  get(source: SourceName): JsonValue | undefined {
    return partsOf(this.#lines.get(this.#nameOf(source)))[4];
  }

  /** What was to be known of the source up to its cursor; undefined when that was not kept, or is lost. */
  prefix(source: SourceName): string | undefined {
    const name = this.#nameOf(source);
    const digest = digestIn(this.#lines.get(name));
    return digest === undefined ? undefined : this.#prefixes.read(name, digest);
  }

  /** True when something was kept of the source up to its cursor: it is read on from there. */
  keepsPrefix(source: SourceName): boolean {
    return digestIn(this.#lines.get(this.#nameOf(source))) !== undefined;
  }

  /** Remembers cursors whose rows are committed, as the mark in the store says; on the disk when this returns. */
  advance(updates: readonly Reached[], mark: string): void {
    const lines = updates.map(({ source, stamp, cursor, prefix }) => {
      const { adapter, root, key } = source;
      const digest = this.#keep(source, prefix);
      return stringifyJson([adapter, root, key, stamp, cursor, ...(digest === undefined ? [] : [digest])]);
    });
    for (const line of lines) this.#lines.set(line.slice(0, endOfName(line)), line);
    this.#mark = mark;
    this.#written += lines.length + 1;
    // The mark first: what is torn off behind it is read again.
    if (this.#written <= 1000 || this.#written <= this.#lines.size * MAX_LINES_PER_SOURCE)
      return appendLines(this.#path, [markLine(mark), ...lines]);
    this.#rewrite();
  }

  /** Takes damaged lines out of the log, so that they are told of once. For whoever holds the lock. */
  repair(): void {
    if (this.damaged > 0) this.#rewrite();
  }

  #rewrite(): void {
    const mark = this.#mark === undefined ? [] : [markLine(this.#mark)];
    rewriteLines(this.#path, [...mark, ...this.#lines.values()]);
    this.#written = this.#lines.size + mark.length;
  }

  /** Before the line that names it, so that a line never names what is not there yet. */
  #keep(source: SourceName, prefix: string | undefined): string | undefined {
    const name = this.#nameOf(source);
    if (prefix !== undefined) return this.#prefixes.write(name, prefix);
    if (digestIn(this.#lines.get(name)) !== undefined) this.#prefixes.remove(name);
    return undefined;
  }

  /** How the line of a source begins; all sources of a place in a row begin the same. */
  #nameOf({ adapter, root, key }: SourceName): string {
    if (adapter !== this.#place.adapter || root !== this.#place.root)
      this.#place = { adapter, root, text: `${JSON.stringify([adapter, root]).slice(0, -1)},` };
    return this.#place.text + JSON.stringify(key);
  }
}

const MARK_LINE = /^\{"mark":"([0-9a-f]+)"\}$/;
const markLine = (mark: string): string => JSON.stringify({ mark });

/** The digest of the prefix that was kept with a line: its sixth part. A cursor ends in no quote. */
function digestIn(line: string | undefined): string | undefined {
  const digest = line?.endsWith('"]') === true ? partsOf(line)[5] : undefined;
  return typeof digest === "string" ? digest : undefined;
}

function partsOf(line: string | undefined): readonly JsonValue[] {
  const parsed = line === undefined ? undefined : tryParseJson(line);
  return parsed?.kind === "value" && Array.isArray(parsed.value) ? parsed.value : [];
}

function lookOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

const ZERO = 0x30;
const NINE = 0x39;

/**
 * Where the name ends in a line of four strings and a cursor, -1 where it is no such line: a quote that is not escaped,
 * a comma and a quote are the border of two strings.
 */
function endOfName(line: string): number {
  if (!line.startsWith('["') || !line.endsWith("]")) return -1;
  let border = -1;
  for (let strings = 0; strings < 3; strings++) {
    border = line.indexOf('","', border + 3);
    while (border !== -1 && isEscaped(line, border)) border = line.indexOf('","', border + 1);
    if (border === -1) return -1;
  }
  const stamp = line.charCodeAt(border + 3);
  return stamp >= ZERO && stamp <= NINE ? border + 1 : -1;
}
