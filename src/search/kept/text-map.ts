/**
 * Every message with text by its row (spec.md#search-row-map): its session, its neighbours there, and what names and places
 * it. Ranking by words then asks the engine for rows alone. Some 100 bytes for each text: it is for processes that live on.
 */
import type { Timestamp } from "../../model/index.ts";
import { messageId, roles, sessionId, timestampFromMicros } from "../../model/index.ts";
import { decodeRepeats } from "../../model/derived/index.ts";
import type { MessageHead } from "../../sessions/index.ts";
import { PackedTexts } from "./packed-texts.ts";
import { RowNumbers } from "./row-numbers.ts";

/** A message with text, as it is read from the table. */
export interface TextRow {
  readonly row: bigint;
  readonly session: string;
  readonly seq: number | null;
  readonly timestamp: number;
  readonly role: string;
  readonly bytes: number;
  readonly id: Uint8Array;
  /** Null where an older pond stored it without. */
  readonly repeats: Uint8Array | null;
  /** How many parts it has; null where an older pond stored it. */
  readonly parts: number | null;
}

const NONE = -1;
const EMPTY = new Uint8Array(0);

export class TextMap {
  readonly #numbers = new RowNumbers();
  readonly #ids = new PackedTexts();
  readonly #repeats = new PackedTexts();
  /** Texts that an older pond stored: what they repeat is in their options. */
  readonly #older = new Set<number>();
  #columns = columnsOf(64);
  readonly #sessions: string[] = [];
  readonly #sessionNumbers = new Map<string, number>();
  /** Of each session the text that came last: the next one mostly stands after it. */
  readonly #latest: number[] = [];

  get size(): number {
    return this.#numbers.count;
  }

  /** Takes a text; one that is there already is left as it is. */
  add(text: TextRow): void {
    const at = this.size;
    if (!this.#numbers.add(text.row)) return;
    if (at === this.#columns.time.length) this.#columns = grown(this.#columns);
    const { session, seq, time, bytes, role, isAlone } = this.#columns;
    session[at] = this.#numberOf(text.session);
    seq[at] = text.seq ?? -1;
    time[at] = text.timestamp;
    bytes[at] = text.bytes;
    role[at] = roles.findIndex((each) => each === text.role);
    isAlone[at] = text.parts === 1 ? 1 : 0;
    this.#ids.add(text.id);
    this.#repeats.add(text.repeats ?? EMPTY);
    if (text.repeats === null) this.#older.add(at);
    this.#link(at);
  }

  has(row: bigint): boolean {
    return this.#numbers.find(row) >= 0;
  }

  /** Undefined for a row that is not known. */
  sessionOf(row: bigint): string | undefined {
    const at = this.#numbers.find(row);
    return at < 0 ? undefined : this.#sessions[this.#columns.session[at] ?? 0];
  }

  /** Of the text of a message. */
  bytesOf(row: bigint): number {
    return this.#columns.bytes[this.#numbers.find(row)] ?? 0;
  }

  /** Whether a message has one part, and no other. */
  hasOnePart(row: bigint): boolean {
    return this.#columns.isAlone[this.#numbers.find(row)] === 1;
  }

  /** At most so many texts before a row in the order of its session, the nearest last, and as many after it. */
  around(
    row: bigint,
    most: number,
    isWanted: (row: bigint) => boolean,
  ): { readonly before: readonly bigint[]; readonly after: readonly bigint[] } {
    const at = this.#numbers.find(row);
    const walk = (links: Int32Array): bigint[] => {
      const rows: bigint[] = [];
      for (let next = links[at] ?? NONE; next >= 0 && rows.length < most; next = links[next] ?? NONE) {
        const id = this.#numbers.row(next);
        if (isWanted(id)) rows.push(id);
      }
      return rows;
    };
    return { before: walk(this.#columns.before).toReversed(), after: walk(this.#columns.after) };
  }

  /** Undefined where it must be read: what an older pond stored, and what cannot be read at all. */
  head(row: bigint): MessageHead | undefined {
    const at = this.#numbers.find(row);
    const role = roles[this.#columns.role[at] ?? NONE];
    const timestamp: Timestamp | undefined = timestampFromMicros(this.#columns.time[at] ?? Number.NaN);
    const session = this.#sessions[this.#columns.session[at] ?? NONE];
    if (role === undefined || timestamp === undefined || session === undefined || this.#older.has(at))
      return undefined;
    const id = messageId(this.#ids.get(at));
    return {
      session_id: sessionId(session),
      id,
      role,
      timestamp,
      row,
      ...decodeRepeats(this.#repeats.get(at), id),
    };
  }

  #numberOf(session: string): number {
    const known = this.#sessionNumbers.get(session);
    if (known !== undefined) return known;
    const number = this.#sessions.push(session) - 1;
    this.#sessionNumbers.set(session, number);
    this.#latest.push(NONE);
    return number;
  }

  /** Puts a text between those of its session, looking from the last one that came. */
  #link(at: number): void {
    const { session, before, after } = this.#columns;
    const own = session[at] ?? 0;
    let last = this.#latest[own] ?? NONE;
    let next = NONE;
    if (last >= 0) next = after[last] ?? NONE;
    while (last >= 0 && this.#compare(at, last) < 0) [next, last] = [last, before[last] ?? NONE];
    while (next >= 0 && this.#compare(next, at) < 0) [last, next] = [next, after[next] ?? NONE];
    before[at] = last;
    after[at] = next;
    if (last >= 0) after[last] = at;
    if (next >= 0) before[next] = at;
    this.#latest[own] = at;
  }

  /** The order of a session: by place in its source, then by time. */
  #compare(a: number, b: number): number {
    const { seq, time } = this.#columns;
    return (
      (seq[a] ?? 0) - (seq[b] ?? 0) ||
      (time[a] ?? 0) - (time[b] ?? 0) ||
      (this.#numbers.row(a) < this.#numbers.row(b) ? -1 : 1)
    );
  }
}

const columnsOf = (size: number) => ({
  session: new Uint32Array(size),
  seq: new Float64Array(size),
  time: new Float64Array(size),
  bytes: new Uint32Array(size),
  role: new Uint8Array(size),
  isAlone: new Uint8Array(size),
  before: new Int32Array(size),
  after: new Int32Array(size),
});

type Columns = ReturnType<typeof columnsOf>;

function grown(columns: Columns): Columns {
  const larger = columnsOf(columns.time.length * 2);
  larger.session.set(columns.session);
  larger.seq.set(columns.seq);
  larger.time.set(columns.time);
  larger.bytes.set(columns.bytes);
  larger.role.set(columns.role);
  larger.isAlone.set(columns.isAlone);
  larger.before.set(columns.before);
  larger.after.set(columns.after);
  return larger;
}
