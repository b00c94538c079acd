/** When the last sync of a store ended and what it took in; for `status` only. */
import { join } from "node:path";
import { readLog, rewriteLog } from "../base/files/append-log.ts";
import type { JsonValue } from "../base/json/json.ts";
import { isJsonObject } from "../base/json/json.ts";

export interface LastSync {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly messages: number;
  readonly issues: number;
  /** It was stopped before it had read everything. */
  readonly interrupted: boolean;
  /** What it stored is not in the indexes yet: it was stopped or killed before. */
  readonly isIndexDue?: boolean;
  /** How many syncs have stored something, this one included: what is done after an import is done up to one of them. */
  readonly changes?: number;
  /** Sources that it could not tell yet. */
  readonly waits: readonly RememberedWait[];
}

export interface RememberedWait {
  readonly path: string;
  readonly reason: string;
  /** From when on it is told, if nothing is written to it. In milliseconds since 1970, as all times here. */
  readonly from: number;
  /** When it was last written to. */
  readonly changed: number;
}

export function rememberSync(stateFolder: string, store: string, sync: LastSync): void {
  const waits = sync.waits.map((wait) => ({ ...wait }));
  rewriteLog(pathOf(stateFolder, store), [{ ...sync, waits }]);
}

export function lastSync(stateFolder: string, store: string): LastSync | undefined {
  const line = readLog(pathOf(stateFolder, store)).values.findLast(isJsonObject);
  if (line === undefined) return undefined;
  const { at, messages, issues } = line;
  if (typeof at !== "number" || typeof messages !== "number" || typeof issues !== "number") return undefined;
  const { waits, changes } = line;
  return {
    at,
    messages,
    issues,
    interrupted: line["interrupted"] === true,
    isIndexDue: line["isIndexDue"] === true,
    ...(typeof changes === "number" ? { changes } : {}),
    waits: Array.isArray(waits) ? waits.flatMap(waitIn) : [],
  };
}

function waitIn(value: JsonValue): RememberedWait[] {
  if (!isJsonObject(value)) return [];
  const { path, reason, from, changed } = value;
  if (typeof path !== "string" || typeof reason !== "string") return [];
  return typeof from === "number" && typeof changed === "number" ? [{ path, reason, from, changed }] : [];
}

const pathOf = (stateFolder: string, store: string): string =>
  join(stateFolder, "syncs", `${encodeURIComponent(store)}.jsonl`);
