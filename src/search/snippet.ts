/** What of a found text is shown (spec.md#search-hit-payload): all of it when short, else its start and the match. Pure. */

export interface Snippet {
  readonly text: string;
  /** Characters of the whole text. */
  readonly length: number;
}

/** Characters: a text up to `whole` is shown whole; of a longer one its head and a window around the match. */
const SIZES = { whole: 800, head: 200, before: 150, window: 600 };
/** Matches beyond this many are not weighed when the best window is looked for. */
const MAX_MATCHES = 200;
/** So are terms, and what stands behind so many characters: 2,000 words over 32 MiB would take minutes. */
const MAX_TERMS = 50;
const MAX_LOOKED_AT = 2_000_000;

export function snippetOf(text: string, terms: readonly string[]): Snippet {
  return cutAround(text, bestMatch(text.slice(0, MAX_LOOKED_AT).toLowerCase(), terms.slice(0, MAX_TERMS)));
}

/** The same around a known position; -1 for none. */
export function cutAround(text: string, at: number): Snippet {
  const { length } = text;
  if (length <= SIZES.whole) return { text: text.toWellFormed(), length };
  const start = boundary(text, Math.max(0, Math.min(at - SIZES.before, length - SIZES.window)));
  if (start <= SIZES.head) {
    const end = boundary(text, SIZES.whole);
    return { text: `${text.slice(0, end)}${left(length - end)}`.toWellFormed(), length };
  }
  const head = boundary(text, SIZES.head);
  const end = boundary(text, Math.min(length, start + SIZES.window));
  const shown = `${text.slice(0, head)}${left(start - head)}\n${text.slice(start, end)}${left(length - end)}`;
  return { text: shown.toWellFormed(), length };
}

const left = (characters: number): string =>
  characters <= 0 ? "" : ` [... ${characters.toLocaleString("en-US")} characters ...]`;

/** The earliest place where the most different terms stand close together; -1 when none is found. */
function bestMatch(text: string, terms: readonly string[]): number {
  const found: { readonly at: number; readonly term: string }[] = [];
  for (const term of terms)
    for (let at = text.indexOf(term), n = 0; at >= 0 && n < MAX_MATCHES; at = text.indexOf(term, at + 1), n++)
      found.push({ at, term });
  found.sort((a, b) => a.at - b.at);
  let best = -1;
  let most = 0;
  for (const [first, { at }] of found.entries()) {
    const near = new Set<string>();
    for (let i = first; i < found.length; i++) {
      const match = found[i];
      if (match === undefined || match.at > at + SIZES.window - SIZES.before) break;
      near.add(match.term);
    }
    if (near.size > most) [best, most] = [at, near.size];
    if (most === terms.length) break;
  }
  return best;
}

/** Not between the halves of a surrogate pair. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
