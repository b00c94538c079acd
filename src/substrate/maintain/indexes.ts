/** Indexes of a table: what the engine has, against what the declaration wants. */
import { isPondError } from "../../base/errors.ts";
import { besideMergers, call, type Handle } from "../handle/handle.ts";
import { inOwnTemp, type Lance, type LanceDb } from "../engine/lance.ts";
import { indexName, type IndexSpec, type TextIndex, wantedIndexes } from "../engine/spec.ts";

export interface IndexState {
  readonly spec: IndexSpec;
  /** Absent: not built yet. Different: built with other settings, for example another tokenizer. */
  readonly built: "yes" | "absent" | "different";
  readonly indexedRows: number;
  readonly unindexedRows: number;
  readonly bytes: number;
}

/**
 * Language-neutral: word boundaries of ICU, split at punctuation and underscores, no stemming, no stop
 * words. Case and accents are folded.
 */
const TOKENIZER = {
  baseTokenizer: "icu/split",
  stem: false,
  removeStopWords: false,
  lowercase: true,
  asciiFolding: true,
} as const;
const MAX_TOKEN_LENGTH = 128;
/** Rows of one partition of a vector index; better and faster to build than the square root of the rows. */
const ROWS_PER_PARTITION = 4096;

export async function indexStates(handle: Handle): Promise<readonly IndexState[]> {
  const { value: built } = await call(handle, "read the indexes of", (table) => table.listIndices());
  return wantedIndexes(handle.spec).map((spec) =>
    stateOf(
      spec,
      built.find((index) => index.name === indexName(spec)),
    ),
  );
}

/** Builds an index over all rows, in place of the one there is. Readers use the old one until it is done. */
export async function buildIndex(handle: Handle, spec: IndexSpec, rows: number): Promise<void> {
  const build = (): Promise<unknown> =>
    call(handle, `index ${spec.column} of`, (table) =>
      table.createIndex(spec.column, {
        config: configOf(handle.lance, spec, rows),
        replace: true,
        name: indexName(spec),
      }),
    );
  await (spec.kind === "fts" ? build() : oneAtATime(sortsVectors([spec]) ? () => inOwnTemp(build) : build));
}

export const sortsVectors = (indexes: readonly IndexSpec[]): boolean =>
  indexes.some(({ kind }) => kind === "vector");

let sorting: Promise<unknown> = Promise.resolve();

/**
 * What sorts rows in the engine: it has 100 MB for that, for the whole process, and fails where several at once want it
 * (three large tables did so every other time).
 */
export function oneAtATime<T>(sort: () => Promise<T>): Promise<T> {
  const mine = sorting.then(sort);
  sorting = mine.catch(() => undefined);
  return mine;
}

/**
 * Text indexes are made while a table is empty, which costs nothing: rows that are not in it yet are then
 * tokenized its way. Without one the engine uses its English default, and does not find the half of what it
 * should (spec.md#lance-table-creation-text-index).
 */
export async function ensureTextIndexes(handle: Handle): Promise<void> {
  if (!wantedIndexes(handle.spec).some((spec) => spec.kind === "fts")) return;
  for (const { spec, built } of await indexStates(handle)) {
    if (spec.kind !== "fts" || built !== "absent") continue;
    try {
      await besideMergers(handle, () => buildIndex(handle, spec, 0));
    } catch (error) {
      // Several processes made the table at once: theirs is as good as ours.
      if (!isPondError(error) || error.code !== "conflict" || !(await isBuilt(handle, spec))) throw error;
    }
  }
}

async function isBuilt(handle: Handle, spec: IndexSpec): Promise<boolean> {
  const states = await indexStates(handle);
  return states.some((state) => indexName(state.spec) === indexName(spec) && state.built !== "absent");
}

function stateOf(spec: IndexSpec, index: LanceDb.IndexConfig | undefined): IndexState {
  if (index === undefined) return { spec, built: "absent", indexedRows: 0, unindexedRows: 0, bytes: 0 };
  return {
    spec,
    built: spec.kind === "fts" && !hasSettings(spec, index.indexDetails) ? "different" : "yes",
    indexedRows: index.numIndexedRows ?? 0,
    unindexedRows: index.numUnindexedRows ?? 0,
    bytes: index.sizeBytes ?? 0,
  };
}

function hasSettings(spec: TextIndex, details: unknown): boolean {
  if (typeof details !== "object" || details === null) return true;
  const wanted: Readonly<Record<string, unknown>> = {
    base_tokenizer: TOKENIZER.baseTokenizer,
    stem: TOKENIZER.stem,
    remove_stop_words: TOKENIZER.removeStopWords,
    with_position: spec.positions ?? false,
    max_token_length: spec.maxTokenLength ?? MAX_TOKEN_LENGTH,
  };
  const built = new Map(Object.entries(details));
  return Object.entries(wanted).every(([key, value]) => !built.has(key) || built.get(key) === value);
}

function configOf({ lancedb }: Lance, spec: IndexSpec, rows: number): LanceDb.Index {
  switch (spec.kind) {
    case "btree":
      return lancedb.Index.btree();
    case "bitmap":
      return lancedb.Index.bitmap();
    case "fts":
      return lancedb.Index.fts({
        ...TOKENIZER,
        withPosition: spec.positions ?? false,
        maxTokenLength: spec.maxTokenLength ?? MAX_TOKEN_LENGTH,
      });
    case "vector":
      return lancedb.Index.ivfRq({
        distanceType: "cosine",
        numPartitions: Math.max(4, Math.round(rows / ROWS_PER_PARTITION)),
      });
  }
}
