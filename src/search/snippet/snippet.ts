/**
 * What of a found text is shown (spec.md#search-hit-payload): all of it when short, else its start and a window around its
 * best match, what is left out being counted; and where in it what was looked for stands. Pure.
 */
import type { Range } from "./boundaries.ts";
import { cutBefore, wholeCharacters } from "./boundaries.ts";

/** Where something that was looked for is in the whole text. */
export interface Mark extends Range {
  /** What it is: of one word, all of its forms have the same. */
  readonly term: string;
}

export interface Snippet {
  readonly text: string;
  /** UTF-16 units of the whole text, as all numbers here. */
  readonly length: number;
  /** What matched, in `text`: in order and apart. */
  readonly highlights: readonly Range[];
  /** What of `text` is text of the message, and where it begins in the whole; none where it is the whole. */
  readonly windows: readonly Window[];
}

export interface Window extends Range {
  readonly at: number;
}

/**
 * A text up to `whole` is shown whole, which what is shown of a longer one always is; less than `least` is not worth leaving
 * out.
 */
const SIZES = { whole: 895, head: 200, before: 150, window: 600, least: 60 };

export function snippetOf(found: string, marks: readonly Mark[]): Snippet {
  const whole = found.toWellFormed();
  const { length } = whole;
  const spans = length <= SIZES.whole ? [{ start: 0, end: length }] : spansOf(whole, bestOf(marks));
  let text = "";
  const windows: Window[] = [];
  const highlights: Range[] = [];
  for (const [at, span] of spans.entries()) {
    const shown = whole.slice(span.start, span.end);
    const left = (spans[at + 1]?.start ?? length) - span.end;
    const start = text.length;
    highlights.push(...wholeCharacters(shown, marksIn(span, marks)).map((range) => moved(range, start)));
    windows.push({ start, end: start + shown.length, at: span.start });
    text += `${shown}${leftOut(left)}${at + 1 < spans.length ? "\n" : ""}`;
  }
  return { text, length, highlights, windows: text.length === length && spans.length === 1 ? [] : windows };
}

const leftOut = (units: number): string =>
  units <= 0 ? "" : ` [... ${units.toLocaleString("en-US")} characters ...]`;

const moved = ({ start, end }: Range, by: number): Range => ({ start: start + by, end: end + by });

/** The marks that a span shows something of, counted from its start. */
const marksIn = (span: Range, marks: readonly Mark[]): Range[] =>
  marks.flatMap((mark) => {
    const start = Math.max(mark.start, span.start) - span.start;
    const end = Math.min(mark.end, span.end) - span.start;
    return start < end ? [{ start, end }] : [];
  });

/** The start of a long text and a window, or one window where they meet. */
function spansOf(text: string, best: number): readonly Range[] {
  const { length } = text;
  const wanted = Math.min(best - SIZES.before, length - SIZES.window);
  const start = cutBefore(text, wanted);
  if (start <= SIZES.head + SIZES.least)
    return [{ start: 0, end: cutBefore(text, SIZES.head + SIZES.window) }];
  const isRest = length - start <= SIZES.window + SIZES.least;
  const end = isRest ? length : cutBefore(text, start + SIZES.window);
  return [
    { start: 0, end: cutBefore(text, SIZES.head) },
    { start, end },
  ];
}

/** Where the most different terms stand close together; of equal places where the rarer ones are, then the first. */
function bestOf(marks: readonly Mark[]): number {
  const times = new Map<string, number>();
  for (const { term } of marks) times.set(term, (times.get(term) ?? 0) + 1);
  const sorted = marks.toSorted((a, b) => a.start - b.start);
  const near = new Map<string, number>();
  let best = { at: -1, terms: 0, rarity: 0 };
  let next = 0;
  for (const { start, term } of sorted) {
    for (let mark = sorted[next]; mark !== undefined && fits(mark, start); mark = sorted[++next])
      near.set(mark.term, (near.get(mark.term) ?? 0) + 1);
    const rarity = near.keys().reduce((sum, each) => sum + 1 / (times.get(each) ?? 1), 0);
    if (near.size > best.terms || (near.size === best.terms && rarity > best.rarity + 1e-9))
      best = { at: start, terms: near.size, rarity };
    const left = (near.get(term) ?? 0) - 1;
    if (left > 0) near.set(term, left);
    else near.delete(term);
  }
  return best.at;
}

/** One that is longer than a window begins its own. */
const fits = (mark: Mark, start: number): boolean =>
  mark.start === start || mark.end <= start + SIZES.window - SIZES.before;
