/** How wide text is on a terminal, and text that cannot steer one. Pure. */
import type * as Widths from "get-east-asian-width";

/** Columns that the text takes: wide characters (CJK, emoji) two, combining marks none. Escape sequences none. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  // An import of node:util would cost every start 2 ms.
  const { stripVTControlCharacters } = process.getBuiltinModule("node:util");
  let width = 0;
  for (const { segment } of graphemes(stripVTControlCharacters(text))) width += graphemeWidth(segment);
  return width;
}

/** The text cut to at most `width` columns, never inside a grapheme, `...` where it was cut. */
export function shorten(text: string, width: number, cut: "start" | "end" = "end"): string {
  if (displayWidth(text) <= width) return text;
  const ellipsis = "...".slice(0, width);
  let room = width - ellipsis.length;
  let kept = "";
  const parts = [...graphemes(text)].map(({ segment }) => segment);
  for (const part of cut === "end" ? parts : parts.toReversed()) {
    room -= graphemeWidth(part);
    if (room < 0) break;
    kept = cut === "end" ? kept + part : part + kept;
  }
  return cut === "end" ? kept + ellipsis : ellipsis + kept;
}

/**
 * The text in lines of at most `width` columns, broken between words; in scripts without spaces between any two characters. What
 * is longer than a line stays whole, so that it can be copied. Colours take no room.
 */
export function wrapText(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => (line.length <= width && ASCII.test(line) ? line : wrapLine(line, width)))
    .join("\n");
}

function wrapLine(line: string, width: number): string {
  let wrapped = "";
  let column = 0;
  for (const [, space = "", word = ""] of line.matchAll(WORDS)) {
    const [from, size] = [afterSpace(column, space), displayWidth(word)];
    if (column > 0 && from + size > width) {
      wrapped += `\n${word}`;
      column = size;
    } else {
      wrapped += space + word;
      column = from + size;
    }
    if (column > width) column %= width;
  }
  return wrapped;
}

/** A word, or a character of a script without spaces, and the white space before it. */
const WORDS =
  /(\s*)((?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60]\p{M}*)|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60])\S)+)/gu;

function afterSpace(column: number, space: string): number {
  let at = column;
  for (const each of space) at += each === "\t" ? 8 - (at % 8) : 1;
  return at;
}

/** One line that is safe to show: white space folded, control and direction characters made visible. */
export function oneLine(text: string): string {
  if (ASCII.test(text) && !text.includes("  ")) return text.trim();
  return text.replaceAll(/\s+/g, " ").trim().replaceAll(UNSAFE, escaped);
}

/** The same without folding, for ids and paths: a line feed is shown as `\\n`, so that no value begins a line of pond's own. */
export function safeLine(text: string): string {
  return ASCII.test(text)
    ? text
    : text.replaceAll(UNSAFE, (found) => (found === "\n" ? String.raw`\n` : escaped(found)));
}

/** Text of several lines that is safe to show: as it is, but what could steer the terminal is made visible. */
export function safeText(text: string): string {
  return ASCII.test(text)
    ? text
    : text.replaceAll(UNSAFE, (found) => (/[\n\t]/.test(found) ? found : escaped(found)));
}

/** The same for text that pond has coloured: its own sequences stay where there are colours, and no others anywhere. */
export function safeLines(text: string, hasColors: boolean): string {
  if (!hasColors) return safeText(text);
  return text
    .split(COLORS)
    .map((piece, at) => (at % 2 === 1 ? piece : safeText(piece)))
    .join("");
}

/** The same for JSON text, which stays equal by value: such characters stand only inside its strings. */
export function safeJson(json: string): string {
  return json.replaceAll(
    UNSAFE_IN_JSON,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const ASCII = /^[\x20-\x7e]*$/;
/** Controls (escape sequences begin with one, some terminals obey those above 7f too), line ends of other kinds, and what reorders or hides what is shown. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]/gu;
/** The same without those that JSON escapes anyhow, and its own line ends. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]/g;
/** What style.ts writes. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const COLORS = /(\x1b\[(?:1|2|22|31|32|33|39)m)/;

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}

let segmenter: Intl.Segmenter | undefined;
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

const ZERO_WIDTH = /^[\p{Mark}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]+$/u;
/** A selector that asks for the picture form, a picture by itself, or half of a flag. */
const EMOJI = /\ufe0f|\p{Emoji_Presentation}/u;
/** Half-width voicing marks join the grapheme before them but take a column of their own. */
const HALFWIDTH_MARK = /[\uff9e\uff9f]/g;

function graphemeWidth(grapheme: string): number {
  if (ASCII.test(grapheme)) return grapheme.length;
  if (ZERO_WIDTH.test(grapheme)) return 0;
  const base = EMOJI.test(grapheme) || isWide(grapheme) ? 2 : 1;
  return base + (grapheme.length > 1 ? (grapheme.slice(1).match(HALFWIDTH_MARK)?.length ?? 0) : 0);
}

let widths: typeof Widths | undefined;

/** Loaded for the first text that needs it: most of what is printed is ASCII. */
function isWide(grapheme: string): boolean {
  const { createRequire } = process.getBuiltinModule("node:module");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- require is untyped
  widths ??= createRequire(import.meta.url)("get-east-asian-width") as typeof Widths;
  return widths.eastAsianWidth(grapheme.codePointAt(0) ?? 0) === 2;
}
