/**
 * Where each source was last read to, by store (spec.md#sync-change-detection). A log of JSON lines, the last line of
 * a source wins. Losing it costs time, never rows; a damaged line costs one source's time. Lines are kept as they
 * are and parsed when a source is read: a sync with nothing to do asks for stamps only.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { appendLines, readLines, rewriteLines } from "../base/append-log.ts";
import type { JsonValue } from "../base/json.ts";
import { isEscaped } from "../base/json-slow.ts";
import { stringifyJson, tryParseJson } from "../base/json.ts";

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
}

/** The log is rewritten once it has this many lines a live source, so that it stays proportional to the sources. */
const MAX_LINES_PER_SOURCE = 3;

export class Cursors {
  readonly #path: string;
  /** What the log looked like before it was read. */
  readonly #seen: string;
  /** By the text that names the source, which is how its line begins. */
  readonly #lines: Map<string, string>;
  #written: number;
  #place = { adapter: "", root: "", text: '["","",' };
  /** Lines that could not be read when the log was opened: these sources are read again from the start. */
  readonly damaged: number;

  private constructor(path: string) {
    this.#path = path;
    this.#seen = lookOf(path);
    const lines = readLines(path);
    this.#lines = new Map();
    this.#written = lines.length;
    let damaged = 0;
    for (const line of lines) {
      const end = endOfName(line);
      if (end === -1) damaged += 1;
      else this.#lines.set(line.slice(0, end), line);
    }
    this.damaged = damaged;
  }

  /** The cursors of one store; `storeId` is the store's own identity, so that a store made anew starts anew. */
  static open(stateFolder: string, storeId: string): Cursors {
    const path = join(stateFolder, "cursors", `${encodeURIComponent(storeId)}.jsonl`);
    return new Cursors(path);
  }

  /** True while nobody has written to the log since it was opened. */
  isCurrent(): boolean {
    return lookOf(this.#path) === this.#seen;
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
    const line = this.#lines.get(this.#nameOf(source));
    const parsed = line === undefined ? undefined : tryParseJson(line);
    return parsed?.kind === "value" && Array.isArray(parsed.value) ? parsed.value[4] : undefined;
  }

  /** Remembers cursors whose rows are committed; on the disk when this returns. */
  advance(updates: readonly Reached[]): void {
    const lines = updates.map(({ source: { adapter, root, key }, stamp, cursor }) =>
      stringifyJson([adapter, root, key, stamp, cursor]),
    );
    for (const line of lines) this.#lines.set(line.slice(0, endOfName(line)), line);
    this.#written += lines.length;
    if (this.#written <= 1000 || this.#written <= this.#lines.size * MAX_LINES_PER_SOURCE)
      return appendLines(this.#path, lines);
    rewriteLines(this.#path, this.#lines.values());
    this.#written = this.#lines.size;
  }

  /** How the line of a source begins; all sources of a place in a row begin the same. */
  #nameOf({ adapter, root, key }: SourceName): string {
    if (adapter !== this.#place.adapter || root !== this.#place.root)
      this.#place = { adapter, root, text: `${JSON.stringify([adapter, root]).slice(0, -1)},` };
    return this.#place.text + JSON.stringify(key);
  }
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
