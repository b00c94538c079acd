/** What a sync is asked for and what it answers: the same shapes on every transport. */
import type { Issue } from "../adapters/index.ts";
import type { IngestSummary, MaintenanceReport } from "../sessions/index.ts";
import type { SourceFilter } from "./sources.ts";
import type { Wait } from "./waits.ts";

export const STAGES = ["import", "embed", "update-indexes"] as const;
export type Stage = (typeof STAGES)[number];

export interface SyncRequest extends SourceFilter {
  readonly stages?: readonly Stage[];
  /** Look and count, write nothing. */
  readonly dryRun?: boolean;
  /** Read every source again, whatever the cursors say. */
  readonly verify?: boolean;
  /** Wait for another sync instead of refusing. */
  readonly wait?: boolean;
}

/** How far the import is. */
export interface SyncProgress {
  readonly client: string;
  readonly filesDone: number;
  readonly files: number;
  readonly bytesDone: number;
  readonly bytes: number;
  readonly messages: number;
}

export interface ClientReport {
  readonly adapter: string;
  readonly places: readonly string[];
  /** Sources: session logs, databases. */
  readonly seen: number;
  readonly fresh: number;
  /** Changed since the last sync; with --dry-run these would be read. */
  readonly stale: number;
  readonly read: number;
  /** Too young to tell where they belong, or still being written; the next sync looks again. */
  readonly waiting: number;
  /** The first of them. */
  readonly waits: readonly Wait[];
  /** Copies of sessions that a newer source of the same client holds: compared, not stored twice. */
  readonly superseded: number;
  readonly bytes: number;
  readonly stored: IngestSummary;
  readonly issues: Readonly<Record<string, number>>;
  /** The first issues of each kind, with their places. */
  readonly examples: readonly Issue[];
}

export interface IndexReport {
  readonly outcome: "skipped" | "interrupted" | "nothing to do" | "updated";
  readonly tables: readonly TableReport[];
}

/** What was done to the indexes of a table. */
export interface TableReport extends Pick<MaintenanceReport, "table" | "done" | "left"> {
  readonly bytes_removed: number;
}

export interface SyncReport {
  readonly dry_run: boolean;
  /** Stopped by a signal: what is counted here is stored, the next sync goes on. */
  readonly interrupted: boolean;
  readonly clients: readonly ClientReport[];
  readonly embed: string;
  readonly indexes: IndexReport;
  /** Milliseconds by stage, of those that ran. */
  readonly took: Readonly<Partial<Record<Stage, number>>>;
  readonly notes: readonly string[];
}
