/**
 * What maintenance is worth doing now, as a pure function of a table's numbers
 * (spec.md#lance-index-maintenance).
 *
 * Measured on 100,000 messages (40 MB): a row in a fragment that no index covers costs 0.14 ms a query per
 * fragment, and 16 us per row in a text search; covered fragments cost next to nothing, however many.
 * Rebuilding the scalar indexes costs 0.2 s and 3 MB, the text index 3 s and 11 MB, a compaction 1.2 s and
 * the whole 40 MB again. Hence: scalar indexes are rebuilt often, text indexes when their tail is felt, and
 * data is rewritten rarely.
 */
import type { IndexState } from "./indexes.ts";

/** Fragments when the indexes were last built, kept in the table's own metadata. */
export interface Remembered {
  readonly scalar: number;
  readonly text: number;
}

export interface TableFacts {
  readonly rows: number;
  readonly fragments: number;
  /** Bytes of the data and index files that the newest version stands on. */
  readonly liveBytes: number;
  /** Bytes in the store that no longer belong to the newest version; 0 where that cannot be known. */
  readonly deadBytes: number;
  /** Old versions past the retention window: what a cleanup would remove. */
  readonly staleVersions: number;
  readonly indexes: readonly IndexState[];
  readonly remembered: Remembered;
  /** A read of an object store pays for each fragment, so fewer are kept there. */
  readonly isObjectStore: boolean;
}

export type Action =
  | { readonly kind: "build_index"; readonly index: IndexState["spec"]; readonly reason: string }
  /** Merges all fragments into one and removes old versions. */
  | { readonly kind: "compact"; readonly reason: string };

const SCALAR_TAIL_FRAGMENTS = 32;
const TEXT_TAIL_FRAGMENTS = 128;
const TAIL_ROWS = { fraction: 0.05, least: 2000, most: 20_000 };
/**
 * Every search by words tokenizes the rows that its index does not cover: 16 us each, where building it anew takes 30 us
 * of every row and 110 bytes. The sum is least at a multiple of the root of the rows: this one is for a search every 50
 * messages whose time counts four times as much as that of maintenance. Object stores read all text again over the wire.
 */
const TEXT_TAIL_ROWS = { perRoot: 6.5, least: 500, most: 5000 };
const VECTOR_TAIL_FRACTION = 0.2;
const VECTOR_MIN_ROWS = 100_000;

/**
 * Every commit writes the list of all fragments (140 bytes each), every compaction the whole table: they
 * are in balance where the fragments are about the square root of the bytes. The bounds keep small tables
 * from being rewritten at every other sync and large ones from becoming slow to open.
 */
const BALANCE_BYTES = 600;
const FRAGMENTS = { least: 128, mostLocal: 512, mostObject: 128 };
/**
 * Space that old versions may take beyond the live data before a compaction is worth it for their sake
 * alone.
 */
const DEAD = { factor: 2, slack: 32 << 20 };

export function planMaintenance(facts: TableFacts): readonly Action[] {
  if (facts.rows === 0) return [];
  const compaction = compactionReason(facts);
  // Text first: it is built beside the scalar indexes of the other tables, which wait for each other.
  const textFirst = facts.indexes.toSorted((a, b) => Number(isText(b)) - Number(isText(a)));
  const builds = textFirst.flatMap((index): Action[] => {
    const reason =
      buildReason(index, facts) ??
      (compaction !== undefined && index.unindexedRows > 0 ? "before compacting" : undefined);
    return reason === undefined ? [] : [{ kind: "build_index", index: index.spec, reason }];
  });
  return compaction === undefined ? builds : [...builds, { kind: "compact", reason: compaction }];
}

const isText = ({ spec }: IndexState): boolean => spec.kind === "fts";

/** Why an index is due, or undefined. */
function buildReason(index: IndexState, facts: TableFacts): string | undefined {
  const { spec, built, unindexedRows } = index;
  const { rows } = facts;
  if (spec.kind === "vector") {
    if (rows < (spec.minRows ?? VECTOR_MIN_ROWS)) return undefined;
    if (built === "absent") return "missing";
    return unindexedRows > rows * VECTOR_TAIL_FRACTION
      ? `${unindexedRows} of ${rows} rows are not in it`
      : undefined;
  }
  if (built === "absent") return "missing";
  if (built === "different") return "its settings changed";
  if (unindexedRows === 0) return undefined;
  if (index.indexedRows === 0) return "nothing is in it yet";
  const isLocalText = isText(index) && !facts.isObjectStore;
  if (unindexedRows >= (isLocalText ? textTailRows(rows) : tailRows(rows)))
    return `${unindexedRows} of ${rows} rows are not in it`;
  const fragments = facts.fragments - (isText(index) ? facts.remembered.text : facts.remembered.scalar);
  const most = isText(index) ? TEXT_TAIL_FRAGMENTS : SCALAR_TAIL_FRAGMENTS;
  return fragments >= most ? `${fragments} fragments are not in it` : undefined;
}

function compactionReason(facts: TableFacts): string | undefined {
  const { fragments, liveBytes, deadBytes, staleVersions } = facts;
  const most = maxFragments(facts);
  if (fragments > most) return `${fragments} fragments, at most ${most} are good for ${liveBytes} bytes`;
  if (staleVersions > 0 && isMuchDead(deadBytes, liveBytes))
    return `${deadBytes} bytes of old versions beside ${liveBytes} live ones`;
  return undefined;
}

export const isMuchDead = (deadBytes: number, liveBytes: number): boolean =>
  deadBytes > liveBytes * DEAD.factor + DEAD.slack;

function maxFragments({ liveBytes, isObjectStore }: TableFacts): number {
  const balanced = Math.round(Math.sqrt(liveBytes / BALANCE_BYTES));
  return clamp(balanced, FRAGMENTS.least, isObjectStore ? FRAGMENTS.mostObject : FRAGMENTS.mostLocal);
}

const tailRows = (rows: number): number =>
  clamp(Math.round(rows * TAIL_ROWS.fraction), TAIL_ROWS.least, TAIL_ROWS.most);

const textTailRows = (rows: number): number =>
  clamp(Math.round(Math.sqrt(rows) * TEXT_TAIL_ROWS.perRoot), TEXT_TAIL_ROWS.least, TEXT_TAIL_ROWS.most);

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));
