/**
 * What belongs to restored sessions that were carried on, and is not stored (spec.md#sources-restored-together): its sources did not
 * change, so that no sync would read them.
 */
import { existsSync } from "node:fs";
import type { Unit } from "../../adapters/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import type { Context } from "../context/context.ts";
import type { KnownRestore } from "./known-restores.ts";
import { knownRestores } from "./known-restores.ts";
import type { Stale, Sweep } from "../sources/sweep.ts";

/** True where there is something of that kind on this machine: an import that was killed stored only some of it. */
export function hasUnreadSubagents(known: readonly KnownRestore[]): boolean {
  return missingIn(known).some(({ paths }) => paths.some((path) => existsSync(path)));
}

/** The sources that hold it, as far as they are on this machine. */
export async function unreadSubagents(
  { signal }: Context,
  store: SessionStore,
  { adapter, places }: Sweep,
): Promise<readonly Stale[]> {
  const missing = missingIn(await knownRestores(store, adapter.name));
  if (missing.length === 0) return [];
  const paths = missing.flatMap((restore) => restore.paths.map((path) => path.replaceAll("\\", "/")));
  const isWanted = ({ key }: Unit): boolean =>
    // By its place below the client's: the folder may be another one than that of the machine that restored it.
    paths.some((path) => path.endsWith(`/${key}`)) || missing.some(({ session }) => key.includes(session));
  const found: Stale[] = [];
  for (const opened of places)
    try {
      for await (const batch of opened.units(signal))
        for (const unit of batch)
          if (!("kind" in unit) && isWanted(unit))
            found.push({ unit, opened, bytes: unit.files.reduce((sum, { size }) => sum + size, 0) });
    } catch {
      // A place that cannot be looked through was an issue of the sweep.
      signal.throwIfAborted();
    }
  return found;
}

function missingIn(known: readonly KnownRestore[]): readonly KnownRestore[] {
  const carriedOn = new Set(known.filter(({ isStored }) => isStored).map(({ root }) => root));
  return known.filter(({ root, isStored }) => !isStored && carriedOn.has(root));
}
