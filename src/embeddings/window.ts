/**
 * How much of a text a model reads, where its tokenizer is elsewhere: estimated by the script of its characters, more rather
 * than fewer tokens, because some servers cut what is too long in silence. Pure.
 */

/** Characters of a token, at least, by the code point: code and English, other alphabets, everything else. */
const ASCII = 1 / 3;
const ALPHABET = 1 / 2;
const FIRST_BEYOND_ALPHABETS = 0x0800;

/** The longest beginning of at most so many tokens, by whole code points; the text itself where it is not longer. */
export function cutToWindow(text: string, tokens: number): string {
  // A token of every character would fit, too.
  if (text.length <= tokens) return text;
  let spent = 0;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    spent += code < 0x80 ? ASCII : code < FIRST_BEYOND_ALPHABETS ? ALPHABET : 1;
    // Sums of thirds are not exact.
    if (spent > tokens + 1e-6) return text.slice(0, at);
    at += code > 0xffff ? 2 : 1;
  }
  return text;
}

/** The first half, by whole code points; never empty where the text is not. */
export function firstHalf(text: string): string {
  const middle = Math.ceil(text.length / 2);
  const code = text.codePointAt(middle - 1) ?? 0;
  return text.slice(0, code > 0xffff ? middle + 1 : middle);
}
