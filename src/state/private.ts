/**
 * A store and what is kept beside it are for their user alone (spec.md#keep-private): sessions hold what people typed and what
 * their tools printed. What pond makes is private; what was there before is tightened here. On Windows the user's profile
 * does that.
 */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;

/** Takes a store's folder from others, whose way to all that is in it goes through it. True where that was needed. */
export function makeStorePrivate(folder: string): boolean {
  return existsSync(join(folder, "sessions.lance")) && makePrivate(folder);
}

/** Takes any folder of pond from others; so that of its state, where prefixes hold texts and databases are copied to. */
export function makePrivate(folder: string): boolean {
  if (process.platform === "win32") return false;
  try {
    const stats = statSync(folder);
    const { mode, uid } = stats;
    // What belongs to somebody else is not ours to close.
    if (!stats.isDirectory() || (mode & OTHERS) === 0 || uid !== process.getuid?.()) return false;
    chmodSync(folder, mode & ~OTHERS & 0o7777);
    return true;
  } catch {
    // It is not there, or on a disk that cannot be written to: who needs to write says so.
    return false;
  }
}
