/**
 * Which files pond itself wrote when it restored a session, as they were then. A source that nobody touched since is no
 * news: `verify` tells it from one that was never stored. Losing this list costs a sync of those files.
 */
import { join } from "node:path";
import { appendLog, readLog } from "../base/files/append-log.ts";
import { isJsonObject } from "../base/json/json.ts";

export interface RestoredStamp {
  /** By its real path. */
  readonly path: string;
  /** What `stat` said of it. */
  readonly stamp: string;
}

export function rememberRestored(stateFolder: string, files: readonly RestoredStamp[]): void {
  appendLog(
    pathOf(stateFolder),
    files.map((file) => ({ ...file })),
  );
}

/** The stamps of restored files by their paths; of one that was restored again the last. */
export function restoredStamps(stateFolder: string): ReadonlyMap<string, string> {
  const stamps = new Map<string, string>();
  for (const line of readLog(pathOf(stateFolder)).values) {
    if (!isJsonObject(line)) continue;
    const { path, stamp } = line;
    if (typeof path === "string" && typeof stamp === "string") stamps.set(path, stamp);
  }
  return stamps;
}

const pathOf = (stateFolder: string): string => join(stateFolder, "restores.jsonl");
