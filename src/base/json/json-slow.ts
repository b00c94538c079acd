/**
 * The exact side of base/json/json.ts: an iterative parser that keeps every number literal and sees duplicate keys,
 * and an iterative writer, because the native one recurses (spec.md#exact-json).
 */
import { decimalOf, isArray, isSameDecimal, pointerOf } from "./json-equal.ts";
import type { JsonValue, ParsedJson } from "./json.ts";

/** Enough to show what is wrong; a hostile text could name millions. */
const MAX_DUPLICATES = 16;

/** A container that is still open; `key` is where the object's next value goes. */
type Frame =
  | { readonly kind: "array"; readonly items: JsonValue[] }
  | { readonly kind: "object"; readonly members: Record<string, JsonValue>; key: string };

/** Parses by hand: slower than `JSON.parse`, but no depth, number or key is beyond it. */
export function parseSlowly(text: string): ParsedJson {
  const reader = new SlowReader(text);
  try {
    const value = reader.readDocument();
    if (reader.duplicates.size === 0) return { kind: "value", value };
    return { kind: "duplicate_keys", paths: [...reader.duplicates] };
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    return { kind: "syntax", offset: error.offset, message: error.message };
  }
}

/** True if the double that is nearest to the literal prints with the same decimal value. -0 is not 0. */
export function isExactLiteral(literal: string): boolean {
  const value = Number(literal);
  if (String(value) === literal) return true;
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  // Underflow is told by the first digit, before an exponent of any length is looked at.
  if (value === 0) return !/[1-9]/.test(literal.charAt(literal.search(/[1-9eE]/)));
  return isSameDecimal(decimalOf(literal), decimalOf(String(value)));
}

/** The characters from `start` on of which number literals are made. */
export function literalAt(text: string, start: number): string {
  let end = start;
  while (isNumberCharacter(text.charCodeAt(end))) end += 1;
  return text.slice(start, end);
}

/** What `JSON.stringify` writes, at any depth. */
export function writeDeep(root: JsonValue): string {
  const open: {
    readonly keys: readonly string[] | undefined;
    readonly values: readonly JsonValue[];
    next: number;
  }[] = [];
  let text = "";
  let value = root;
  for (;;) {
    if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) text += JSON.stringify(value);
    else if (isArray(value)) {
      text += "[";
      open.push({ keys: undefined, values: value, next: 0 });
    } else {
      text += "{";
      const members = Object.entries(value).filter(([, member]) => member !== undefined);
      const values = members.map(([, member]) => member);
      open.push({ keys: members.map(([key]) => key), values, next: 0 });
    }
    let top = open.at(-1);
    while (top !== undefined && top.next === top.values.length) {
      text += top.keys === undefined ? "]" : "}";
      open.pop();
      top = open.at(-1);
    }
    if (top === undefined) return text;
    if (top.next > 0) text += ",";
    const key = top.keys?.[top.next];
    if (key !== undefined) text += `${JSON.stringify(key)}:`;
    value = top.values[top.next] ?? null;
    top.next += 1;
  }
}

class SyntaxFault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LOWER_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** One pass over one text. `at` is the next character to read. */
class SlowReader {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  readonly #open: Frame[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): JsonValue {
    for (;;) {
      let value = this.#readValue();
      if (value === undefined) continue;
      // The value is whole: hand it to its container, and close each container that ends with it.
      for (;;) {
        const frame = this.#open.at(-1);
        const next = this.#peek();
        if (frame === undefined) {
          if (this.#at < this.#text.length) throw this.#fault("unexpected text after the value");
          return value;
        }
        addTo(frame, value);
        if (next === COMMA) {
          this.#at += 1;
          if (frame.kind === "object") this.#readKey(frame);
          break;
        }
        if (next !== (frame.kind === "object" ? CLOSE_OBJECT : CLOSE_ARRAY))
          throw this.#fault(`a comma or the end of the ${frame.kind} is expected`);
        this.#at += 1;
        value = frame.kind === "object" ? frame.members : frame.items;
        this.#open.pop();
      }
    }
  }

