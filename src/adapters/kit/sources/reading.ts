/**
 * What reading a place gives (spec.md#adapter-codec, docs/adapters/README.md): places, their units, and the stream of what
 * each unit contains.
 */
import type { JsonValue } from "../../../base/json/json.ts";
import type { Event, MessageKey, RecordPiece, SessionId } from "../../../model/index.ts";
import type { Cursor } from "./freshness.ts";
import type { Issue } from "./issue.ts";
import type { StoredHashes, ReadState } from "./source-state.ts";
import type { FileStamp } from "../files/stamp.ts";

/** The machine as adapters may see it; nothing in an adapter reads the process's own environment. */
export interface AdapterEnv {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** A folder of pond's own for temporary copies. */
  readonly scratch: string;
}

/** A folder or file in which a client keeps sessions. */
export interface Place {
  readonly path: string;
  /** Where only some files below it are meant: their paths. The caller leaves the other units out. */
  readonly files?: readonly string[];
  /** Where only some of what the place holds is meant: paths of files, and of folders with a separator at the end. */
  readonly within?: readonly string[];
  /** `default` and `environment` are the client's own places. */
  readonly origin: "default" | "environment" | "config" | "request";
  /** The client's own variable that names it, where the environment does. */
  readonly variable?: string;
}

/** What is read, resumed and skipped as one: a session log with the files beside it, or a database. */
export interface Unit {
  /** Stable inside its place: the path below it, with `/`. */
  readonly key: string;
  /** Everything whose change makes the unit stale, the log first. Paths are absolute. */
  readonly files: readonly FileStamp[];
  /** What only the discovery of the whole place can know and reading needs; never stored. */
  readonly found?: JsonValue;
}

/** What a read is given beside the unit; nothing but `now` is needed. */
export interface ReadRequest {
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
  /** Called with the origin of each message, before the message itself is given; by adapters with `reportsSpans`. */
  readonly onRecord?: OnRecord;
}

/** The same inside an adapter, where reading depends on the place. */
export interface PlacedRequest extends ReadRequest {
  readonly place: Place;
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

/** Where a message was read from. */
export interface RecordOrigin extends MessageKey {
  /** Bytes of its record in the source; 0 for the further messages of one record. */
  readonly bytes: number;
  /** Absent where it stands in no span of bytes, such as in a compressed log. */
  readonly record?: RecordSource;
}

export type OnRecord = (origin: RecordOrigin) => void;

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
  | { readonly kind: "state"; readonly session: SessionId; readonly state: ReadState };

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

/**
 * A place that is open for reading. What it learns while it lists its units is its own: units are plain data, and another
 * one that was opened at the same place, in another thread or at another time, reads them as well.
 */
export interface OpenedPlace extends AsyncDisposable {
  readonly place: Place;
  /** The units of the place as they are now, in batches, each file only stat-ed. */
  units(signal?: AbortSignal): AsyncIterable<readonly (Unit | Issue)[]>;
  /** The events of a unit, in batches; from the cursor on where the source only grew. */
  read(unit: Unit, request: ReadRequest): AsyncIterable<readonly AdapterYield[]>;
  /** What a unit contains, where its files do not say so: they stand for many, or for the tables of a database. */
  inventory?(unit: Unit): Promise<Inventory>;
}
