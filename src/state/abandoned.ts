/**
 * What killed processes left in the state folder: drafts of logs and locks, and copies of databases
 * (spec.md#storage-no-garbage). Each goes a day later: nobody is at one for so long, and by a name alone it cannot be told
 * whose it is.
 */
import { unlessFailed } from "../base/errors.ts";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const ABANDONED_MS = 24 * 60 * 60 * 1000;
/** By folder; prefixes see to theirs. */
const ABANDONED: Readonly<Record<string, RegExp>> = {
  ".": /\.new$|^reader\.\d+$/,
  locks: /\.lock\.\d+(?:\.dead)?$/,
  cursors: /\.new$/,
  syncs: /\.new$/,
  scratch: /^sqlite-/,
};

/** What cannot be removed is no reason not to go on. */
export function removeAbandoned(stateFolder: string, now: number): void {
  for (const [name, pattern] of Object.entries(ABANDONED)) {
    const folder = join(stateFolder, name);
    for (const entry of unlessFailed(() => readdirSync(folder)) ?? [])
      if (pattern.test(entry)) unlessFailed(() => removeIfOld(join(folder, entry), now));
  }
}

export function removeIfOld(path: string, now: number): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && stats.mtimeMs < now - ABANDONED_MS)
    rmSync(path, { recursive: true, force: true });
}
