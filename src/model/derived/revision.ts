/**
 * Records that their client rewrites in place (spec.md#model-revisions). Each version is a row of its own, which its facts
 * (`value`, `at`, `revises`, `record`, `removed`) tell apart: the version with the greatest `at` is the newest; without it
 * the message's own instant counts. Pieces of a split record without a `value` are of the version that this one is.
 */
import type { WithFacts } from "./facts.ts";
import { factsOf } from "./facts.ts";
import type { Message } from "../types.ts";

/** One version of a record. */
export interface Revision {
  /** The id that the record's first version has. */
  readonly record: string;
  /** Equal for the messages of one version, different between versions. */
  readonly version: string;
  readonly at: number;
  readonly removed: boolean;
}

type Revisable = Pick<Message, "id" | "timestamp"> & WithFacts;

export function revisionOf(message: Revisable): Revision {
  const { id, timestamp } = message;
  const { record, revises, value, at, removed } = factsOf(message);
  return {
    record: record ?? revises ?? id,
    version: value ?? (record === undefined ? id : firstPieceOf(id)),
    at: at ?? timestamp / 1000,
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
