/**
 * Sources that were stored once and are neither on disk nor in the store any more, by the cursors of the store that lacks
 * them (spec.md#sync-marks). Another copy of the store that is put in place has cursors of its own, and misses nothing here.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readLog, rewriteLog } from "../base/files/append-log.ts";
import { isJsonObject } from "../base/json/json.ts";
import type { SourceName } from "./cursors.ts";

export interface LostSource extends SourceName {
  /** The session that it told and how many records of it, where it is a log of one. */
  readonly session?: string;
  readonly records?: number;
}

export function lostSources(stateFolder: string, store: string): readonly LostSource[] {
  return readLog(lostPath(stateFolder, store)).values.flatMap((line): LostSource[] => {
    if (!isJsonObject(line)) return [];
    const { adapter, root, key, session, records } = line;
    if (typeof adapter !== "string" || typeof root !== "string" || typeof key !== "string") return [];
    const log = typeof session === "string" && typeof records === "number" ? { session, records } : {};
    return [{ adapter, root, key, ...log }];
  });
}

export function rememberLost(stateFolder: string, store: string, sources: readonly LostSource[]): void {
  const path = lostPath(stateFolder, store);
  if (sources.length === 0) return rmSync(path, { force: true });
  rewriteLog(
    path,
    sources.map((source) => ({ ...source })),
  );
}

/** The file to delete where nothing can be done about them. */
export const lostPath = (stateFolder: string, store: string): string =>
  join(stateFolder, "lost", `${encodeURIComponent(store)}.jsonl`);
