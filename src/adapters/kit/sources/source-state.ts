/**
 * What a reader says of a source that it read to its end without a fault (spec.md#sources-state). Recorded with the rows,
 * it is what restores, get and verify go by.
 */
import type { StateDigest } from "../files/record-chain.ts";

/** The state of a source, as far as it tells of one session. */
export interface ReadState extends StateDigest {
  /** What was read: a file, or the folder or database that holds the session. Absolute. */
  readonly path: string;
  /** Its name below the place it was found in, with `/`. */
  readonly key: string;
  /** How the source holds the session: a log, or what the client's adapter calls it. */
  readonly form: string;
  /** Records at the start that were not told again: they are those of the state before. */
  readonly kept: number;
  /** The records beside the log that are there, told or not. */
  readonly present: readonly string[];
  /** Microseconds since 1970 of the newest instant that the records tell. */
  readonly recorded?: number;
  /** False where a record was held back or could not be read: then the digest is of no use. */
  readonly isWhole: boolean;
}

/** What the store has of a session's records, for sources that are read whole whenever one record changed. */
export interface StoredHashes {
  has(record: string, hash: string): boolean;
  /** In whatever version. */
  isKnown(record: string): boolean;
}
