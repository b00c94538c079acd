/** How wide text is on a terminal, and text that cannot steer one. Pure. */

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
/** East Asian Width W and F outside the emoji (Unicode 16, EastAsianWidth.txt). */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/** Half-width voicing marks join the grapheme before them but take a column of their own. */
const HALFWIDTH_MARK = /[\uff9e\uff9f]/g;

function graphemeWidth(grapheme: string): number {
  if (ASCII.test(grapheme)) return grapheme.length;
  if (ZERO_WIDTH.test(grapheme)) return 0;
  const base = EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
  return base + (grapheme.length > 1 ? (grapheme.slice(1).match(HALFWIDTH_MARK)?.length ?? 0) : 0);
}
