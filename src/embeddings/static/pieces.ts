/**
 * A text as pieces of the table's vocabulary, in any script. As a BERT vocabulary has it, a word is cut greedily into the
 * longest pieces; but a name in camelCase is words, inside a word a whole word of some length stands for itself (compounds,
 * names written together), scripts without spaces are cut anywhere, and what is not known is left out.
 */
const MARK = /\p{Mn}/gu;
const CAMEL = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;
/** Not spaces: joiners, soft hyphens, marks of direction. */
const INVISIBLE = /\p{Cf}/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** Whole words of fewer letters are inside of others by chance. */
const WHOLE_INSIDE = 4;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30FC]/u;
/** Longer words are keys, hashes and encoded bytes: their beginning is looked at. */
const LONGEST_WORD = 64;
/** Words whose pieces are kept; a text of agents repeats its words. */
const MOST_KEPT = 20_000;

/** In lower case, without accents. */
const plainText = (text: string): string =>
  text.replaceAll(INVISIBLE, "").toLowerCase().normalize("NFD").replaceAll(MARK, "");

export const wordsOf = (text: string): readonly string[] =>
  plainText(text.replaceAll(CAMEL, " ")).match(WORD) ?? [];

export class Pieces {
  readonly #rows: ReadonlyMap<string, number>;
  readonly #longest: number;
  #kept = new Map<string, readonly number[]>();

  /** Each piece with its row; those that only continue a word begin with "##". */
  constructor(rows: ReadonlyMap<string, number>) {
    this.#rows = rows;
    let longest = 0;
    for (const piece of rows.keys()) longest = Math.max(longest, piece.length);
    this.#longest = longest;
  }

  rowsOf(text: string): readonly number[] {
    const rows: number[] = [];
    for (const word of wordsOf(text)) for (const row of this.#wordRows(word)) rows.push(row);
    return rows;
  }

  #wordRows(word: string): readonly number[] {
    const known = this.#kept.get(word);
    if (known !== undefined) return known;
    const rows = this.#cut(word.slice(0, LONGEST_WORD));
    if (this.#kept.size >= MOST_KEPT) this.#kept = new Map();
    this.#kept.set(word, rows);
    return rows;
  }

  #cut(word: string): readonly number[] {
    const rows: number[] = [];
    for (let start = 0; start < word.length;) {
      let end = Math.min(word.length, start + this.#longest);
      for (; end > start; end--) {
        const row = this.#rowAt(word.slice(start, end), start === 0);
        if (row === undefined) continue;
        rows.push(row);
        break;
      }
      start = Math.max(end, start + 1);
    }
    return rows;
  }

  #rowAt(piece: string, isFirst: boolean): number | undefined {
    if (isFirst) return this.#rows.get(piece);
    const continued = this.#rows.get(`##${piece}`);
    if (continued !== undefined) return continued;
    return piece.length >= WHOLE_INSIDE || UNSPACED.test(piece) ? this.#rows.get(piece) : undefined;
  }
}
