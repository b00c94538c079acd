/** What a hit shows of its text: all of it when it is short, else the beginning and a window around the match. Pure. */

/** Characters that are shown whole. */
export const WHOLE = 700;
const PREFIX = 160;
const WINDOW = 480;
/** Shorter words stand everywhere and say nothing about where the match is. */
const TELLING = 4;

export function snippet(text: string, query: string): string {
  if (text.length <= WHOLE) return text;
  const at = matchAt(text, query);
  if (at <= PREFIX) return `${cut(text, 0, WHOLE)} [+${text.length - WHOLE} more characters]`;
  const start = Math.max(PREFIX, at - WINDOW / 3);
  const end = Math.min(text.length, start + WINDOW);
  const after = end < text.length ? ` [+${text.length - end} more characters]` : "";
  return `${cut(text, 0, PREFIX)} [...] ${cut(text, start, end)}${after}`;
}

/** Where the query, or its first telling word, stands in the text. */
function matchAt(text: string, query: string): number {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(query.toLowerCase());
  if (whole >= 0) return whole;
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const telling = words.filter((word) => word.length >= TELLING);
  const found = (telling.length > 0 ? telling : words)
    .map((word) => lower.indexOf(word))
    .filter((at) => at >= 0);
  return found.length === 0 ? 0 : Math.min(...found);
}

/** Never half a surrogate pair at either end. */
function cut(text: string, start: number, end: number): string {
  const from = isLow(text, start) ? start + 1 : start;
  const to = isLow(text, end) ? end - 1 : end;
  return text.slice(from, to);
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
