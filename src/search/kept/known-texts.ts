/**
 * Texts that were read lately, with their words told apart: what is ranked again is shown afterwards, and the next question
 * is mostly about the same sessions. Bounded by what they take in memory.
 */
import type { SessionStore } from "../../sessions/index.ts";
import type { CountedText, ReadText } from "../analysis/vocabulary.ts";
import { Vocabulary } from "../analysis/vocabulary.ts";

/** Bytes of all that are kept, and of the largest one. */
const MOST_BYTES = 64_000_000;
const MOST_OF_ONE = 1_000_000;
/** Of an entry beside its text. */
const OVERHEAD = 250;

export interface KnownText {
  readonly text: string;
  /** Made when its words are first counted. */
  read?: { readonly by: Vocabulary; readonly text: ReadText };
}

export class KnownTexts {
  readonly #store: SessionStore;
  /** The one that was asked for last is the last. */
  readonly #byRow = new Map<bigint, KnownText>();
  #bytes = 0;
  #vocabulary = new Vocabulary();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** What is indexed of some messages, in the order given: empty where there is nothing. */
  async of(rows: readonly bigint[]): Promise<readonly KnownText[]> {
    const unknown = rows.filter((row) => !this.#byRow.has(row));
    const found = await this.#store.texts(unknown.map((row) => ({ row, role: "user" as const })));
    const read = new Map(
      unknown.map((row, at): [bigint, KnownText] => [row, { text: found[at]?.text ?? "" }]),
    );
    const texts = rows.map((row) => {
      const text = this.#byRow.get(row) ?? read.get(row) ?? { text: "" };
      this.#keep(row, text);
      return text;
    });
    this.#shrink();
    return texts;
  }

  /** How often some terms are in texts. */
  count(texts: readonly KnownText[], terms: ReadonlySet<string>): readonly CountedText[] {
    if (this.#vocabulary.isFull) this.#vocabulary = new Vocabulary();
    const by = this.#vocabulary;
    const read = texts.map((each) => {
      if (each.read?.by !== by) each.read = { by, text: by.read(each.text) };
      return each.read.text;
    });
    return by.count(read, terms);
  }

  /** Takes a text that was read anyway. */
  add(row: bigint, text: string): void {
    this.#keep(row, this.#byRow.get(row) ?? { text });
    this.#shrink();
  }

  #keep(row: bigint, text: KnownText): void {
    const bytes = sizeOf(text);
    if (bytes > MOST_OF_ONE) return;
    if (!this.#byRow.delete(row)) this.#bytes += bytes;
    this.#byRow.set(row, text);
  }

  #shrink(): void {
    for (const [row, text] of this.#byRow) {
      if (this.#bytes <= MOST_BYTES) return;
      this.#byRow.delete(row);
      this.#bytes -= sizeOf(text);
    }
  }
}

/** Its characters, and a number for each word of some five. */
const sizeOf = ({ text }: KnownText): number =>
  OVERHEAD + text.length * (WIDE.test(text) ? 2 : 1) + text.length * 0.8;

/** What has such a character takes two bytes for each. */
const WIDE = /[^\0-\xff]/;
