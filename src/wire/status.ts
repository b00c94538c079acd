/** `status`: what is stored, how fresh it is, how the tables are. */
import type { Wait } from "./sync.ts";

export interface StatusReport {
  readonly store: string;
  readonly exists: boolean;
  /** One was synced to from here, and is there no more. */
  readonly is_gone?: true;
  readonly sessions: number;
  readonly messages: number;
  /** Bytes of canonical text, before compression. */
  readonly bytes: number;
  readonly clients: readonly GroupCount[];
  /** The largest projects. */
  readonly projects: readonly GroupCount[];
  readonly pending: readonly PendingSources[];
  readonly last_sync?: LastSyncReport;
  readonly embeddings: EmbeddingsReport;
  readonly tables?: readonly TableReport[];
}

export interface EmbeddingsReport {
  /** `off`: no model is configured. */
  readonly state: "off" | "on";
  /** The vectors that are stored, of whichever models; the largest first. With the tables. */
  readonly models?: readonly VectorsReport[];
}

export interface VectorsReport {
  readonly model: string;
  readonly dimension: number;
  readonly table: string;
  /** Messages that have one. */
  readonly messages: number;
  /** Messages that the model can make nothing of. */
  readonly without: number;
  /** Messages with text that are not embedded yet. */
  readonly missing: number;
  readonly bytes: number;
}

export interface LastSyncReport {
  readonly at: string;
  readonly messages: number;
  readonly issues: number;
  /** It was stopped before it had read everything. */
  readonly interrupted: boolean;
}

export interface PendingSources {
  readonly adapter: string;
  /** New or changed, to be taken in by a sync. */
  readonly sources: number;
  readonly seen: number;
  /** Those that no sync can tell yet. */
  readonly waits: readonly Wait[];
}

/** How a table is; bytes and rows as they are now. */
export interface TableReport {
  readonly table: string;
  readonly version: number;
  readonly rows: number;
  readonly fragments: number;
  readonly bytes: number;
  /** Of versions that nobody reads any more. */
  readonly old_bytes: number;
  readonly indexes: readonly IndexReport[];
  /** What the next update of the indexes would do, and why. */
  readonly due: readonly DueAction[];
}

/** Something that an update of the indexes does to a table, and why. */
export interface DueAction {
  readonly kind: "build_index" | "compact";
  readonly reason: string;
  /** Of `build_index`. */
  readonly index?: { readonly column: string; readonly kind: string };
}

export interface IndexReport {
  readonly column: string;
  readonly kind: string;
  readonly built: string;
  readonly rows: number;
  readonly unindexed_rows: number;
  readonly bytes: number;
}

export interface GroupCount {
  readonly name: string;
  readonly sessions: number;
  readonly messages: number;
}
