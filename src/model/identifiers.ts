/**
 * The pieces of camelCase names in a text (spec.md#search-language-neutral-index). The engine's tokeniser splits
 * snake_case and paths, but takes `parseHttpRequest` for one word: its pieces are indexed beside the text, never in it
 * (spec.md#search-indexed-text). Pure.
 */

/** Longer runs are hashes and base64, not names. */
const MAX_NAME_LENGTH = 64;
/** Pieces of one text: a pasted dictionary must not outgrow its message. */
const MAX_PIECES = 2000;

/** Where a name changes its case: `eH` in parseHttp, `PSe` in HTTPServer. */
const HUMP = /[\p{Ll}\p{Nd}]\p{Lu}|\p{Lu}{2}\p{Ll}/gu;
const BETWEEN_PIECES = /(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** The distinct pieces of all camelCase names, in lower case and separated by spaces; undefined when there are none. */
export function identifierPieces(text: string): string | undefined {
  const pieces = new Set<string>();
  HUMP.lastIndex = 0;
  for (let hump = HUMP.exec(text); hump !== null && pieces.size < MAX_PIECES; hump = HUMP.exec(text)) {
    let start = hump.index;
    let end = hump.index;
    while (start > 0 && isWordAt(text, start - 1)) start -= 1;
    while (end < text.length && isWordAt(text, end)) end += 1;
    // Letters beyond the BMP are two code units and no part of names here: go past them all the same.
    HUMP.lastIndex = Math.max(end, hump.index + hump[0].length);
    if (end - start > MAX_NAME_LENGTH) continue;
    for (const piece of piecesOf(text.slice(start, end))) pieces.add(piece);
  }
  return pieces.size === 0 ? undefined : [...pieces].join(" ");
}

/** `parseHttpRequest` is parse, http, request. A single letter finds nothing useful and is left out. */
export function piecesOf(name: string): string[] {
  return name
    .split(BETWEEN_PIECES)
    .filter((piece) => piece.length > 1)
    .map((piece) => piece.toLowerCase());
}

function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= 128) return WORD.test(text.charAt(at));
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}
