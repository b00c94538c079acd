/** Paths as a person types them. A shell leaves the `~` of `--out=~/x` and of `old=~/new` as it is. */
import { join, resolve } from "node:path";

/** Absolute: from the home, or from the working folder. */
export function namedPath(named: string, home: string): string {
  return resolve(named === "~" || named.startsWith("~/") ? join(home, named.slice(1)) : named);
}
