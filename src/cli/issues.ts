/** What could not be looked at, as lines for people. Pure. */
import { oneLine } from "./text.ts";

export function notLookedAt(
  adapter: string,
  issues: readonly { readonly path: string; readonly message: string }[],
): string[] {
  return issues.map(({ path, message }) => `  ${adapter}: not looked at: ${oneLine(`${path}: ${message}`)}`);
}
