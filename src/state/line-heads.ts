/**
 * What must be at hand of a log of cursors: of each source how its newest line begins, which is its name and its stamp, and
 * where in the log that line stands. Bytes one behind another with a table of hashes over them, because hundreds of
 * thousands of strings in a map cost a sync with nothing to do more than looking at the sources.
 */

/** A line `["<adapter>","<root>","<key>","<stamp>",<cursor>...]`, in bytes. */
export interface LineBytes {
  readonly bytes: Buffer;
  readonly start: number;
  /** Behind its last byte, the newline left out. */
  readonly end: number;
  /** Where it stands in the log. */
  readonly offset: number;
}

interface Place {
  readonly offset: number;
  readonly length: number;
  /** It ends in a string: what a reader knew of the source was kept under that digest. */
  readonly endsInText: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;

/** Of the hash FNV-1a. */
const SEED = 0x811c_9dc5;
const PRIME = 0x0100_0193;

/** Numbers kept of each source, in one array. */
const START = 0;
const NAME_LENGTH = 1;
const LENGTH = 2;
const ROOM = 3;
const LINE_OFFSET = 4;
const LINE_LENGTH = 5;
const ENDS_IN_TEXT = 6;
const FIELDS = 7;

export class LineHeads {
  #bytes = Buffer.allocUnsafeSlow(1 << 12);
  #used = 0;
  #fields = new Float64Array(FIELDS << 5);
  #hashes = new Int32Array(1 << 5);
  /** Places in the two arrays above plus one, 0 for none; twice as many as sources, so that a search is short. */
  #slots = new Int32Array(1 << 6);
  #size = 0;
  /** What is asked for, in bytes. */
  #asked = Buffer.allocUnsafeSlow(1 << 8);

  get size(): number {
    return this.#size;
  }

  /** The newest line of its source from now on. False: it is no line of a cursor. */
  add({ bytes, start, end, offset }: LineBytes): boolean {
    const nameEnd = endOfName(bytes, start, end);
    if (nameEnd === -1) return false;
    const stampEnd = bytes.indexOf(QUOTE, nameEnd + 2) + 2;
    if (stampEnd < nameEnd || stampEnd >= end) return false;
    const nameLength = nameEnd - start;
    const hash = hashOf(bytes, start, nameEnd);
    const known = this.#find(bytes, { start, end: nameEnd, hash });
    const at = known === -1 ? this.#append(hash) : known;
    const length = stampEnd - start;
    if (known === -1 || this.#field(at, ROOM) < length) this.#reserve(at, length);
    bytes.copy(this.#bytes, this.#field(at, START), start, stampEnd);
    const fields = this.#fields;
    fields[at * FIELDS + NAME_LENGTH] = nameLength;
    fields[at * FIELDS + LENGTH] = length;
    fields[at * FIELDS + LINE_OFFSET] = offset;
    fields[at * FIELDS + LINE_LENGTH] = end - start;
    fields[at * FIELDS + ENDS_IN_TEXT] = bytes[end - 2] === QUOTE ? 1 : 0;
    return true;
  }

  /** True when the line of the source with this name goes on like this. */
  goesOn(name: string, by: string): boolean {
    const at = this.#named(name);
    if (at === -1) return false;
    const length = this.#ask(by);
    const from = this.#field(at, START) + this.#field(at, NAME_LENGTH);
    return length <= this.#field(at, LENGTH) - this.#field(at, NAME_LENGTH) && this.#isAt(from, length);
  }

  /** Where the line of a source is. */
  placeOf(name: string): Place | undefined {
    const at = this.#named(name);
    if (at === -1) return undefined;
    return {
      offset: this.#field(at, LINE_OFFSET),
      length: this.#field(at, LINE_LENGTH),
      endsInText: this.#field(at, ENDS_IN_TEXT) === 1,
    };
  }

  /** True for the line that was added last of its source. */
  isNewest({ bytes, start, end, offset }: LineBytes): boolean {
    const nameEnd = endOfName(bytes, start, end);
    if (nameEnd === -1) return false;
    const at = this.#find(bytes, { start, end: nameEnd, hash: hashOf(bytes, start, nameEnd) });
    return at !== -1 && this.#field(at, LINE_OFFSET) === offset;
  }

  #field(at: number, field: number): number {
    return this.#fields[at * FIELDS + field] ?? 0;
  }

  #named(name: string): number {
    const end = this.#ask(name);
    return this.#find(this.#asked, { start: 0, end, hash: hashOf(this.#asked, 0, end) });
  }

  /** The text as bytes in `#asked`; how many. */
  #ask(text: string): number {
    // A character takes three bytes at most, of those that a string counts.
    if (this.#asked.length < text.length * 3) this.#asked = Buffer.allocUnsafeSlow(text.length * 6);
    return this.#asked.write(text);
  }

  #isAt(from: number, length: number): boolean {
    return this.#bytes.compare(this.#asked, 0, length, from, from + length) === 0;
  }

  #find(
    bytes: Buffer,
    { start, end, hash }: { readonly start: number; readonly end: number; readonly hash: number },
  ): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const at = (this.#slots[slot] ?? 0) - 1;
      if (at === -1) return -1;
      if (this.#hashes[at] === hash && this.#field(at, NAME_LENGTH) === end - start) {
        const from = this.#field(at, START);
        if (this.#bytes.compare(bytes, start, end, from, from + end - start) === 0) return at;
      }
    }
  }

  #append(hash: number): number {
    const at = this.#size;
    this.#size += 1;
    if (this.#size > this.#hashes.length) this.#grow();
    this.#hashes[at] = hash;
    this.#enter(at, hash);
    return at;
  }

  #enter(at: number, hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = at + 1;
  }

  #grow(): void {
    const [hashes, fields] = [this.#hashes, this.#fields];
    this.#hashes = new Int32Array(hashes.length * 2);
    this.#hashes.set(hashes);
    this.#fields = new Float64Array(fields.length * 2);
    this.#fields.set(fields);
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (const [at, hash] of hashes.entries()) this.#enter(at, hash);
  }

  /** Room behind all others: what a source had before stays unused, which is little, as the log is rewritten in time. */
  #reserve(at: number, length: number): void {
    if (this.#used + length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#used + length));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    this.#fields[at * FIELDS + START] = this.#used;
    this.#fields[at * FIELDS + ROOM] = length;
    this.#used += length;
  }
}

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = SEED;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return hash ^ (hash >>> 15);
}

/** Where the name ends in a line of four strings, the fourth of which begins with a digit, and a cursor; -1 in any other. */
function endOfName(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== OPEN || bytes[end - 1] !== CLOSE) return -1;
  let at = start;
  for (let strings = 0; strings < 3; strings++) {
    if (bytes[at + 1] !== QUOTE) return -1;
    at = closingQuote(bytes, at + 2) + 1;
    if (at === 0 || at >= end || bytes[at] !== COMMA) return -1;
  }
  const stamp = bytes[at + 2] ?? 0;
  return bytes[at + 1] === QUOTE && stamp >= ZERO && stamp <= NINE ? at : -1;
}

/** The first quote from here on that is not escaped; -1 where there is none. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (at - slashes > from && bytes[at - slashes - 1] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
