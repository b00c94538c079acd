/**
 * Which store is at an address, known without loading the engine, so that a sync with nothing to do never does.
 * Cursors belong to one line of a store's history: where an older copy was put in its place, those of the newer one would
 * call rows stored that are not there. That it went back is told here by its tables' versions; where others committed since,
 * by the mark that stands with the cursors (spec.md#sync-marks). Of every copy that was there its last line is kept, so that
 * one that comes back is gone on with.
 */
import { join } from "node:path";
import { appendLog, readLog, rewriteLog } from "../base/files/append-log.ts";
import type { JsonObject } from "../base/json/json.ts";
import { isJsonObject, stringifyJson } from "../base/json/json.ts";

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

/** Cursors that were kept of a store at an address. */
export interface KnownCursors {
  /** The name under which they are kept. */
  readonly name: string;
  /** Of the store. */
  readonly id: string;
  /**
   * They were the last to be used at the address, by a sync that ended: where another copy was in the store's place since,
   * or everything was to be read again, it is not known yet what of all that was stored here the store lacks.
   */
  readonly isSettled: boolean;
  /** Whether the store that is there may be the one that they are of: no older than then, by the same commits. */
  readonly isContinuedBy: (facts: StoreFacts) => boolean;
}

/** All cursors that were kept of stores at this address, those used last first. */
export function knownCursors(stateFolder: string, address: StoreAddress): readonly KnownCursors[] {
  const own = readLog(logPath(stateFolder))
    .values.filter(isJsonObject)
    .filter(({ url, namespace }) => url === address.url && namespace === address.namespace);
  const newest = [...newestOf(own)].toReversed();
  return newest.map(([name, line], at) => ({
    name,
    id: typeof line["id"] === "string" ? line["id"] : "",
    isSettled: at === 0 && line["unsettled"] !== true,
    isContinuedBy: (facts) => isContinued(line, facts),
  }));
}

export interface StoreInUse extends StoreFacts {
  /** The name of the cursors that hold; absent: there are none, and others begin now. */
  readonly cursors?: string | undefined;
  /** See `KnownCursors`. */
  readonly isSettled: boolean;
}

/** Remembers the store as it is after a commit, and gives the name of its cursors. */
export function rememberStore(
  stateFolder: string,
  { url, namespace }: StoreAddress,
  { cursors, isSettled, ...facts }: StoreInUse,
): string {
  const line = {
    url,
    namespace,
    id: facts.id,
    versions: facts.versions,
    commits: commitsOf(facts),
    // Random: what another line of this address left behind is never taken for its own.
    cursors: cursors ?? process.getBuiltinModule("node:crypto").randomBytes(16).toString("hex"),
    ...(isSettled ? {} : { unsettled: true }),
  };
  const path = logPath(stateFolder);
  const lines = readLog(path).values.filter(isJsonObject);
  const last = lines.findLast((each) => each["url"] === url && each["namespace"] === namespace);
  if (stringifyJson(last ?? null) === stringifyJson(line)) return line.cursors;
  // The last line of cursors is all that counts: a log of many syncs is made short again.
  if (lines.length < MOST_LINES) appendLog(path, [line]);
  else rewriteLog(path, [...newestOf([...lines, line]).values()]);
  return line.cursors;
}

const MOST_LINES = 200;

const logPath = (stateFolder: string): string => join(stateFolder, "stores.jsonl");

/** The last line of cursors by their name, in the order in which these last lines came. */
function newestOf(lines: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const newest = new Map<string, JsonObject>();
  for (const line of lines) {
    const name = line["cursors"];
    if (typeof name !== "string") continue;
    newest.delete(name);
    newest.set(name, line);
  }
  return newest;
}

function commitsOf({ versions, commitOf }: StoreFacts): Record<string, string> {
  const commits = Object.entries(versions).map(([table, version]) => [table, commitOf(table, version) ?? ""]);
  return Object.fromEntries(commits);
}

/** The same store, no older than it was, and its versions still the commits that they were. */
function isContinued(last: JsonObject, facts: StoreFacts): boolean {
  if (last["id"] !== facts.id) return false;
  const versions = isJsonObject(last["versions"]) ? last["versions"] : {};
  const commits = isJsonObject(last["commits"]) ? last["commits"] : {};
  return Object.entries(versions).every(([table, version]) => {
    if ((facts.versions[table] ?? -1) < Number(version)) return false;
    const before = commits[table] ?? "";
    return before === "" || (facts.commitOf(table, Number(version)) ?? before) === before;
  });
}
