/**
 * Texts as BERT's tokens: cleaned, folded, divided at spaces, signs and Chinese characters, then each word into the longest
 * pieces that the vocabulary has. Word by word, so that of a long text only what the window takes is looked at. Pure.
 */

export interface Vocabulary {
  /** Piece -> id; a piece within a word begins with `##`. */
  readonly ids: ReadonlyMap<string, number>;
  /** Letters in lower case and without accents. */
  readonly folds: boolean;
}

export interface Encoded {
  /** With the tokens that open and close a text. */
  readonly ids: readonly number[];
  /** The text is longer than the window. */
  readonly isCut: boolean;
}

/** A word without spaces in it can be a file; slices of it are as good as the whole, of which nothing would be known either. */
const WORD = /[^\t\n\r\p{Z}]{1,4096}/gu;
const DROPPED = /[\p{C}\ufffd]/gu;
const ACCENTS = /\p{Mn}/gu;
/** BERT counts all ASCII signs as punctuation, also those that Unicode calls symbols. */
const SIGN = String.raw`[!-/:-@\[-\x60{-~\p{P}]`;
/** The blocks that BERT calls Chinese characters: no kana, no hangul. */
const CHINESE =
  "[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]";
const SPLIT = new RegExp(`(${SIGN}|${CHINESE})`, "u");
/** A longer word is unknown as a whole. */
const LONGEST_WORD = 100;

export class WordPiece {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #folds: boolean;
  readonly #unknown: number;
  readonly #opening: number;
  readonly #closing: number;

  /** Throws for a vocabulary without BERT's own tokens. */
  constructor({ ids, folds }: Vocabulary) {
    const idOf = (token: string): number => {
      const id = ids.get(token);
      if (id === undefined) throw new Error(`the vocabulary has no ${token}`);
      return id;
    };
    this.#ids = ids;
    this.#folds = folds;
    this.#unknown = idOf("[UNK]");
    this.#opening = idOf("[CLS]");
    this.#closing = idOf("[SEP]");
  }

  /** At most `window` tokens. */
  encode(text: string, window: number): Encoded {
    const ids = [this.#opening];
    for (const [raw] of text.matchAll(WORD))
      for (const word of this.#words(raw))
        for (const id of this.#pieces(word)) {
          if (ids.length === window - 1) return { ids: [...ids, this.#closing], isCut: true };
          ids.push(id);
        }
    return { ids: [...ids, this.#closing], isCut: false };
  }

  #words(raw: string): readonly string[] {
    const clean = raw.replaceAll(DROPPED, "");
    const folded = this.#folds ? clean.normalize("NFD").replaceAll(ACCENTS, "").toLowerCase() : clean;
    return folded.split(SPLIT).filter((word) => word !== "");
  }

  #pieces(word: string): readonly number[] {
    if (word.length > LONGEST_WORD) return [this.#unknown];
    const found: number[] = [];
    for (let start = 0; start < word.length;) {
      const piece = this.#longestPiece(word, start);
      if (piece === undefined) return [this.#unknown];
      found.push(piece.id);
      start = piece.end;
    }
    return found;
  }

  /** Halves of characters are in no vocabulary, so that the ends are those of characters. */
  #longestPiece(word: string, start: number): { readonly id: number; readonly end: number } | undefined {
    for (let end = word.length; end > start; end--) {
      const id = this.#ids.get((start === 0 ? "" : "##") + word.slice(start, end));
      if (id !== undefined) return { id, end };
    }
    return undefined;
  }
}
