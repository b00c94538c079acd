/** Trimming that looks at each character once: `/[/]+$/` looks at a million slashes half a million million times. */

/** Without the characters of `ends` at the end. */
export function trimEndOf(text: string, ends: string): string {
  let length = text.length;
  while (length > 0 && ends.includes(text.charAt(length - 1))) length -= 1;
  return text.slice(0, length);
}
