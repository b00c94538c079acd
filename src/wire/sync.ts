/** `sync`: what it is asked for, how far it is, and what it answers. */
import type { Sentence } from "../base/sentence.ts";
import type { SourceFilter, SourceIssue } from "./sources.ts";
import type { DueAction } from "./status.ts";

export type Stage = "import" | "embed" | "update-indexes";

export interface SyncRequest extends SourceFilter {
  readonly stages?: readonly Stage[];
  /** Look and count, write nothing. */
  readonly dry_run?: boolean;
  /** Read every source again, whatever the cursors say. */
  readonly verify?: boolean;
  /** Wait for another sync instead of refusing. */
  readonly wait?: boolean;
  /** Embed everything again, whatever is embedded under the configured model. */
  readonly force_embed?: boolean;
}

/** How far the import is. */
export interface SyncProgress {
  readonly client: string;
  readonly files_done: number;
  readonly files: number;
  readonly bytes_done: number;
  readonly bytes: number;
  readonly messages: number;
}

/** How far the stage `embed` is. */
export interface EmbedProgress {
  readonly messages_done: number;
  readonly messages: number;
}

export interface ClientReport {
  readonly adapter: string;
  readonly places: readonly string[];
  /** Sources: session logs, databases. */
  readonly seen: number;
  readonly fresh: number;
  /** Changed since the last sync; in a dry run these would be read. */
  readonly stale: number;
  readonly read: number;
  /** Too young to tell where they belong, or still being written; the next sync looks again. */
  readonly waiting: number;
  /** The first of them. */
  readonly waits: readonly Wait[];
  /** Copies of sessions that a newer source of the same client holds: compared, not stored twice. */
  readonly superseded: number;
  readonly bytes: number;
  readonly stored: StoredCounts;
  readonly issues: Readonly<Record<string, number>>;
  /** The first issues of each kind, with their places. */
  readonly examples: readonly SourceIssue[];
}

/** A source that waits (spec.md#sync-waiting). */
export interface Wait {
  readonly path: string;
  readonly reason: string;
  /** When it was last written to. */
  readonly changed?: string;
  /** When a sync takes it as it is then; absent where the next one may. */
  readonly from?: string;
}

/** What became of the events of sources. */
export interface StoredCounts {
  readonly sessions: InsertedCounts;
  readonly messages: InsertedCounts;
  readonly parts: InsertedCounts;
  /** Sessions whose labels differ from the stored ones: the row is rejected, its messages go under the stored labels. */
  readonly relabelled: number;
  /** Batches that added something. */
  readonly commits: number;
  /** Events that break a rule of the model, not stored. */
  readonly rejected: number;
}

interface InsertedCounts {
  readonly inserted: number;
  readonly matched: number;
}

export interface IndexUpdates {
  readonly outcome: "skipped" | "interrupted" | "nothing to do" | "updated";
  readonly tables: readonly TableUpdate[];
}

/** What was done to the indexes of a table. */
export interface TableUpdate {
  readonly table: string;
  readonly done: readonly DueAction[];
  /** Due, but another process was at it. */
  readonly left: readonly DueAction[];
  readonly bytes_removed: number;
}

/** What the stage `embed` came to (spec.md#sync-stages). */
export interface EmbedReport {
  /**
   * `off`: no model is configured. `busy`: another sync is embedding. `failed`: the model could not be opened, or answered
   * wrongly or not at all; what it embedded is stored, and the next sync goes on.
   */
  readonly outcome: "skipped" | "off" | "interrupted" | "busy" | "nothing to do" | "embedded" | "failed";
  /** Where the model was asked, or could have been. */
  readonly run?: EmbedRun;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

export interface EmbedRun {
  readonly model: string;
  /** Messages that have a vector now and had none before. */
  readonly messages: number;
  /** Different texts that the model was given for them. */
  readonly texts: number;
  /** Texts that are longer than the model takes: of these only the beginning is embedded. */
  readonly cut: number;
  /** Messages that the model can make nothing of; they are not tried again. */
  readonly without: number;
  /** Messages that are left to the next sync. */
  readonly left: number;
  /** Models whose vectors were dropped, since those of this one are complete. */
  readonly dropped: readonly string[];
}

export interface SyncReport {
  readonly dry_run: boolean;
  /** Stopped by a signal: what is counted here is stored, the next sync goes on. */
  readonly interrupted: boolean;
  readonly clients: readonly ClientReport[];
  readonly embed: EmbedReport;
  readonly indexes: IndexUpdates;
  /** Milliseconds by stage, of those that ran. */
  readonly took: Readonly<Partial<Record<Stage, number>>>;
  readonly notes: readonly Sentence[];
}
