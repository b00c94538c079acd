/**
 * Where each key of a TOML text stands: the parser tells values and errors, not the lines of keys, and a setting's
 * source is `file config.toml:12`. Tolerant: a broken text gives the keys before the break.
 */

export interface KeyPlace {
  readonly path: readonly string[];
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** Every key, table header and key of an inline table, in the order of the text. */
export function keyPlaces(text: string): readonly KeyPlace[] {
  const scanner = new Scanner(text);
  scanner.document();
  return scanner.places;
}

/** Bare, "basic" or 'literal' part of a dotted key. */
const KEY_PART = /[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const BLANK = /[ \t]*/y;
const BLANK_LINES = /(?:[ \t\r\n]|#[^\n]*)*/y;
const REST_OF_LINE = /[^\n]*/y;
/** The multi-line forms first: their quotes are a prefix of the others. A missing end takes the rest of the text. */
const STRING = /"""(?:[^\\]|\\[^])*?(?:"{3,5}|$)|'''[^]*?(?:'{3,5}|$)|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?/y;
const SCALAR = /[^,\]}\n#]*/y;

class Scanner {
  readonly places: KeyPlace[] = [];
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    let table: readonly string[] = [];
    for (;;) {
      this.#take(BLANK_LINES);
      if (this.#at >= this.#text.length) return;
      if (this.#peek() === "[") {
        this.#skip(this.#text.startsWith("[[", this.#at) ? 2 : 1);
        table = this.#key([]);
      } else if (!this.#pair(table)) return;
      this.#take(REST_OF_LINE);
    }
  }

  /** `key = value`; false when there is no such thing here. */
  #pair(table: readonly string[]): boolean {
    const path = this.#key(table);
    if (path.length === table.length || this.#peek() !== "=") return false;
    this.#skip(1);
    this.#take(BLANK);
    this.#value(path);
    return true;
  }

  #key(table: readonly string[]): readonly string[] {
    this.#take(BLANK);
    const place = { line: this.#line, column: this.#at - this.#lineStart + 1 };
    const path = [...table];
    for (;;) {
      const part = this.#take(KEY_PART);
      if (part === "") break;
      path.push(unquoted(part));
      this.#take(BLANK);
      if (this.#peek() !== ".") break;
      this.#skip(1);
      this.#take(BLANK);
    }
    if (path.length > table.length) this.places.push({ path, ...place });
    return path;
  }

  #value(path: readonly string[]): void {
    const open = this.#peek();
    if (open === '"' || open === "'") this.#take(STRING);
    else if (open === "[" || open === "{") this.#members(path, open);
    else this.#take(SCALAR);
  }

  #members(path: readonly string[], open: "[" | "{"): void {
    const close = open === "[" ? "]" : "}";
    for (;;) {
      this.#skip(1);
      this.#take(BLANK_LINES);
      if (this.#peek() === close) break;
      if (open === "[") this.#value(path);
      else if (!this.#pair(path)) return;
      this.#take(BLANK_LINES);
      if (this.#peek() !== ",") break;
    }
    if (this.#peek() === close) this.#skip(1);
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #skip(length: number): void {
    this.#at += length;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    for (let i = found.indexOf("\n"); i >= 0; i = found.indexOf("\n", i + 1)) {
      this.#line++;
      this.#lineStart = this.#at + i + 1;
    }
    this.#at += found.length;
    return found;
  }
}

function unquoted(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (!part.startsWith('"')) return part;
  try {
    return String(JSON.parse(part));
  } catch {
    // Escapes that TOML has and JSON has not (\e, \xHH, \U........): close enough for a place in a message.
    return part.slice(1, -1);
  }
}
