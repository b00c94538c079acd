/**
 * What an adapter is (spec.md#adapter-codec): two faces in one folder. The parse face finds and streams sources;
 * the serialize face is a pure function of stored sessions and holds no source. A client's index loads what finds
 * sources and no more: reading and writing are loaded when they are called, so that a sync with nothing to do is fast.
 */
import type { JsonValue } from "../../base/json.ts";
import type { Event, Lineage, MessageKey, RecordPiece, SessionId, SessionState } from "../../model/index.ts";
import type { Cursor } from "./freshness.ts";
import type { Issue } from "./issue.ts";
import type { ContextRule } from "./foreign/context.ts";
import type { Restored, SerializeOptions } from "./restore.ts";
import type { RecordHashes } from "./record-chain.ts";
import type { StoredHashes, ToldState } from "./source-state.ts";
import type { FileStamp } from "./stamp.ts";

/** The machine as adapters may see it; nothing in an adapter reads the process's own environment. */
export interface AdapterEnv {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** A folder of pond's own for temporary copies. */
  readonly scratch: string;
}

/** A folder or file in which a client keeps sessions. */
export interface Place {
  readonly root: string;
  /** Where only some files below the root are meant: their paths. The caller leaves the other units out. */
  readonly files?: readonly string[];
  /** Where only some of what the place holds is meant: paths of files, and of folders with a separator at the end. */
  readonly within?: readonly string[];
  /** `default` and `environment` are the client's own places. */
  readonly origin: "default" | "environment" | "config" | "flag";
  /** The client's own variable that names it, where the environment does. */
  readonly variable?: string;
}

/** What is read, resumed and skipped as one: a session log with the files beside it, or a database. */
export interface Unit {
  /** Stable inside its place: the path below the root, with `/`. */
  readonly key: string;
  /** Everything whose change makes the unit stale, the log first. Paths are absolute. */
  readonly files: readonly FileStamp[];
  /** What only the discovery of the whole place can know and reading needs; never stored. */
  readonly found?: JsonValue;
}

export interface ReadRequest {
  readonly place: Place;
  readonly machine: AdapterEnv;
  /** Where the last committed read stopped; absent on the first one. */
  readonly cursor?: Cursor;
  /** Who keeps the prefixes of logs. Absent: nobody, and a log that grew is read from its start. */
  readonly prefix?: PrefixKeeper;
  /** Milliseconds since 1970; decides whether a source is still being written. */
  readonly now: number;
  /**
   * What the store holds of these sessions, for sources that are read whole whenever a record changed: what is stored as it
   * is need not be told again. Absent: nothing is known of it.
   */
  readonly stored?: (sessions: readonly SessionId[]) => Promise<ReadonlyMap<SessionId, StoredHashes>>;
  readonly signal?: AbortSignal;
  /** Told of each message where it was read from, before the message itself; by adapters with `tellsSpans`. */
  readonly trace?: Trace;
}

/** Keeps what a checkpoint says of the prefix before it, for the read that goes on behind (spec.md#sync-prefix). */
export interface PrefixKeeper {
  /** What the checkpoint of the request's cursor said; undefined when that is lost. */
  readonly load: () => Promise<JsonValue | undefined>;
  /** Bytes from which on a prefix is worth keeping, where that is not for the adapter to say. */
  readonly least?: number;
}

/** The record that a message was read from (spec.md#live-staged-tree-spans). */
export interface RecordSource {
  /** The log, where it is no other file. */
  readonly path?: string;
  /** 1-based, in a file of lines. */
  readonly line?: number;
  /** Its bytes in the file: from, and up to without. */
  readonly offset: number;
  readonly end: number;
  /** What these bytes hold: one JSON value, or a whole file as it is. Absent: neither. */
  readonly value?: JsonValue | Uint8Array;
}

export interface Told extends MessageKey {
  /** Bytes of its record in the source; 0 for the further messages of one record. */
  readonly bytes: number;
  /** Absent where it stands in no span of bytes, such as in a compressed log. */
  readonly record?: RecordSource;
}

