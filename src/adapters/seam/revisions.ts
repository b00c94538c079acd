/**
 * What the store holds of a source that rewrites records in place, and what a record becomes under it
 * (spec.md#model-revisions). Cursors only save time: whether a record changed is decided against stored rows, so
 * that a lost cursor loses no change and a change is never stored twice.
 */
import type { Revision } from "../../model/index.ts";

/** A version that is stored: `id` is that of its first message. */
export interface StoredRevision extends Revision {
  readonly id: string;
}

/** The stored versions of a session's records, by record. */
export type StoredRecords = ReadonlyMap<string, readonly StoredRevision[]>;

/** The record as it is now: the hash of its value, and milliseconds since 1970 of its last change. */
export interface RecordState {
  readonly value: string;
  readonly at: number;
}

/** How a record stands to what is stored of it. */
export type Standing = "new" | "same" | "changed";

export class RevisionBook {
  readonly #stored: StoredRecords;

  constructor(stored: StoredRecords = new Map()) {
    this.#stored = stored;
  }

  standing(record: string, value: string): Standing {
    const newest = this.#newest(record);
    if (newest === undefined) return "new";
    return newest.version === value && !newest.removed ? "same" : "changed";
  }

  /** The id and the facts of a changed record's row: it is newer than all that is stored, whatever the clocks say. */
  revise(
    record: string,
    { value, at }: RecordState,
  ): { readonly id: string; readonly facts: { value: string; at: number; revises: string } } {
    const versions = this.#stored.get(record) ?? [];
    const taken = new Set(versions.map(({ id }) => id));
    let id = `${record}@${value}`;
    // A record that went back to an older value and away again: each turn is a version of its own.
    for (let turn = 2; taken.has(id); turn += 1) id = `${record}@${value}#${turn}`;
    const newest = this.#newest(record);
    return {
      id,
      facts: { value, at: newest === undefined ? at : Math.max(at, newest.at + 1), revises: record },
    };
  }

  /** Stored records that the source no longer has. */
  missing(present: ReadonlySet<string>): readonly string[] {
    return [...this.#stored.keys()].filter(
      (record) => !present.has(record) && this.#newest(record)?.removed === false,
    );
  }

  #newest(record: string): StoredRevision | undefined {
    const versions = this.#stored.get(record) ?? [];
    return versions.reduce<StoredRevision | undefined>(
      (best, version) => (best === undefined || version.at >= best.at ? version : best),
      undefined,
    );
  }
}
