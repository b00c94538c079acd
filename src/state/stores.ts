/**
 * Which store is at an address, known without loading the engine, so that a sync with nothing to do never does.
 * Cursors belong to one incarnation of a store: a local folder that was deleted, copied or rolled back to an older
 * version is another one, because cursors of the newer one would call rows stored that are not there. That it went back is
 * told here by its tables' versions; where others committed since, by the mark that stands with the cursors
 * (spec.md#sync-marks).
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

/** What is known of the store that is there now. */
export interface StoreFacts {
  readonly id: string;
  /** Of its tables, where they can be told cheaply. */
  readonly versions: Readonly<Record<string, number>>;
  /** The commit that made a version of a table; undefined where that version is not there, or not any more. */
  readonly commitOf: (table: string, version: number) => string | undefined;
}

/**
 * The name under which the store's cursors are kept, or undefined when it was not seen before or is another one now.
 * `facts`: what a look at the store tells; undefined where there is none, or it cannot be told without opening it.
 */
export function rememberedStore(
  stateFolder: string,
  address: StoreAddress,
  facts: StoreFacts | undefined,
): string | undefined {
  const last = lastLine(stateFolder, address);
  if (last === undefined || facts === undefined || !isContinued(last, address, facts)) return undefined;
  return cursorsOf(last);
}

/** True where a store of the same identity was seen at this address: one that is not remembered went back in time. */
export function isSeenBefore(stateFolder: string, address: StoreAddress, id: string): boolean {
  return lastLine(stateFolder, address)?.["id"] === id;
}

/** Remembers the store as it is after a commit, and gives the name of its cursors. `anew`: those there are do not hold. */
export function rememberStore(
  stateFolder: string,
  address: StoreAddress,
  facts: StoreFacts & { readonly anew?: boolean },
): string {
  const last = facts.anew === true ? undefined : lastLine(stateFolder, address);
  const known = last !== undefined && isContinued(last, address, facts) ? cursorsOf(last) : undefined;
  const { url, namespace } = address;
  const line = {
    url,
    namespace,
    incarnation: incarnationOf(address),
    id: facts.id,
    versions: facts.versions,
    commits: commitsOf(facts),
    // Random: what another line of this address left behind is never taken for its own.
    cursors: known ?? process.getBuiltinModule("node:crypto").randomBytes(16).toString("hex"),
  };
  if (known === undefined || stringifyJson(last ?? null) !== stringifyJson(line)) append(stateFolder, line);
  return line.cursors;
}

function commitsOf({ versions, commitOf }: StoreFacts): Record<string, string> {
  const commits = Object.entries(versions).map(([table, version]) => [table, commitOf(table, version) ?? ""]);
  return Object.fromEntries(commits);
}

function cursorsOf(line: JsonObject): string | undefined {
  return typeof line["cursors"] === "string" ? line["cursors"] : undefined;
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

/** The same store, no older than it was, and its versions still the commits that they were. */
function isContinued(last: JsonObject, address: StoreAddress, facts: StoreFacts): boolean {
  if (last["id"] !== facts.id || last["incarnation"] !== incarnationOf(address)) return false;
  const versions = isJsonObject(last["versions"]) ? last["versions"] : {};
  const commits = isJsonObject(last["commits"]) ? last["commits"] : {};
  return Object.entries(versions).every(([table, version]) => {
    if ((facts.versions[table] ?? -1) < Number(version)) return false;
    const before = commits[table] ?? "";
    return before === "" || (facts.commitOf(table, Number(version)) ?? before) === before;
  });
}

function incarnationOf({ folder }: StoreAddress): string {
  if (folder === undefined) return "remote";
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.dev}:${stats.ino}:${Math.trunc(stats.birthtimeMs)}`;
}
