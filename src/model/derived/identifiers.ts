/**
 * The pieces of camelCase names in a text (spec.md#search-language-neutral-index). The engine's tokeniser splits
 * snake_case and paths, but takes `parseHttpRequest` for one word: its pieces are indexed beside the text, never in it
 * (spec.md#search-indexed-text). Pure.
 */

/** Longer runs are hashes and base64, not names. */
const MAX_NAME_LENGTH = 64;
/** Pieces of one text: a pasted dictionary must not outgrow its message. */
const MAX_PIECES = 2000;

const BETWEEN_PIECES = /(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** The distinct pieces of all camelCase names, in lower case and separated by spaces; undefined when there are none. */
export function identifierPieces(text: string): string | undefined {
  const pieces = new Set<string>();
  for (const name of camelNames(text)) {
    for (const piece of piecesOf(name)) pieces.add(piece);
    if (pieces.size >= MAX_PIECES) break;
  }
  return pieces.size === 0 ? undefined : [...pieces].join(" ");
}

/** Words in which the case changes as it does inside a name: `eH` in parseHttp, `PSe` in HTTPServer. */
function* camelNames(text: string): Generator<string> {
  let start = 0;
  let hasHump = false;
  let before = NO_WORD;
  let last = NO_WORD;
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? kindOf(text.charCodeAt(at)) : NO_WORD;
    if (kind === NO_WORD) {
      if (hasHump && at - start <= MAX_NAME_LENGTH) yield text.slice(start, at);
      start = at + 1;
      hasHump = false;
    } else if (kind === UPPER) hasHump ||= last === LOWER || last === DIGIT;
    else if (kind === LOWER) hasHump ||= last === UPPER && before === UPPER;
    before = last;
    last = kind;
  }
}

/** `parseHttpRequest` is parse, http, request. A single letter finds nothing useful and is left out. */
export function piecesOf(name: string): string[] {
  return pieceRanges(name).map(({ piece }) => piece);
}

/** The same with their places in the name. */
export function pieceRanges(
  name: string,
): { readonly piece: string; readonly start: number; readonly end: number }[] {
  let end = 0;
  return name
    .split(BETWEEN_PIECES)
    .map((piece) => ({ piece: piece.toLowerCase(), start: end, end: (end += piece.length) }))
    .filter(({ start, end: to }) => to - start > 1);
}

const NO_WORD = 1;
const LETTER = 2;
const LOWER = 3;
const DIGIT = 4;
const UPPER = 5;

/** By UTF-16 unit, found out at first sight. Letters beyond the BMP are two units and no part of names here. */
const kinds = new Uint8Array(0x1_0000);

function kindOf(unit: number): number {
  const known = kinds[unit] ?? 0;
  return known === 0 ? (kinds[unit] = kindOfLetter(String.fromCharCode(unit))) : known;
}

function kindOfLetter(letter: string): number {
  if (/\p{Ll}/u.test(letter)) return LOWER;
  if (/\p{Lu}/u.test(letter)) return UPPER;
  if (/\p{Nd}/u.test(letter)) return DIGIT;
  return /[\p{L}\p{N}\p{M}]/u.test(letter) ? LETTER : NO_WORD;
}
