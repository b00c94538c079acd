/**
 * Which store is at an address, known without loading the engine, so that a sync with nothing to do never does.
 * Cursors belong to one incarnation of a store: a local folder that was deleted, copied or rolled back to an older
 * version is another one, because cursors of the newer one would call rows stored that are not there.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { appendLog, readLog, rewriteLog } from "../base/append-log.ts";
import type { JsonObject } from "../base/json.ts";
import { isJsonObject, stringifyJson } from "../base/json.ts";

export interface StoreAddress {
  readonly url: string;
  readonly namespace: string;
  /** The folder of a local store. */
  readonly folder?: string;
}

/** What is known of the store that is there now; `versions` by table, where they can be told cheaply. */
export interface StoreFacts {
  readonly id: string;
  readonly versions: Readonly<Record<string, number>>;
}

/**
 * The name under which the store's cursors are kept, or undefined when it was not seen before. `facts` is what a look
 * at a local store tells; a remote one is taken by its address until it is opened.
 */
export function rememberedStore(
  stateFolder: string,
  address: StoreAddress,
  facts: StoreFacts | undefined,
): string | undefined {
  const last = lastLine(stateFolder, address);
  if (last === undefined) return undefined;
  if (address.folder !== undefined && (facts === undefined || !isContinued(last, address, facts)))
    return undefined;
  return typeof last["cursors"] === "string" ? last["cursors"] : nameOf(last);
}

/** Remembers the store as it is after a commit, and gives the name of its cursors. */
export function rememberStore(stateFolder: string, address: StoreAddress, facts: StoreFacts): string {
  const last = lastLine(stateFolder, address);
  const continued = last !== undefined && isContinued(last, address, facts);
  const epoch = continued ? Number(last["epoch"]) : Number(last?.["epoch"] ?? 0) + 1;
  const { url, namespace } = address;
  const line = {
    url,
    namespace,
    incarnation: incarnationOf(address),
    id: facts.id,
    epoch,
    versions: facts.versions,
  };
  const named = { ...line, cursors: nameOf(line) };
  if (!continued || stringifyJson(last) !== stringifyJson(named)) append(stateFolder, named);
  return named.cursors;
}

/** The last line of an address is all that counts: a log of many syncs is made short again. */
function append(stateFolder: string, line: JsonObject): void {
  const path = logPath(stateFolder);
  const lines = [...readLog(path).values.filter(isJsonObject), line];
  if (lines.length <= MOST_LINES) return appendLog(path, [line]);
  const newest = new Map(
    lines.map((each) => [stringifyJson([each["url"] ?? "", each["namespace"] ?? ""]), each]),
  );
  rewriteLog(path, [...newest.values()]);
}

const MOST_LINES = 200;

const logPath = (stateFolder: string): string => join(stateFolder, "stores.jsonl");

function lastLine(stateFolder: string, { url, namespace }: StoreAddress): JsonObject | undefined {
  return readLog(logPath(stateFolder))
    .values.filter(isJsonObject)
    .findLast((line) => line["url"] === url && line["namespace"] === namespace);
}

/** The same store, no older than it was. */
function isContinued(last: JsonObject, address: StoreAddress, facts: StoreFacts): boolean {
  if (last["id"] !== facts.id || last["incarnation"] !== incarnationOf(address)) return false;
  const versions = isJsonObject(last["versions"]) ? last["versions"] : {};
  return Object.entries(versions).every(
    ([table, version]) => (facts.versions[table] ?? -1) >= Number(version),
  );
}

function incarnationOf({ folder }: StoreAddress): string {
  if (folder === undefined) return "remote";
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.dev}:${stats.ino}:${Math.trunc(stats.birthtimeMs)}`;
}

function nameOf({ url, namespace, incarnation, id, epoch }: JsonObject): string {
  const identity = stringifyJson([url ?? "", namespace ?? "", incarnation ?? "", id ?? "", epoch ?? 0]);
  // Not imported, as a sync with nothing to do finds the name in the log, and loading it takes 6 ms.
  return process.getBuiltinModule("node:crypto").hash("sha256", identity, "hex").slice(0, 32);
}
