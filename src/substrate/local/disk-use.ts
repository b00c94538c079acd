/** What a local table takes on disk; the numbers the engine does not give. Read-only. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

export interface DiskUse {
  readonly bytes: number;
  readonly versions: number;
  /** Versions older than the cutoff, the newest one not counted: it is always kept. */
  readonly staleVersions: number;
}

export async function diskUse(directory: string, cutoffMs: number): Promise<DiskUse> {
  let bytes = 0;
  const manifests: { readonly name: string; readonly mtimeMs: number }[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const info = await stat(join(entry.parentPath, entry.name)).catch(ignoreMissing);
    if (info === undefined) continue;
    bytes += info.size;
    if (entry.name.endsWith(".manifest") && entry.parentPath.endsWith("_versions"))
      manifests.push({ name: entry.name, mtimeMs: info.mtimeMs });
  }
  // Names count down from 2^64, so that the newest comes first.
  const older = manifests.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(1);
  return {
    bytes,
    versions: manifests.length,
    staleVersions: older.filter(({ mtimeMs }) => mtimeMs < cutoffMs).length,
  };
}

/** Another process may clean old files away while we look. */
function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}