export type Trace = (told: Told) => void;

/**
 * Events in the order of spec.md#adapter-integrity-event-ordering, with issues between them. A checkpoint says that
 * everything before it, once committed, need not be read again, and what to know of it for that. `waiting` says that the unit cannot be told yet, or not
 * to its end; `from` when on, in milliseconds since 1970, it is told as it is, if nothing is written to it. `superseded` says that another unit holds the session in a newer form: it was compared, not stored. `state`
 * ends what is told of a session where it was read to its end without a fault.
 */
export type AdapterYield =
  | Event
  | { readonly kind: "issue"; readonly issue: Issue }
  | { readonly kind: "checkpoint"; readonly cursor: Cursor; readonly prefix?: JsonValue | undefined }
  | { readonly kind: "waiting"; readonly reason: string; readonly from?: number }
  | { readonly kind: "superseded"; readonly session: SessionId; readonly differences: number }
  | RecordYield
  | { readonly kind: "state"; readonly session: SessionId; readonly state: ToldState };

/**
 * A record of the session told before, in its place among the others: stored with that hash, or, where the hash is empty,
 * as the state before had it.
 */
export interface RecordYield {
  readonly kind: "record";
  readonly session: SessionId;
  readonly record: RecordPiece;
  readonly positioned: boolean;
}

/** All that a unit holds on disk, told without reading what it says: what a restore of its sessions must account for. */
export interface Inventory {
  /** Absolute. */
  readonly files: readonly string[];
  /** The tables that sessions live in, with all their rows. */
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
}

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

export interface Adapter {
  /** The brand: the part of `source_agent` before the first `/`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Where this client would keep sessions on this machine; `placesThatExist` tells which are there. */
  readonly looks: (machine: AdapterEnv) => readonly Place[];
  /** The units of a place, in batches, each file only stat-ed. */
  readonly units: (place: Place, signal?: AbortSignal) => AsyncIterable<readonly (Unit | Issue)[]>;
  /** The events of a unit, in batches; from the cursor on where the source only grew. */
  readonly read: (unit: Unit, request: ReadRequest) => AsyncIterable<readonly AdapterYield[]>;
  /** What a unit holds, where its files do not say so: they stand for many, or for the tables of a database. */
  readonly inventory?: (unit: Unit, at: Pick<ReadRequest, "place" | "machine">) => Promise<Inventory>;
  /** Present where `read` tells the record behind each message, so that trees can be read from its files. */
  readonly tellsSpans?: true;
  /** What `pond doctor` says about this client here, such as that it deletes old sessions by itself. */
  readonly advise?: (machine: AdapterEnv) => Promise<readonly Advice[]>;
  /** After how many milliseconds without a change the client deletes files of a place by itself. */
  readonly deletesAfter?: (place: Place) => Promise<number>;
  /** A union, so that whether restore works is known without calling it. */
  readonly restore:
    | {
        readonly kind: "supported";
        readonly serialize: (lineage: Lineage, options: SerializeOptions) => Promise<Restored>;
        /** What a native restore gives back of these messages, hashed as the reader hashes what a source has. */
        readonly hashes: (state: SessionState, form: string) => Promise<RecordHashes>;
        /** Loads what tells of a session of this client what its model still had, for restores into others. */
        readonly context: () => Promise<ContextRule>;
        /** Where a place has a session of this id, in whatever folder of it; nothing of the session is read. */
        readonly present: (
          id: string,
          at: Pick<ReadRequest, "place" | "machine">,
        ) => Promise<readonly PresentSession[]>;
      }
    | { readonly kind: "unsupported"; readonly instead: string };
}

/** The brand of a session's origin: native restore means that it equals the adapter's name. */
export function brandOf(sourceAgent: string): string {
  const slash = sourceAgent.indexOf("/");
  return slash === -1 ? sourceAgent : sourceAgent.slice(0, slash);
}
