/**
 * What verify came to, client by client (spec.md#keep-verify). Some of it is wrong and fails the run: what is on disk and
 * not stored, what is stored and not equal, what cannot be read. The rest is life, and counted.
 */
import type { Issue } from "../../adapters/index.ts";
import type { ClientVerification } from "../../wire/verify.ts";

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
