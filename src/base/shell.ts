/** Text for a command line that people paste: ids and folders come from sessions, and must not run as anything else. */

/** One word, as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