  /** The next value if it is a scalar or empty, else `undefined`: its container is open now. */
  #readValue(): JsonValue | undefined {
    const first = this.#peek();
    if (first === OPEN_OBJECT) {
      this.#at += 1;
      const frame: Frame = { kind: "object", members: {}, key: "" };
      if (this.#takes(CLOSE_OBJECT)) return frame.members;
      this.#open.push(frame);
      this.#readKey(frame);
      return undefined;
    }
    if (first === OPEN_ARRAY) {
      this.#at += 1;
      const frame: Frame = { kind: "array", items: [] };
      if (this.#takes(CLOSE_ARRAY)) return frame.items;
      this.#open.push(frame);
      return undefined;
    }
    if (first === QUOTE) return this.#readString();
    if (first === MINUS || isDigit(first)) return this.#readNumber();
    return this.#readWord();
  }

  /** Reads `"key":` into the frame, which is the innermost one. */
  #readKey(frame: Extract<Frame, { kind: "object" }>): void {
    if (this.#peek() !== QUOTE) throw this.#fault("a key in quotes is expected");
    frame.key = this.#readString();
    if (this.duplicates.size < MAX_DUPLICATES && Object.hasOwn(frame.members, frame.key))
      this.duplicates.add(pointerOf(this.#open.map(memberInFrame)));
    if (!this.#takes(COLON)) throw this.#fault("a colon is expected");
  }

  /** Finds the closing quote and leaves escapes to the native parser, which also makes a string of its own. */
  #readString(): string {
    const start = this.#at;
    let end = this.#text.indexOf('"', start + 1);
    while (end !== -1 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1);
    try {
      const value: unknown = end === -1 ? undefined : JSON.parse(this.#text.slice(start, end + 1));
      if (typeof value === "string") {
        this.#at = end + 1;
        return value;
      }
    } catch {
      // Which character is at fault is told below.
    }
    throw stringFault(this.#text, start);
  }

  #readNumber(): JsonValue {
    const start = this.#at;
    if (this.#text.charCodeAt(this.#at) === MINUS) this.#at += 1;
    if (this.#text.charCodeAt(this.#at) === ZERO) this.#at += 1;
    else this.#skipDigits();
    if (this.#text.charCodeAt(this.#at) === DOT) {
      this.#at += 1;
      this.#skipDigits();
    }
    const mark = this.#text.charCodeAt(this.#at);
    if (mark === LOWER_E || mark === UPPER_E) {
      this.#at += 1;
      const sign = this.#text.charCodeAt(this.#at);
      if (sign === PLUS || sign === MINUS) this.#at += 1;
      this.#skipDigits();
    }
    const literal = this.#text.slice(start, this.#at);
    return isExactLiteral(literal) ? Number(literal) : JSON.rawJSON(literal);
  }

  /** At least one. */
  #skipDigits(): void {
    const start = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at += 1;
    if (this.#at === start) throw this.#fault("a digit is expected");
  }

  #readWord(): JsonValue {
    for (const [word, value] of WORDS)
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    throw this.#fault(
      this.#at < this.#text.length ? "a value is expected" : "the text ends before its value does",
    );
  }

  /** The next character that is not white space, not yet taken; NaN at the end. */
  #peek(): number {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text.charCodeAt(this.#at);
  }

  #takes(code: number): boolean {
    if (this.#peek() !== code) return false;
    this.#at += 1;
    return true;
  }

  #fault(message: string): SyntaxFault {
    return new SyntaxFault(this.#at, message);
  }
}

const WORDS: readonly (readonly [string, JsonValue])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function addTo(frame: Frame, value: JsonValue): void {
  if (frame.kind === "array") frame.items.push(value);
  // An assignment would set the prototype.
  else if (frame.key === "__proto__")
    Object.defineProperty(frame.members, frame.key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else frame.members[frame.key] = value;
}

function memberInFrame(frame: Frame): string | number {
  return frame.kind === "array" ? frame.items.length : frame.key;
}

/** Says which character of a string literal that does not parse is the first wrong one. */
function stringFault(text: string, start: number): SyntaxFault {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20) return new SyntaxFault(at, "a control character in a string is not escaped");
    if (code === QUOTE) break;
    if (code !== BACKSLASH) continue;
    if (!/^(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(text.slice(at + 1, at + 6)))
      return new SyntaxFault(at, "an escape in a string is not one of JSON's");
    at += 1;
  }
  return new SyntaxFault(text.length, "the text ends inside a string");
}

export function isSpace(code: number): boolean {
  return code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09);
}

/** An odd run of backslashes before a character escapes it. */
export function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isNumberCharacter(code: number): boolean {
  return isDigit(code) || [PLUS, MINUS, DOT, UPPER_E, LOWER_E].includes(code);
}
