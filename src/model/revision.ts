/**
 * Records that their client rewrites in place (spec.md#model-revisions). Each version is a row of its own and says in
 * `options.pond`:
 * - `value`: the hash of the record's value, where an older pond stored it.
 * - `at`: milliseconds since 1970 of the last change that the source recorded; the version with the greatest one is
 *   the newest. Without it the message's own instant counts.
 * - `revises`: on every version but the first, the id of the message that it stands for.
 * - `record`: where one record is split over several messages, the id of the first of them. Without a `value` they are
 *   of the version that this one is.
 * - `removed`: the client no longer has the record.
 */
import type { JsonObject } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import type { Message } from "./types.ts";

/** One version of a record. */
export interface Revision {
  /** The id that the record's first version has. */
  readonly record: string;
  /** Equal for the messages of one version, different between versions. */
  readonly version: string;
  readonly at: number;
  readonly removed: boolean;
}

type Revisable = Pick<Message, "id" | "timestamp" | "options">;

export function revisionOf({ id, timestamp, options }: Revisable): Revision {
  const pond: JsonObject = isJsonObject(options["pond"]) ? options["pond"] : {};
  const { record, revises, value, at, removed } = pond;
  return {
    record: [record, revises].find((name) => typeof name === "string") ?? id,
    version: typeof value === "string" ? value : typeof record === "string" ? firstPieceOf(id) : id,
    at: typeof at === "number" ? at : timestamp / 1000,
    removed: removed === true,
  };
}

/** The pieces of a version are named by its first one (spec.md#model-ids). */
const firstPieceOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf("/"))) || id;

/**
 * The messages without superseded versions and without what its client removed. A record stands where its first
 * version stood.
 */
export function newestRevisions<T extends { readonly message: Revisable }>(messages: readonly T[]): T[] {
  const records = new Map<string, { newest: Revision; entries: T[] }>();
  for (const entry of messages) {
    const revision = revisionOf(entry.message);
    const known = records.get(revision.record);
    if (known === undefined) records.set(revision.record, { newest: revision, entries: [entry] });
    else if (isNewer(revision, known.newest)) {
      known.newest = revision;
      known.entries = [entry];
    } else if (isSameVersion(revision, known.newest)) known.entries.push(entry);
  }
  return records
    .values()
    .flatMap(({ newest, entries }) => (newest.removed ? [] : entries))
    .toArray();
}

/** Equal times are told apart by the version's name: any order will do, as long as it is always the same. */
function isNewer(a: Revision, b: Revision): boolean {
  return a.at > b.at || (a.at === b.at && a.version > b.version);
}

function isSameVersion(a: Revision, b: Revision): boolean {
  return a.at === b.at && a.version === b.version;
}
