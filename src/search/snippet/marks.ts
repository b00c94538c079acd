/**
 * Where in a found text what was looked for stands: words in any case and form, with or without accents, pieces of names,
 * words of scripts without spaces; or a text as it is. Pure.
 */
import { pieceRanges } from "../../model/derived/identifiers.ts";
import type { WordQuery } from "../words/query.ts";
import { segmentsOf } from "../words/segments.ts";
import { termOf } from "../analysis/vocabulary.ts";
import { formsOf } from "../analysis/word-forms.ts";
import { UNSPACED } from "./boundaries.ts";
import type { Mark } from "./snippet.ts";

/** What the words of a query are in a text. */
export interface Sought {
  /** By a word as it is compared, the term that it is a form of. */
  readonly words: ReadonlyMap<string, string>;
  /** Of scripts without spaces: looked for anywhere in a run. */
  readonly unspaced: readonly string[];
  /** As they were typed, to find the place in a long text from which on it is looked at closely. */
  readonly typed: readonly string[];
}

/** Terms beyond these, of a page that was pasted, are not looked for. */
const MAX_TERMS = 50;
/** So is what is behind so many characters: of a text of 32 MiB only the first stretch with a term is looked at closely. */
const MOST = { closely: 100_000, looked: 2_000_000, marks: 2000 };

/** A run of such letters (UNSPACED), or a word without any. */
const TOKEN =
  /(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u30fc\uff70]\p{M}*)+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u30fc\uff70])[\p{L}\p{N}\p{M}])+/gu;

export function soughtWords({ terms, texts }: Pick<WordQuery, "terms" | "texts">): Sought {
  const asked = new Set(texts.flatMap(({ query }) => ("match" in query ? query.match.split(" ") : [])));
  const words = new Map<string, string>();
  const typed = [...new Set(terms.flatMap(segmentsOf))].slice(0, MAX_TERMS);
  for (const word of typed)
    for (const form of [word, ...formsOf(word).filter((each) => asked.has(each))])
      if (!words.has(termOf(form))) words.set(termOf(form), termOf(word));
  return { words, typed, unspaced: [...words.keys()].filter((term) => UNSPACED.test(term)) };
}

/** Where words of a query are, in order. */
export function wordMarks(text: string, sought: Sought): readonly Mark[] {
  const first = marksFrom(text, 0, sought);
  if (first.length > 0 || text.length <= MOST.closely) return first;
  const lower = text.slice(0, MOST.looked).toLowerCase();
  const places = sought.typed.map((word) => lower.indexOf(word, MOST.closely)).filter((at) => at >= 0);
  // A little before it, since lower case may be longer.
  return places.length === 0 ? [] : marksFrom(text, Math.max(0, Math.min(...places) - 1000), sought);
}

/** Where a text is as it is, in order. */
export function literalMarks(text: string, literal: string): readonly Mark[] {
  const marks: Mark[] = [];
  if (literal === "") return marks;
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) {
    marks.push({ start: at, end: at + literal.length, term: literal });
    if (marks.length === MOST.marks) break;
  }
  return marks;
}

function marksFrom(text: string, from: number, sought: Sought): readonly Mark[] {
  const marks: Mark[] = [];
  for (const { 0: token, index } of text.slice(from, from + MOST.closely).matchAll(TOKEN)) {
    if (marks.length >= MOST.marks) break;
    const start = from + index;
    if (UNSPACED.test(token)) marks.push(...marksInRun(token, sought).map((mark) => moved(mark, start)));
    else marks.push(...marksInWord(token, sought).map((mark) => moved(mark, start)));
  }
  return marks;
}

const moved = ({ start, end, term }: Mark, by: number): Mark => ({ start: start + by, end: end + by, term });

/** The word itself, or the pieces of a name. */
function marksInWord(word: string, { words }: Sought): readonly Mark[] {
  const whole = words.get(termOf(word));
  if (whole !== undefined) return [{ start: 0, end: word.length, term: whole }];
  return pieceRanges(word).flatMap(({ piece, start, end }) => {
    const term = words.get(termOf(piece));
    return term === undefined ? [] : [{ start, end, term }];
  });
}

/** Letters are compared folded, which may be more or fewer units than they are. */
function marksInRun(run: string, { unspaced, words }: Sought): readonly Mark[] {
  let folded = "";
  const places: { readonly start: number; readonly end: number }[] = [];
  let at = 0;
  for (const letter of run) {
    const comparable = termOf(letter);
    for (let unit = 0; unit < comparable.length; unit++) places.push({ start: at, end: at + letter.length });
    folded += comparable;
    at += letter.length;
  }
  const marks: Mark[] = [];
  for (const sought of unspaced)
    for (const { start, end } of literalMarks(folded, sought))
      marks.push({
        start: places[start]?.start ?? 0,
        end: places[end - 1]?.end ?? run.length,
        term: words.get(sought) ?? sought,
      });
  return marks;
}
