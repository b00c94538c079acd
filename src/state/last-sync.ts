/** When the last sync of a store ended and what it took in; for `status` only. */
import { join } from "node:path";
import { readLog, rewriteLog } from "../base/append-log.ts";
import { isJsonObject } from "../base/json.ts";

export interface LastSync {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly messages: number;
  readonly issues: number;
  /** It was stopped before it had read everything. */
  readonly interrupted: boolean;
}

export function rememberSync(stateFolder: string, store: string, sync: LastSync): void {
  rewriteLog(pathOf(stateFolder, store), [{ ...sync }]);
}

export function lastSync(stateFolder: string, store: string): LastSync | undefined {
  const line = readLog(pathOf(stateFolder, store)).values.findLast(isJsonObject);
  if (line === undefined) return undefined;
  const { at, messages, issues } = line;
  if (typeof at !== "number" || typeof messages !== "number" || typeof issues !== "number") return undefined;
  return { at, messages, issues, interrupted: line["interrupted"] === true };
}

const pathOf = (stateFolder: string, store: string): string =>
  join(stateFolder, "syncs", `${encodeURIComponent(store)}.jsonl`);
