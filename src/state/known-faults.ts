/**
 * What the last proof of a store found wrong (spec.md#keep-verify), so that `doctor` does not call it well: to find it again
 * takes a reading of everything. Losing this costs that reading.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { readLog, rewriteLog } from "../base/files/append-log.ts";
import { isJsonObject } from "../base/json/json.ts";
import type { StoreAddress } from "./stores.ts";

export interface KnownFaults {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Sessions that are not stored as they were read. */
  readonly sessions: number;
}

export function rememberFaults(stateFolder: string, address: StoreAddress, faults: KnownFaults): void {
  const path = pathOf(stateFolder, address);
  if (faults.sessions === 0 && readLog(path).values.length === 0) return;
  rewriteLog(path, faults.sessions === 0 ? [] : [{ ...faults }]);
}

export function knownFaults(stateFolder: string, address: StoreAddress): KnownFaults | undefined {
  const line = readLog(pathOf(stateFolder, address)).values.findLast(isJsonObject);
  if (line === undefined) return undefined;
  const { at, sessions } = line;
  return typeof at === "number" && typeof sessions === "number" ? { at, sessions } : undefined;
}

function pathOf(stateFolder: string, { url, namespace }: StoreAddress): string {
  return join(stateFolder, "faults", `${hash("sha256", `${url} ${namespace}`)}.jsonl`);
}
