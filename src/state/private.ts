/**
 * A store and what is kept beside it are for their user alone (spec.md#keep-private): sessions hold what people typed and what
 * their tools printed. What pond makes is private; what was there before is tightened here. On Windows the user's profile
 * does that.
 */
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const OTHERS = 0o077;

/**
 * Takes the folder of a store's namespace from others, whose way to all that is in it goes through it, and the store's own
 * around it. Returns those that were open, outermost first.
 */
export function makeStorePrivate(folder: string): readonly string[] {
  if (!isNamespace(folder)) return [];
  const store = dirname(folder);
  return [...(isAllOurs(store) ? [store] : []), folder].filter(makePrivate);
}

const isNamespace = (folder: string): boolean => existsSync(join(folder, "sessions.lance"));

/** A folder of somebody's in which the store lies beside other things is not pond's to close. */
function isAllOurs(store: string): boolean {
  try {
    return readdirSync(store).every((name) => isNamespace(join(store, name)));
  } catch {
    // Who may not look into it did not make it.
    return false;
  }
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
