/**
 * What an adapter is (spec.md#adapter-codec, docs/adapters/README.md): two faces in one folder. The parse face opens a
 * place, lists its units and streams what each contains; the serialize face is a pure function of stored sessions and
 * holds no source. A client's index loads what finds sources and no more: reading and writing are loaded when they are
 * called, so that a sync with nothing to do is fast.
 */
import type { Lineage, SessionState } from "../../../model/events/index.ts";
import type { ContextRule } from "../foreign/context.ts";
import type { AdapterEnv, OpenedPlace, Place } from "../sources/reading.ts";
import type { RecordHashes } from "../files/record-chain.ts";
import type { Restored, SerializeOptions } from "../restore/restore.ts";

/** Something about a client on this machine that its user should know, and what to do about it. */
export interface Advice {
  readonly message: string;
  readonly fix: string;
  /** False for what is well as long as its user knows it. */
  readonly isUrgent: boolean;
}

/** A session that a client has, under the id by which it is resumed. */
export interface PresentSession {
  /** Its log, or the database that holds it. */
  readonly path: string;
  /** The directory that the client lists it under, where that is recorded beside the session and not by it. */
  readonly directory?: string;
  /** The ids of its messages, where the client tells them apart from what they say. */
  readonly messages?: readonly string[];
  /** The command that gets it back, word by word, where the client has put it away. */
  readonly getBack?: readonly string[];
  /** The command that deletes it, where it is no file of its own. */
  readonly remove?: readonly string[];
}

/** A client as pond knows it: where it keeps sessions, how they are read, and how they are written back. */
export interface Adapter {
  /** The brand: the part of `source_agent` before the first `/`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Where this client would keep sessions on this machine; `placesThatExist` tells which are there. */
  readonly defaultPlaces: (machine: AdapterEnv) => readonly Place[];
  /** Opens a place of this client, in whichever thread. Nothing is listed yet. */
  readonly open: (place: Place, machine: AdapterEnv) => Promise<OpenedPlace>;
  /** Present where `read` reports the record behind each message, so that trees can be read from its files. */
  readonly reportsSpans?: true;
  /** What `pond doctor` says about this client here, such as that it deletes old sessions by itself. */
  readonly advise?: (machine: AdapterEnv) => Promise<readonly Advice[]>;
  /** After how many milliseconds without a change the client deletes files of a place by itself. */
  readonly deletesAfter?: (place: Place) => Promise<number>;
  /** A union, so that whether restore works is known without calling it. */
  readonly restore:
    | {
        readonly kind: "supported";
        /** Present where only its own sessions can be restored into it: what to do with others instead. */
        readonly insteadOfForeign?: string;
        readonly serialize: (lineage: Lineage, options: SerializeOptions) => Promise<Restored>;
        /** What a native restore gives back of these messages, hashed as the reader hashes what a source has. */
        readonly hashes: (state: SessionState, form: string) => Promise<RecordHashes>;
        /** Loads what tells of a session of this client what its model still had, for restores into others. */
        readonly context: () => Promise<ContextRule>;
        /** Where a place has a session of this id, in whatever folder of it; nothing of the session is read. */
        readonly present: (
          id: string,
          at: { readonly place: Place; readonly machine: AdapterEnv },
        ) => Promise<readonly PresentSession[]>;
      }
    | { readonly kind: "unsupported"; readonly instead: string };
}
