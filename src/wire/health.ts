/** `doctor`: whether everything is well, and what to do next. `repair`: what was damaged, what was done about it, what is left. */
import type { Sentence } from "../base/sentence.ts";
import type { ClientReport } from "./sync.ts";
import type { FileDamage, StoredReport } from "./verify.ts";

export interface DoctorRequest {
  /** Read every byte of the store, too. */
  readonly deep?: boolean;
}

export interface Finding {
  readonly topic: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** What it is made of, where that is several things. */
  readonly details?: readonly string[];
  readonly fix?: Sentence;
}

export interface RepairReport {
  /** What was found. */
  readonly damage: readonly FileDamage[];
  /** Files without a checksum from when they were written: only the digests of sessions prove what they hold. */
  readonly unproven: number;
  /** What was done about it, in the order it was done, for people. */
  readonly done: readonly string[];
  /** Rows of damaged files, and what became of them. */
  readonly rows: {
    readonly taken_out: number;
    readonly readable: number;
    /** Proven by their digests, and stored again as they were. */
    readonly proven: number;
    /** Read again from their sources. */
    readonly read_again: number;
    /** In no source any more, and stored again as they could be read. */
    readonly put_back: number;
    /** Neither proven nor read again nor put back. */
    readonly lost: number;
    /** Not stored again: their sessions are whole without them, so their keys are damaged; or no session has them. */
    readonly left_out: number;
  };
  readonly clients: readonly ClientReport[];
  /** Files that are still damaged, and what is stored as its digests prove it now. */
  readonly left: readonly FileDamage[];
  /** Folders with what is left of tables that were lost, kept because not everything is proven without them. */
  readonly remains: readonly string[];
  readonly stored: StoredReport;
  /** What the syncs that read the sources again had to say. */
  readonly notes: readonly Sentence[];
}
