/**
 * Whether a merge should look keys up in the indexes. With indexes it takes as long for a million rows as
 * for a thousand, but decodes every column of the rows that they do not cover yet (2.4 us each); without,
 * it reads the key columns of all rows (0.25 us each). A bulk import into a small indexed table is the case
 * that matters.
 */
import type { LanceTable } from "./lance.ts";
import type { TableSpec } from "./spec.ts";
import { indexName } from "./spec.ts";

/** How much dearer an uncovered row is with indexes than any row without. */
const COST_RATIO = 10;
/** What may be merged before the question is asked again; it costs about a millisecond. */
const RECHECK = { rows: 2000, merges: 16 };

export class MergeChoice {
  #useIndex = true;
  #rows = 0;
  #merges: number = RECHECK.merges;

  async useIndex(table: LanceTable, spec: TableSpec, rows: number): Promise<boolean> {
    this.#rows += rows;
    if (this.#rows < RECHECK.rows && this.#merges++ < RECHECK.merges) return this.#useIndex;
    const stats = await table.indexStats(indexName({ column: spec.primaryKey[0], kind: "btree" }));
    const total = (stats?.numIndexedRows ?? 0) + (stats?.numUnindexedRows ?? 0);
    this.#useIndex = stats === undefined || stats.numUnindexedRows * COST_RATIO < total;
    this.#rows = 0;
    this.#merges = 0;
    return this.#useIndex;
  }

  /** The indexes have changed. */
  reset(): void {
    this.#merges = RECHECK.merges;
  }
}
