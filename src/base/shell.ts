/** Text for a command line that people paste: ids and folders come from sessions, and must not run as anything else. */

/** One word, as a POSIX shell reads it back, and zsh, to which a leading = is a command's path. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `--flag value`; with `=` where the value would be taken for a flag itself. */
export function shellOption(flag: string, value: string): string {
  return `${flag}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;
}

/** The last argument of a command, which is never taken for a flag. */
export function shellArgument(value: string): string {
  return `${value.startsWith("-") ? "-- " : ""}${shellWord(value)}`;
}
