/**
 * What belongs to restored sessions that were carried on, and is not stored (spec.md#sources-restored): its sources did not
 * change, so that no sync would read them.
 */
import type { SessionStore } from "../sessions/index.ts";
import type { Context } from "./context.ts";
import { knownRestores } from "./known-restores.ts";
import type { Stale, Sweep } from "./sweep.ts";

/** The sources that hold it, as far as they are on this machine. */
export async function unreadSubagents(
  { signal }: Context,
  store: SessionStore,
  { adapter, places }: Sweep,
): Promise<readonly Stale[]> {
  const known = await knownRestores(store, adapter.name);
  const carriedOn = new Set(known.filter(({ isStored }) => isStored).map(({ root }) => root));
  const missing = known.filter(({ root, isStored }) => !isStored && carriedOn.has(root));
  if (missing.length === 0) return [];
  const paths = missing.flatMap((restore) => restore.paths.map((path) => path.replaceAll("\\", "/")));
  const found: Stale[] = [];
  for (const place of places)
    for await (const batch of adapter.units(place, signal))
      for (const unit of batch) {
        if ("kind" in unit) continue;
        // By its place below the client's: the folder may be another one than that of the machine that restored it.
        const isWritten = paths.some((path) => path.endsWith(`/${unit.key}`));
        if (!isWritten && !missing.some(({ session }) => unit.key.includes(session))) continue;
        const bytes = unit.files.reduce((sum, { size }) => sum + size, 0);
        found.push({ unit, place, bytes });
      }
  return found;
}
