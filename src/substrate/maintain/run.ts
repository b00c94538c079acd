/**
 * Maintenance as a stage of its own (spec.md#lance-index-maintenance): gathers a table's numbers, does what
 * the plan says, remembers. Reads are complete without it; it only makes them fast and the store small.
 */
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { type Packing, packingOf, packingUpdates } from "../arrow/schema.ts";
import { besideMergers, call, type Handle } from "../handle/handle.ts";
import { type Arrow, inOwnTemp } from "../engine/lance.ts";
import { checkTable } from "../local/check.ts";
import { type DiskUse, diskUse } from "../local/disk-use.ts";
import { tidySums } from "../local/sums.ts";
import { bytesOfOldVersions } from "../local/garbage.ts";
import { faultOf } from "../engine/retry.ts";
import { cleanUp } from "./clean-up.ts";
import type { TableSpec } from "../engine/spec.ts";
import { buildIndex, indexStates, oneAtATime, sortsVectors } from "./indexes.ts";
import { type Action, isMuchDead, planMaintenance, type Remembered, type TableFacts } from "./plan.ts";

export interface MaintainOptions {
  /** How long old versions stay, for readers that are still on them. Default one hour. */
  readonly retentionMs?: number;
  /** Bring every index up to date and merge all fragments, whatever the plan says. */
  readonly force?: boolean;
}

export interface MaintenanceReport {
  readonly table: string;
  readonly done: readonly Action[];
  /** Due, but another process was at it. */
  readonly left: readonly Action[];
  readonly bytesRemoved: number;
}

export interface TableHealth {
  readonly table: string;
  readonly version: number;
  readonly facts: TableFacts;
  /** What it takes on a local disk, old versions included. */
  readonly disk: DiskUse | undefined;
  /** What `maintain` would do now, and why. */
  readonly due: readonly Action[];
}

const RETENTION_MS = 3_600_000;
/** A lost race throws away minutes of work; the next maintenance can do it as well. */
const ATTEMPTS = 2;
const impatient = (handle: Handle): Handle => ({
  ...handle,
  policy: { ...handle.policy, attempts: Math.min(ATTEMPTS, handle.policy.attempts) },
});
/** On the first key column: the schema's own metadata cannot change after creation. */
const REMEMBERED = "pond.maintenance";

export async function health(handle: Handle, retentionMs = RETENTION_MS): Promise<TableHealth> {
  const { facts, disk } = await gather(handle, retentionMs);
  const version = (await call(handle, "read", (table) => table.version())).value;
  return { table: handle.spec.name, version, facts, disk, due: planMaintenance(facts) };
}

export async function maintain(handle: Handle, options: MaintainOptions = {}): Promise<MaintenanceReport> {
  const bytes = await cleanUp(handle, options.retentionMs ?? RETENTION_MS);
  // Others may merge meanwhile, and nobody appends (spec.md#storage-append).
  const report = await besideMergers(handle, () => maintainNow(handle, options));
  return { ...report, bytesRemoved: report.bytesRemoved + bytes };
}

async function maintainNow(handle: Handle, options: MaintainOptions): Promise<MaintenanceReport> {
  const retentionMs = options.retentionMs ?? RETENTION_MS;
  const { facts, packing } = await gather(handle, retentionMs);
  const actions = options.force === true ? everything(facts) : planMaintenance(facts);
  // A compaction was cut short: until now everything was written tight.
  if (packing === "tight") await pack(handle, "fresh");
  const done: Action[] = [];
  let bytesRemoved = 0;
  for (const action of actions) {
    try {
      if (action.kind === "compact")
        bytesRemoved += await oneAtATime(() => {
          const run = (): Promise<number> => compact(handle, facts, retentionMs);
          // The engine updates indexes with it.
          return sortsVectors(handle.spec.indexes ?? []) ? inOwnTemp(run) : run();
        });
      else await buildIndex(impatient(handle), action.index, facts.rows);
    } catch (error) {
      // Someone else changed the same fragments or indexes; what they did serves us as well.
      if (error instanceof PondError && error.code === "conflict") break;
      throw error;
    }
    done.push(action);
    await handle.settle();
  }
  handle.mergeChoice.reset();
  if (done.length > 0) await remember(handle, done, facts);
  if (done.length > 0 && handle.directory !== undefined) await tidySums(handle.directory);
  return { table: handle.spec.name, done, left: actions.slice(done.length), bytesRemoved };
}

function everything(facts: TableFacts): readonly Action[] {
  const planned = planMaintenance(facts);
  if (facts.rows === 0) return planned;
  const builds = facts.indexes
    .filter(({ unindexedRows }) => unindexedRows > 0)
    .map(({ spec }): Action => ({ kind: "build_index", index: spec, reason: "asked for" }))
    .filter((action) => !planned.some((other) => isSame(action, other)));
  const indexes = [...planned.filter(({ kind }) => kind === "build_index"), ...builds];
  const isWhole = facts.fragments <= 1 && facts.staleVersions === 0 && !facts.isObjectStore;
  return isWhole ? indexes : [...indexes, { kind: "compact", reason: "asked for" }];
}

const isSame = (a: Action, b: Action): boolean =>
  a.kind === "build_index" &&
  b.kind === "build_index" &&
  a.index.column === b.index.column &&
  a.index.kind === b.index.kind;

