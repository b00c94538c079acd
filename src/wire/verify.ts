/** `verify`: sources against what is stored of them, what is stored against its digests, files against their checksums. */
import type { Sentence } from "../base/sentence.ts";
import type { SourceIssue } from "./sources.ts";

export interface VerifyProgress {
  readonly client: string;
  readonly done: number;
  readonly total: number;
}

export interface VerifyReport {
  readonly clients: readonly ClientVerification[];
  /** Where nothing could be compared: sessions that are stored, and no source of them is recorded. */
  readonly unrecorded?: number;
  /** What this machine stored once and is neither on disk nor in the store any more, in words; absent where nothing is. */
  readonly lost?: LostReport;
}

export interface LostReport {
  readonly message: string;
  readonly fix: Sentence;
  readonly sources: readonly {
    readonly adapter: string;
    readonly path: string;
    readonly session_id?: string;
  }[];
}

/** How what a source holds of a session stands to what is recorded of it. */
export type SourceVerdict =
  /** As it is: it was compared, both ways. */
  | "recorded"
  /** Went on since; what is stored of it was compared. */
  | "grown"
  /** Was rewritten since, or lost something; what is stored of it was proven. */
  | "changed"
  /** Something of it is at work or cannot be read now; what is stored of it was proven. */
  | "held"
  /** Was never read here, and every record of it is stored. */
  | "contained"
  /** Was written by a restore, and nobody touched it since. */
  | "restored"
  /** Something of it is on disk and not stored. */
  | "unstored";

export interface ClientVerification extends Readonly<Record<SourceVerdict, number>> {
  readonly adapter: string;
  /** True where nothing is wrong. */
  readonly proven: boolean;
  /** Sources on disk. */
  readonly sources: number;
  /** Sessions that they hold. */
  readonly sessions: number;
  readonly files: number;
  /** Records that were compared. */
  readonly records: number;
  readonly equal: number;
  /** The others of them. */
  readonly unequal_records: number;
  /** Files and sessions that are not as they are stored, or cannot be read or restored. */
  readonly unequal: number;
  /** Of what is not stored: sessions that sync takes for unchanged, until it is told to read everything again. */
  readonly missed: number;
  /** Sources that cannot be told yet. */
  readonly waiting: number;
  /** Sources without a session, and those whose session another one holds in a newer form. */
  readonly empty: number;
  readonly superseded: number;
  /** Records of these that the newer form has with another value: by their adapter's rule that one counts. */
  readonly superseded_records: number;
  /** Recorded sources that are not on disk any more; found by another path; of other machines. */
  readonly gone: number;
  readonly moved: number;
  readonly elsewhere: number;
  /** The first things that are wrong, located. */
  readonly differences: readonly string[];
  /** What could not be looked at. */
  readonly issues: readonly SourceIssue[];
}

export interface StoredReport {
  readonly clients: readonly StoredVerification[];
  /** What this machine stored once and is neither on disk nor in the store any more; absent where nothing is. */
  readonly lost?: LostReport;
}

export interface StoredVerification {
  readonly adapter: string;
  readonly sessions: number;
  /** Sources that states are recorded of, and the states. */
  readonly sources: number;
  readonly states: number;
  /** Of these, the ones that restore with the recorded digests. */
  readonly proven: number;
  /** Of which something was held back or could not be read: they restore, and nothing proves that as equal. */
  readonly partial: number;
  /** Sessions without a recorded state: an older pond stored them, or a program. */
  readonly unrecorded: number;
  /** States that do not restore as they were read, and sessions that cannot be read or have lost their row. */
  readonly unequal: number;
  /** Messages that no recorded state has: a sync was cut off before it recorded one, or the state was lost. */
  readonly strays: number;
  readonly stray_sessions: readonly string[];
  /** One line for each session of which something is wrong, up to a bound. */
  readonly differences: readonly string[];
  readonly unequal_sessions: readonly UnequalSession[];
}

export interface UnequalSession {
  readonly session_id: string;
  readonly faults: number;
  /** What could say it again, if it is still there. */
  readonly sources: readonly {
    readonly adapter: string;
    readonly path: string;
    readonly machine: "this" | "another";
    /** There is a file or folder at its path here, whoever read it: it no longer has what is wrong. */
    readonly is_there: boolean;
  }[];
}

/** The files of a local store, each byte read and compared with what was written. */
export interface FilesReport {
  readonly files: number;
  readonly bytes: number;
  /** Files of which no checksum was kept: an older pond wrote them, or a crash came first. The next maintenance takes it. */
  readonly unsummed: number;
  /** Files whose checksum was taken some time after they were written: of what they had become by then. */
  readonly late: number;
  readonly damage: readonly FileDamage[];
}

export interface FileDamage {
  readonly table: string;
  /** Below the table's folder. */
  readonly file: string;
  readonly what: "missing" | "wrong size" | "changed";
  /** What it contains: rows, which of them are deleted, an index, the list of a version's files, or all of the table. */
  readonly holds: "rows" | "deletions" | "index" | "version" | "table";
  /** Only versions need it that are kept for a while beside the newest. */
  readonly is_old: boolean;
}
