/** Small questions about a text that several rooms ask. */

/** What a UUID of any version looks like, for a regular expression that ignores case. */
export const UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const UUID = new RegExp(`^${UUID_PATTERN}$`, "i");

export const isUuid = (text: string): boolean => UUID.test(text);

/**
 * Without the characters of `ends` at the end. Looks at each character once: `/[/]+$/` looks at a million slashes half a
 * million million times.
 */
export function trimEndOf(text: string, ends: string): string {
  let length = text.length;
  while (length > 0 && ends.includes(text.charAt(length - 1))) length -= 1;
  return text.slice(0, length);
}
