/**
 * A store is for its user alone (spec.md#keep-private): sessions hold what people typed and what their tools printed. What
 * the command makes is private by its umask; a store of before is tightened here. On Windows the user's profile does that.
 */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;

/** Takes a store's folder from others, whose way to all that is in it goes through it. True where that was needed. */
export function makePrivate(folder: string): boolean {
  if (process.platform === "win32" || !existsSync(join(folder, "sessions.lance"))) return false;
  const { mode, uid } = statSync(folder);
  // What belongs to somebody else is not ours to close.
  if ((mode & OTHERS) === 0 || uid !== process.getuid?.()) return false;
  chmodSync(folder, mode & ~OTHERS & 0o7777);
  return true;
}
