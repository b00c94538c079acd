/**
 * The words of texts as numbers, so that a text whose words were told apart once is counted again by comparing numbers: of a
 * search that ranks a hundred texts again, telling their words apart was nine tenths.
 */
import { piecesOf } from "../../model/derived/identifiers.ts";
import { baseOf } from "./word-forms.ts";

/** Written without spaces: such a term is looked for as it is. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** The same in a text of ASCII, in a third of the time. */
const ASCII_WORD = /[A-Za-z0-9]+/g;
/** How much of a text is looked at: characters. */
const MOST_CHARACTERS = 20_000;
/** Some 30 MB: then a new one is begun. */
const MOST_WORDS = 150_000;
/** A name that contains the word is a weaker sign than the word. */
const PIECE = 0.5;
/** Longer words that were cut out of a text keep all of it in memory. */
const CUT_OUT = 13;

/** What a word counts for a term. */
interface WordShare {
  readonly word: number;
  readonly times: number;
}

interface TermShare {
  readonly term: string;
  readonly times: number;
}

const NO_SHARES: readonly TermShare[] = [];

const folded = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");

// oxlint-disable-next-line no-control-regex -- every ASCII character
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** A word as it is compared: in lower case, without accents, forms of one English word alike. */
export const termOf = (word: string): string => baseOf(folded(word));

/** A text whose words were told apart. */
export interface ReadText {
  /** What is looked at of it. */
  readonly head: string;
  /** Its words in their order, as a vocabulary numbers them. */
  readonly words: Uint32Array;
  /** In words. */
  readonly length: number;
}

/** How often each term is in a text, and how long the text is. */
export interface CountedText {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  /** How many words each stands for: of scripts without spaces, half as many as it has characters. */
  readonly #lengths: number[] = [];
  readonly #byTerm = new Map<string, WordShare[]>();

  get isFull(): boolean {
    return this.#numbers.size > MOST_WORDS;
  }

  read(text: string): ReadText {
    const head = text.slice(0, MOST_CHARACTERS);
    const found = head.match(isAscii(head) ? ASCII_WORD : WORD) ?? [];
    const words = new Uint32Array(found.length);
    let length = 0;
    for (const [at, word] of found.entries()) {
      const number = this.#numbers.get(word) ?? this.#learn(word);
      words[at] = number;
      length += this.#lengths[number] ?? 0;
    }
    return { head, words, length };
  }

  /** How often some terms are in texts that were read with it. */
  count(texts: readonly ReadText[], terms: ReadonlySet<string>): readonly CountedText[] {
    const unspaced = [...terms].filter((term) => UNSPACED.test(term));
    const shares = this.#sharesOf(terms);
    return texts.map(({ head, words, length }) => {
      const counts = new Map<string, number>();
      for (const word of words)
        for (const { term, times } of shares.get(word) ?? NO_SHARES)
          counts.set(term, (counts.get(term) ?? 0) + times);
      const whole = unspaced.length === 0 ? "" : folded(head);
      for (const term of unspaced) {
        const times = whole.split(term).length - 1;
        if (times > 0) counts.set(term, times);
      }
      return { counts, length };
    });
  }

  /** By word. */
  #sharesOf(terms: Iterable<string>): ReadonlyMap<number, readonly TermShare[]> {
    const shares = new Map<number, TermShare[]>();
    for (const term of terms)
      for (const { word, times } of this.#byTerm.get(term) ?? []) {
        const own = shares.get(word);
        if (own === undefined) shares.set(word, [{ term, times }]);
        else own.push({ term, times });
      }
    return shares;
  }

  #learn(word: string): number {
    const number = this.#lengths.push(UNSPACED.test(word) ? Math.ceil(word.length / 2) : 1) - 1;
    const kept = word.length < CUT_OUT ? word : Buffer.from(word, "utf16le").toString("utf16le");
    this.#numbers.set(kept, number);
    this.#share(termOf(kept), number, 1);
    const pieces = piecesOf(kept);
    if (pieces.length > 1) for (const piece of pieces) this.#share(termOf(piece), number, PIECE);
    return number;
  }

  #share(term: string, word: number, times: number): void {
    const known = this.#byTerm.get(term);
    if (known === undefined) this.#byTerm.set(term, [{ word, times }]);
    else known.push({ word, times });
  }
}
