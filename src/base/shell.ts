/** Text for a command line that people paste: ids and folders come from sessions, and must not run as anything else. */

/** One word, as a POSIX shell reads it back, and zsh, to which a leading = is a command's path. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
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
