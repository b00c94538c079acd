/**
 * Places at which a text may be cut (spec.md#search-hit-payload): between words where there is one near, never between the
 * halves of a surrogate pair or inside what people see as one character. Pure.
 */

/** How far before the place that was asked for a cut between words is looked for. */
const NEAR = 40;
/** How far back reading begins where characters may join: longer runs of what joins are cut between code points. */
const MOST_JOINED = 4096;
const IN_WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Written without spaces: any two of its letters may be parted. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u30fc\uff70]/u;

/** The place of the last cut at or before this one that parts no word, or at least no character. */
export function cutBefore(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  const from = joinedFrom(text, Math.max(0, at - NEAR));
  let nearest: number | undefined;
  let between: number | undefined;
  // What follows may join what is before the place, so a little of it is read, too.
  for (const { index } of graphemesOf(text.slice(from, at + NEAR))) {
    if (from + index > at) break;
    nearest = from + index;
    if (isBetweenWords(text, nearest)) between = nearest;
  }
  if (between !== undefined && between > 0 && at - between <= NEAR) return between;
  return nearest === undefined || nearest === 0 || at - nearest > NEAR ? codePointBefore(text, at) : nearest;
}

/** The same ranges grown to whole characters, in order and apart. */
export function wholeCharacters(text: string, ranges: readonly Range[]): readonly Range[] {
  const edges = PLAIN.test(text) ? undefined : [...graphemesOf(text)].map(({ index }) => index);
  const grown: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const start = edges === undefined ? range.start : lastUpTo(edges, range.start);
    const end = edges === undefined ? range.end : firstFrom(edges, range.end, text.length);
    const before = grown.at(-1);
    if (before !== undefined && start <= before.end)
      grown[grown.length - 1] = { start: before.start, end: Math.max(before.end, end) };
    else grown.push({ start, end });
  }
  return grown;
}

/** Part of a text, in UTF-16 units; the end is not in it. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** One unit is one character. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

let segmenter: Intl.Segmenter | undefined;
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

function isBetweenWords(text: string, at: number): boolean {
  const before = text.slice(codePointBefore(text, at - 1), at);
  const after = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  return !(IN_WORD.test(before) && IN_WORD.test(after)) || UNSPACED.test(before) || UNSPACED.test(after);
}

/** A place at or before this one that is between characters whatever stands around it. */
function joinedFrom(text: string, at: number): number {
  for (let place = at; place > 0 && at - place < MOST_JOINED; place--)
    if (isAlone(text.charCodeAt(place - 1)) && isAlone(text.charCodeAt(place))) return place;
  return codePointBefore(text, Math.max(0, at - MOST_JOINED));
}

/** Letters and signs that join no other of them: ASCII, Latin and Cyrillic letters, kana, Chinese characters. */
function isAlone(unit: number): boolean {
  if (unit < 0x7f) return unit >= 0x20;
  if (unit < 0x530)
    return (unit >= 0xc0 && unit < 0x300) || (unit >= 0x48a && unit < 0x530) || isCyrillic(unit);
  return (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x30a1 && unit <= 0x30fa) || isHan(unit);
}

const isCyrillic = (unit: number): boolean => unit >= 0x400 && unit < 0x482;
const isHan = (unit: number): boolean => unit >= 0x4e00 && unit <= 0x9fff;

/** Not between the halves of a surrogate pair. */
function codePointBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function lastUpTo(edges: readonly number[], at: number): number {
  return edges[edges.findLastIndex((edge) => edge <= at)] ?? 0;
}

function firstFrom(edges: readonly number[], at: number, end: number): number {
  return edges.find((edge) => edge >= at) ?? end;
}
