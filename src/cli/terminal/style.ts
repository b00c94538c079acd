/** Colours by meaning, and when there are any. Pure. */

export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
  /** What was looked for. */
  readonly match: (text: string) => string;
}

const plain = (text: string): string => text;
const PLAIN: Style = { bold: plain, dim: plain, good: plain, warn: plain, bad: plain, match: plain };

const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    `\x1b[${open}m${text}\x1b[${close}m`;
const ANSI: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  good: sgr(32, 39),
  warn: sgr(33, 39),
  bad: sgr(31, 39),
  match: (text) => sgr(1, 22)(sgr(33, 39)(text)),
};

export const createStyle = (color: boolean): Style => (color ? ANSI : PLAIN);

interface ColorQuestion {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  /** --no-color */
  readonly refused: boolean;
}

/** Who asks for none gets none; FORCE_COLOR beats what the stream is. */
export function wantsColor({ env, isTerminal, refused }: ColorQuestion): boolean {
  if (refused || env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && env["TERM"] !== "dumb";
}
