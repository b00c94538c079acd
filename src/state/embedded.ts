/**
 * That everything is embedded, as of some sync and under some settings: a sync with nothing new need not ask the store, nor
 * load a model (spec.md#sync-stages). Losing it costs a look.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readLog, rewriteLog } from "../base/files/append-log.ts";
import { isJsonObject } from "../base/json/json.ts";

export interface Embedded {
  /** What the settings said of embeddings. */
  readonly settings: string;
  /** The `changes` of the last sync before. */
  readonly changes: number;
}

export function rememberEmbedded(stateFolder: string, store: string, embedded: Embedded): void {
  rewriteLog(pathOf(stateFolder, store), [{ ...embedded }]);
}

export function isEmbedded(stateFolder: string, store: string, { settings, changes }: Embedded): boolean {
  const line = readLog(pathOf(stateFolder, store)).values.findLast(isJsonObject);
  return line !== undefined && line["settings"] === settings && line["changes"] === changes;
}

/** Vectors may be gone, or messages be there that no sync brought: the next one looks. */
export function forgetEmbedded(stateFolder: string): void {
  rmSync(join(stateFolder, FOLDER), { recursive: true, force: true });
}

const FOLDER = "embedded";

const pathOf = (stateFolder: string, store: string): string =>
  join(stateFolder, FOLDER, `${encodeURIComponent(store)}.jsonl`);
