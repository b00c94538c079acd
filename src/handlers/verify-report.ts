/**
 * What verify came to, client by client (spec.md#keep-verify). Some of it is wrong and fails the run: what is on disk and
 * not stored, what is stored and not equal, what cannot be read. The rest is life, and counted.
 */
import type { Issue } from "../adapters/index.ts";

export interface VerifyReport {
  readonly clients: readonly ClientVerification[];
  /** Where nothing could be compared: sessions that are stored, and no source of them is recorded. */
  readonly unrecorded?: number;
  /** What this machine stored once and is neither on disk nor in the store any more, in words; absent where nothing is. */
  readonly lost?: LostReport;
}

export interface LostReport {
  readonly message: string;
  readonly fix: string;
  readonly sources: readonly {
    readonly adapter: string;
    readonly path: string;
    readonly session_id?: string;
  }[];
}

/** How what a source holds of a session stands to what is recorded of it. */
export type Standing =
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

export interface ClientVerification extends Readonly<Record<Standing, number>> {
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
  readonly issues: readonly Issue[];
}

const MAX_DIFFERENCES = 20;
const MAX_ISSUES = 100;

type Counted = Omit<ClientVerification, "adapter" | "proven" | "unequal_records" | "differences" | "issues">;

/** A client's verification while it goes on. */
export class VerifyTally {
  readonly adapter: string;
  readonly #counts: { -readonly [Name in keyof Counted]: number };
  readonly #differences: string[] = [];
  readonly #issues: Issue[];

  constructor(
    adapter: string,
    { sources, issues }: { readonly sources: number; readonly issues: readonly Issue[] },
  ) {
    this.adapter = adapter;
    this.#issues = [...issues];
    this.#counts = {
      sources,
      sessions: 0,
      files: 0,
      records: 0,
      equal: 0,
      unequal: 0,
      recorded: 0,
      grown: 0,
      changed: 0,
      held: 0,
      contained: 0,
      restored: 0,
      unstored: 0,
      missed: 0,
      waiting: 0,
      empty: 0,
      superseded: 0,
      superseded_records: 0,
      gone: 0,
      moved: 0,
      elsewhere: 0,
    };
  }

  count(name: keyof Counted, by = 1): void {
    this.#counts[name] += by;
  }

  /** Something wrong of what is stored. */
  unequal(...lines: readonly string[]): void {
    this.#counts.unequal += 1;
    this.#tell(lines);
  }

  /** Something on disk that is not stored. */
  unstored(line: string): void {
    this.#counts.unstored += 1;
    this.#tell([line]);
  }

  issue(issue: Issue): void {
    if (this.#issues.length < MAX_ISSUES) this.#issues.push(issue);
  }

  finish(): ClientVerification {
    const { unequal, unstored, records, equal } = this.#counts;
    return {
      adapter: this.adapter,
      proven: unequal === 0 && unstored === 0 && this.#issues.length === 0,
      ...this.#counts,
      unequal_records: records - equal,
      differences: this.#differences,
      issues: this.#issues,
    };
  }

  #tell(lines: readonly string[]): void {
    this.#differences.push(...lines.slice(0, MAX_DIFFERENCES - this.#differences.length));
  }
}
