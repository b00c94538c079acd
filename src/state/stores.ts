/**
 * Which store is at an address, known without loading the engine, so that a sync with nothing to do never does. The
 * answer holds for one incarnation: a local folder that was deleted, copied or restored is another one, whatever its
 * content says, because cursors of the old one would call rows stored that are not there.
 */
import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { appendLog, readLog } from "../base/append-log.ts";
import { isJsonObject } from "../base/json.ts";

export interface StoreAddress {
  readonly url: string;
  readonly namespace: string;
  /** The folder of a local store. */
  readonly folder?: string;
}

/** The name under which cursors and locks of this store are kept, or undefined when it was never opened. */
export function rememberedStore(stateFolder: string, address: StoreAddress): string | undefined {
  const incarnation = incarnationOf(address);
  let found: string | undefined;
  for (const line of readLog(logPath(stateFolder)).values)
    if (isJsonObject(line) && line["url"] === address.url && line["namespace"] === address.namespace)
      found = line["incarnation"] === incarnation && typeof line["id"] === "string" ? line["id"] : undefined;
  return found === undefined ? undefined : nameOf(found, address, incarnation);
}

/** Remembers the identity that the engine gave for this address. */
export function rememberStore(stateFolder: string, address: StoreAddress, id: string): string {
  const incarnation = incarnationOf(address);
  const name = nameOf(id, address, incarnation);
  if (rememberedStore(stateFolder, address) !== name)
    appendLog(logPath(stateFolder), [{ url: address.url, namespace: address.namespace, incarnation, id }]);
  return name;
}

const logPath = (stateFolder: string): string => join(stateFolder, "stores.jsonl");

function incarnationOf({ folder }: StoreAddress): string {
  if (folder === undefined) return "remote";
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.dev}:${stats.ino}:${Math.trunc(stats.birthtimeMs)}`;
}

function nameOf(id: string, { url, namespace }: StoreAddress, incarnation: string): string {
  return `${id}-${hash("sha256", `${url}\0${namespace}\0${incarnation}`, "hex").slice(0, 16)}`;
}
