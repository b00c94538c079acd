/**
 * A message row on its way into the store. It claims its id; whoever was first keeps it, and the same record with another
 * value becomes a version beside it (spec.md#storage-versions): matched means equal by value.
 */
import type { RecordPiece } from "../../model/index.ts";
import { joinKey } from "../../substrate/index.ts";
import { hashNumber } from "./encode.ts";
import type { StateDraft } from "./state-draft.ts";

/** What the store has under an id. */
export interface StoredVersion {
  readonly session_id: string;
  readonly id: string;
  /** The record that it is a version of. */
  readonly record: string;
  /** Null where an older pond stored it. */
  readonly hash: number | null;
  readonly origin: string | null;
  readonly seq: number | null;
  readonly parts: number | null;
}

/** The versions that are stored, by session and id. */
export type StoredVersions = ReadonlyMap<string, StoredVersion>;

/** Where a record stands in the store: by the read that stored it and its position there, or by the id of its row. */
export type RecordPlace = { readonly origin: string; readonly seq: number } | { readonly id: string };

/** What whoever gave a message is told of it. */
export type MessageClaim = Pick<Claim, "result" | "partResult" | "rowId" | "rowSeq">;

export class Claim {
  readonly session: string;
  readonly record: RecordPiece;
  /** What the row says of itself (`encodeRepeats`). */
  readonly repeats: string;
  readonly seq: number | undefined;
  readonly origin: string;
  /** The first piece of its record; undefined for that one. */
  readonly first: Claim | undefined;
  /** The state that is being told. */
  readonly draft: StateDraft | undefined;
  /** The id that it was told under. */
  readonly #givenId: string;
  /** The id it is to be stored under. */
  id: string;
  /** `new`: it is this row. `stored`: an equal one was there. `lost`: another one took the id at the same moment. */
  outcome: "open" | "new" | "stored" | "lost" = "open";
  /** The equal row that was there. */
  stored: StoredVersion | undefined;
  /** An equal claim of the same batch. */
  same: Claim | undefined;
  /** Of an equal row that a crash left without some of its parts: those that were there, by their joined keys. */
  partsBefore: ReadonlySet<string> | undefined;

  constructor(of: {
    readonly session: string;
    readonly id: string;
    readonly record: RecordPiece;
    readonly repeats: string;
    readonly seq: number | undefined;
    readonly origin: string;
    readonly first: Claim | undefined;
    readonly draft: StateDraft | undefined;
  }) {
    this.session = of.session;
    this.#givenId = of.id;
    this.id = of.first === undefined ? of.id : `${of.first.id}/${of.record.piece}`;
    this.record = of.record;
    this.repeats = of.repeats;
    this.seq = of.seq;
    this.origin = of.origin;
    this.first = of.first;
    this.draft = of.draft;
  }

  get key(): string {
    return joinKey([this.session, this.id]);
  }

  /** The same of the id that it was told under. */
  get givenKey(): string {
    return joinKey([this.session, this.#givenId]);
  }

  get hash(): number {
    return hashNumber(this.record.hash);
  }

  /** The id of its record's other version: made of the value, so that every writer makes the same one. */
  get versionId(): string {
    return versionIdOf(this.record);
  }

  /** True where the row is not stored as the record's first version. */
  get isVersion(): boolean {
    const own = this.first ?? this;
    return own.id === versionIdOf(own.record) && own.id !== own.record.id;
  }

  /**
   * Decides by what is stored under its id. Of a record in several pieces the first one decides for all of them. `hashOf`
   * tells the hash of a row that has none.
   */
  decide(known: StoredVersions, hashOf: (version: StoredVersion) => number | undefined): void {
    if (this.first !== undefined) {
      this.id = `${this.first.id}/${this.record.piece}`;
      if (this.first.outcome === "lost") return void (this.outcome = "lost");
      const stored = known.get(this.key);
      if (stored !== undefined) this.#match(stored);
      return;
    }
    // By the id it was told under also where another claim of the batch has it: what is stored comes first.
    const stored = known.get(this.givenKey);
    if (stored !== undefined) {
      if (isEqual(stored, this, hashOf)) return this.#match(stored);
      this.id = this.versionId;
    }
    const version = known.get(this.key);
    if (version !== undefined) this.#match(version);
  }

  /** Decides after an insert that did not take every row. */
  confirm(known: StoredVersions): void {
    const stored = known.get(this.key);
    if (stored === undefined) this.outcome = "lost";
    else if (stored.origin === this.origin && stored.seq === (this.seq ?? null)) this.outcome = "new";
    else if (stored.hash === this.hash) this.#match(stored);
    else this.outcome = "lost";
  }

  /** Where its record is, once that is decided; undefined for what is lost. */
  get place(): RecordPlace | undefined {
    if (this.same !== undefined) return this.same.place;
    if (this.outcome === "lost") return undefined;
    const { stored } = this;
    if (stored === undefined)
      return this.seq === undefined ? { id: this.id } : { origin: this.origin, seq: this.seq };
    return placeOf(stored);
  }

  /** What became of it; undefined while that is open, and where it is lost. */
  get result(): "inserted" | "matched" | undefined {
    if (this.same !== undefined) return this.same.result === undefined ? undefined : "matched";
    if (this.outcome === "new") return "inserted";
    return this.outcome === "stored" ? "matched" : undefined;
  }

  /** The same of one of its parts. */
  partResult(id: string): "inserted" | "matched" | undefined {
    const { partsBefore, result } = this;
    if (result !== "matched" || partsBefore === undefined) return result;
    return partsBefore.has(joinKey([this.session, this.rowId, id])) ? "matched" : "inserted";
  }

  /** The id its row has, once that is decided. */
  get rowId(): string {
    return this.same?.rowId ?? this.stored?.id ?? this.id;
  }

  /** The position its row has: that of an equal row that was there first. */
  get rowSeq(): number | undefined {
    if (this.same !== undefined) return this.same.rowSeq;
    return this.stored === undefined ? this.seq : (this.stored.seq ?? undefined);
  }

  #match(stored: StoredVersion): void {
    this.outcome = "stored";
    this.stored = stored;
  }
}

export function placeOf({ id, origin, seq }: StoredVersion): RecordPlace {
  return origin === null || seq === null ? { id } : { origin, seq };
}

export function versionIdOf({ id, hash }: RecordPiece): string {
  return `${id}@${hash}`;
}

function isEqual(
  stored: StoredVersion,
  { hash, record }: Claim,
  hashOf: (version: StoredVersion) => number | undefined,
): boolean {
  // An id that holds the hash says it itself.
  if (stored.hash === null && stored.id === versionIdOf(record)) return true;
  return (stored.hash ?? hashOf(stored)) === hash;
}
