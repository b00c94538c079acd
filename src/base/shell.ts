/** Text for a command line that people paste: ids and folders come from sessions, and must not run as anything else. */

/**
 * One word, as a POSIX shell reads it back, and zsh, to which a leading = is a command's path. With controls in the form of
 * bash and zsh that escapes them: a line feed would begin another line of what is printed.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  if (text.search(CONTROLS) === -1) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(CONTROLS, escapedControl)}'`;
}

const CONTROLS = /\p{Cc}/gu;

function escapedControl(control: string): string {
  return control === "\n"
    ? String.raw`\n`
    : String.raw`\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A command of these words, as people paste it. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** `--flag value`; one word with `=` where the value would be taken for a flag itself. */
export function optionWords(flag: string, value: string): readonly string[] {
  return value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];
}

/** The last argument of a command, which is never taken for a flag. */
export function argumentWords(value: string): readonly string[] {
  return value.startsWith("-") ? ["--", value] : [value];
}
