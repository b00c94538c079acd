/**
 * Names the ordered records of a source (spec.md#sources-state): each link is a digest of the one before and of a record's
 * value, so that equal chains mean equal records in the same order, and a log that grew goes on from where its chain stood.
 */
import { hash } from "node:crypto";
import type { JsonValue } from "../../../base/json/json.ts";
import type { RawLine } from "./raw-line.ts";
import { isRawLine } from "./raw-line.ts";
import { valueHash } from "../../../base/json/value-hash.ts";

/** Hex digits of a link, and of the hash of a value: 128 bits. */
const LENGTH = 32;

/** The chain of no records. */
export const NO_RECORDS = "";

/** How far a log was told: how many records, their chain, and the newest instant among them. */
export interface LogMark {
  readonly records: number;
  readonly chain: string;
  readonly newest: number;
}

export function linkTo(chain: string, record: string): string {
  return hash("sha256", chain + record, "hex").slice(0, LENGTH);
}

/** The hash of a record's value; of a line that is no JSON, of its bytes. */
export function recordHash(record: JsonValue | RawLine): string {
  return isRawLine(record) ? bytesHash(record.raw) : valueHash(record);
}

export function bytesHash(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex").slice(0, LENGTH);
}

/** What a state holds, without its order of reading: the chain of its records, and what stands beside them. */
export interface StateDigest {
  readonly records: number;
  readonly digest: string;
  /** Of what has no place in the order: files beside a log, the session's own record. */
  readonly side: string;
}

/** The digest of what stands beside the records, by name; empty where there is nothing. */
export function sideDigest(side: ReadonlyMap<string, string>): string {
  return side.size === 0 ? "" : valueHash([...side].map(([name, value]) => [name, value]).toSorted(byName));
}

const byName = ([a = ""]: readonly string[], [b = ""]: readonly string[]): number => (a < b ? -1 : 1);

/** Records in order and what stands beside them, by their names, each with its hash. */
export interface RecordHashes {
  readonly log: readonly {
    readonly record: string;
    readonly hash: string;
    /** Where it is told otherwise than by its value alone (`LogRecord.version`). */
    readonly version?: string;
  }[];
  readonly side: ReadonlyMap<string, string>;
}

export function digestOf({ log, side }: RecordHashes): StateDigest {
  const digest = log.reduce((chain, { hash: value }) => linkTo(chain, value), NO_RECORDS);
  return { records: log.length, digest, side: sideDigest(side) };
}

/** The hashes of files beside a log. */
export function fileHashes(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, string> {
  return new Map([...files].map(([name, data]) => [`file:${name}`, bytesHash(data)]));
}
