/**
 * Texts that were read lately, with their words told apart: what is ranked again is shown afterwards, and the next question
 * is mostly about the same sessions. Bounded by what they take in memory.
 */
import type { SessionStore } from "../../sessions/index.ts";
import type { CountedText, ReadText } from "../words/vocabulary.ts";
import { Vocabulary } from "../words/vocabulary.ts";

/** Bytes of all that are kept, and of the largest one. */
const MOST_BYTES = 32_000_000;
const MOST_OF_ONE = 1_000_000;
/** Of an entry beside its text. */
const OVERHEAD = 300;

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

  forget(): void {
    this.#byRow.clear();
    this.#bytes = 0;
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

/** Two bytes a character, and four a word of five: what it takes at most, nearly. */
const sizeOf = ({ text }: KnownText): number => OVERHEAD + text.length * 3;
