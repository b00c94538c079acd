/** `restore`: what it is asked for, and what it wrote or would write. */
import type { ErrorCode, ErrorReason } from "../base/errors.ts";
import type { Sentence } from "../base/sentence.ts";

export interface StateRequest {
  /** 1 is the newest. */
  readonly end?: number;
  /** The path that it was read from, or the id of the source. */
  readonly source?: string;
  /** A state by its number among those of the source, which need not be named where there is one. */
  readonly state?: number;
}

export interface RestoreRequest extends StateRequest {
  readonly session_id: string;
  /** The client to restore into; the session's own when absent. */
  readonly to?: string;
  /** The folder that stands for the client's place; the client's own place on this machine when absent. */
  readonly out?: string;
  /** `old=new` prefixes of recorded folders. */
  readonly map_paths?: readonly string[];
  /** Look and count, write nothing. */
  readonly dry_run?: boolean;
  /** A session that is there already is used as it is, also where its client has continued it. */
  readonly reuse?: boolean;
}

export interface RestoreReport extends LineageProof {
  readonly session_id: string;
  readonly to: string;
  /** Nothing was written: this is what would have been. */
  readonly dry_run?: true;
  readonly fidelity: "native" | "foreign";
  readonly out: string;
  readonly sessions: number;
  readonly files: readonly WrittenFile[];
  readonly losses: readonly RestoreLoss[];
  readonly tokens: RestoreTokens;
  /** The session is listed as of today: the client deletes older ones after so many days. */
  readonly deleted_after_days?: number;
  /** Of a dry run: why the same without it would be refused. */
  readonly refused?: Refused;
  /** That it was restored could not be written to the store: the next sync takes it for another session. */
  readonly is_unrecorded?: true;
  /** Rules of `map_paths` that fit no folder of these sessions. */
  readonly unused_map_paths: readonly string[];
  /** Folders of `map_paths` that are not on this machine. */
  readonly missing_map_paths: readonly string[];
  /** Which state of the session it is; absent where none is recorded. */
  readonly state?: RestoredState;
  readonly resume: ResumeReport;
}

export interface LineageProof {
  /** Sessions whose stored rows have the recorded digests. */
  readonly proven: number;
  readonly unproven: readonly UnprovenSession[];
}

/** A session that is restored as it is stored, without a proof that it is as it was read. */
export interface UnprovenSession {
  readonly session_id: string;
  readonly why: string;
}

export interface WrittenFile {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  /** True for one that was there already, equal. */
  readonly kept: boolean;
  /** Only of what would be written: another file is there, so it would not. */
  readonly is_in_the_way?: true;
}

/** Something of the session that the target cannot express. */
export interface RestoreLoss {
  readonly what: string;
  readonly why: string;
  readonly count: number;
  /** `model`: the model knew it and does not know it any more. `record`: nothing that it was sent. */
  readonly affects: "model" | "record";
}

/** What a model is sent of a session, in tokens. */
export interface RestoreTokens {
  readonly estimated: number;
  /** What the last response behind the last compaction used, its answer included; with system prompt and tools. */
  readonly recorded?: number;
  /** The last compaction can be read by its own provider only: all turns that it replaced are counted. */
  readonly is_sealed?: true;
  /** Each usual window, and whether the session is too large for it. */
  readonly windows: readonly { readonly tokens: number; readonly is_exceeded: boolean }[];
  /** The client that can compact it; absent for a session of a program. */
  readonly origin?: string;
}

/** What was restored, of how many ways the session went. */
export interface RestoredState {
  readonly source: string;
  readonly path: string;
  /** Its number among those of its source, and what those are, the newest last. */
  readonly state: number;
  readonly states: readonly number[];
  readonly records: number;
  /** Its place among the ends of the session, 1 for the newest; absent for a state that another source has gone on from. */
  readonly end?: number;
  readonly ends: number;
  /** Pond restored it with mapped paths, and its client continued it. */
  readonly mapped_paths?: true;
}

export interface ResumeReport {
  readonly id: string;
  readonly directory: string;
  /** What the session recorded, where that was mapped to `directory`. */
  readonly recorded_directory?: string;
  /** False where the session recorded no directory: then it is the name of its project, and any folder will do. */
  readonly is_path: boolean;
  /** The recorded directory is not on this machine: the client cannot be started there. */
  readonly is_directory_missing?: true;
  /** One line for a shell, from changing into the directory on. */
  readonly command: string;
  /** The same command by command, each word by word: what the client has to import, then the client itself. */
  readonly steps: readonly (readonly string[])[];
  /** Where the files have to be for the client to find them, when that is not where they are. */
  readonly copy_to?: string;
  /** Files that are there already, with other content: copying would overwrite them. */
  readonly in_the_way?: readonly string[];
}

/** Of a dry run: why the same without it would be refused. */
export interface Refused {
  /** As of the error: its reason, or its code where it has none. */
  readonly reason: ErrorReason | ErrorCode;
  readonly message: Sentence;
  readonly hint: Sentence;
  /** What is in the way. */
  readonly path?: string;
}