async function gather(
  handle: Handle,
  retentionMs: number,
): Promise<{ readonly facts: TableFacts; readonly packing: Packing; readonly disk: DiskUse | undefined }> {
  const { value: stats } = await call(handle, "read the statistics of", (table) => table.stats());
  const cutoff = handle.policy.clock.now() - retentionMs;
  const disk = handle.directory === undefined ? undefined : await diskUse(handle.directory, cutoff);
  const { value: schema } = await call(handle, "read", (table) => table.schema());
  const facts: TableFacts = {
    rows: stats.numRows,
    fragments: stats.fragmentStats.numFragments,
    liveBytes: stats.totalBytes,
    deadBytes: await deadBytes(handle, stats.totalBytes, disk),
    staleVersions: disk?.staleVersions ?? 0,
    indexes: await indexStates(handle),
    remembered: recall(handle.spec, schema),
    isObjectStore: handle.directory === undefined,
  };
  return { facts, packing: packingOf(schema), disk };
}

/** Bytes of old versions. What nobody needs is no reason to rewrite what is needed, so where much is dead it is looked at. */
async function deadBytes(handle: Handle, live: number, disk: DiskUse | undefined): Promise<number> {
  const dead = Math.max(0, (disk?.bytes ?? 0) - live);
  if (handle.directory === undefined || !isMuchDead(dead, live)) return dead;
  return (await bytesOfOldVersions(handle.directory)) ?? dead;
}

/**
 * The engine merges fragments, removes versions before the cutoff, and updates indexes, in this order and
 * in one call. What it merges is packed tight (spec.md#storage-packing). On a local disk the version before the merge
 * must outlive it: its files are synced, those of the merge are not yet.
 */
async function compact(handle: Handle, { fragments }: TableFacts, retentionMs: number): Promise<number> {
  const expired = handle.policy.clock.now() - retentionMs;
  await mustBeWhole(handle);
  if (fragments > 1) await pack(handle, "tight");
  try {
    const cutoff = handle.directory === undefined ? expired : Math.min(expired, await newestCommit(handle));
    const { value } = await call(impatient(handle), "compact", (table) =>
      table.optimize({ cleanupOlderThan: new Date(cutoff) }).catch((error: unknown) => {
        throw isCleanedAway(error)
          ? new PondError("conflict", "another process removed old versions")
          : error;
      }),
    );
    return value.prune.bytesRemoved;
  } finally {
    if (fragments > 1) await pack(handle, "fresh");
  }
}

/** What is merged gets a checksum of its own: damage would be carried on under a good one. */
async function mustBeWhole({ directory, spec, where }: Handle): Promise<void> {
  if (directory === undefined) return;
  const { damage } = await checkTable(directory, spec.name, { deep: true });
  const [worst] = damage.filter(({ holds, isCurrent }) => isCurrent && holds !== "index");
  if (worst === undefined) return;
  throw new PondError(
    "storage_unavailable",
    `${spec.name} of ${where} is not merged: ${worst.file} is ${worst.what}`,
    {
      reason: "corrupt",
      hint: sentence`run ${{ do: "repair" }}`,
    },
  );
}

/** Two remove old versions at once: what one has removed the other does not find. */
const isCleanedAway = (error: unknown): boolean =>
  faultOf(error) === "stale" && /_versions\W/.test(String(error));

/** What is written from now on is packed this way. */
async function pack(handle: Handle, packing: Packing): Promise<void> {
  const updates = packingUpdates(handle.spec, packing);
  if (updates.length === 0) return;
  await call(handle, "update", (table) => table.updateFieldMetadata(updates));
  await handle.settle();
}

async function newestCommit(handle: Handle): Promise<number> {
  const { value: versions } = await call(handle, "read the versions of", (table) => table.listVersions());
  return Math.max(...versions.map(({ timestamp }) => timestamp.getTime()));
}

function recall(spec: TableSpec, schema: Arrow.Schema): Remembered {
  const text = schema.fields.find(({ name }) => name === spec.primaryKey[0])?.metadata.get(REMEMBERED);
  const [scalar, words] = (text ?? "").split(",").map(Number);
  return { scalar: orZero(scalar), text: orZero(words) };
}

const orZero = (value: number | undefined): number =>
  value !== undefined && Number.isSafeInteger(value) ? value : 0;

/** Fragments that the indexes cover now. A failure to remember costs one early rebuild. */
async function remember(handle: Handle, done: readonly Action[], before: TableFacts): Promise<void> {
  const { value: stats } = await call(handle, "read the statistics of", (table) => table.stats());
  const compacted = done.some(({ kind }) => kind === "compact");
  const after = compacted ? stats.fragmentStats.numFragments : before.fragments;
  const built = new Set(
    done.map((action) => (action.kind === "compact" ? "" : action.index.kind === "fts" ? "text" : "scalar")),
  );
  const next: Remembered = {
    scalar: compacted || built.has("scalar") ? after : before.remembered.scalar,
    text: compacted || built.has("text") ? after : before.remembered.text,
  };
  await call(handle, "update", (table) =>
    table.updateFieldMetadata([
      { path: handle.spec.primaryKey[0], metadata: { [REMEMBERED]: `${next.scalar},${next.text}` } },
    ]),
  );
  await handle.settle();
}
