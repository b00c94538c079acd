/** One open table of the engine with what every call on it needs: retry, freshness, and words for errors. */
import type { Lance, LanceTable } from "../engine/lance.ts";
import type { WriterLock } from "../local/writer-lock.ts";
import type { MergeChoice } from "../engine/merge-choice.ts";
import type { OwnAppends } from "../engine/own-appends.ts";
import { type Attempted, type RetryPolicy, withRetry } from "../engine/retry.ts";
import type { TableSpec } from "../engine/spec.ts";

export interface Handle<S extends TableSpec = TableSpec> {
  readonly lance: Lance;
  readonly spec: S;
  readonly native: LanceTable;
  readonly policy: RetryPolicy;
  /** For messages; free of secrets. */
  readonly where: string;
  /** Where a local table lies; undefined for other stores. */
  readonly directory: string | undefined;
  /** Held by everyone who writes to it; undefined where none can be: object stores, disks of other machines. */
  readonly lock: WriterLock | undefined;
  readonly mergeChoice: MergeChoice;
  readonly ownAppends: OwnAppends;
  /** Makes everything committed so far survive a power cut; nothing to do on object stores. */
  readonly settle: () => Promise<void>;
  /** Makes an index anew that an error is about; false where it is about something else. */
  readonly mend: (error: unknown) => Promise<boolean>;
}

/** Work on a table that others may write to meanwhile, but not append to. */
export const besideMergers = <T>({ lock, policy }: Handle, run: () => Promise<T>): Promise<T> =>
  lock === undefined ? run() : lock.shared(policy.clock, run);

/**
 * Every call on a table goes through here. An index whose files are lost or damaged is derived data: it is made again, and
 * the call with it.
 */
export async function call<T>(
  handle: Handle,
  verb: string,
  run: (table: LanceTable) => Promise<T>,
): Promise<Attempted<T>> {
  // Each mended index is one less: it ends.
  for (;;)
    try {
      return await attempt(handle, verb, run);
    } catch (error) {
      if (!(await handle.mend(error))) throw error;
    }
}

/**
 * Files that were cleaned away under an open handle (another process compacted and an hour has passed) are a reason to
 * look for the newest version and try again.
 */
function attempt<T>(
  handle: Handle,
  verb: string,
  run: (table: LanceTable) => Promise<T>,
): Promise<Attempted<T>> {
  const { native, spec, where, policy } = handle;
  return withRetry(policy, {
    what: `${verb} ${spec.name}`,
    where,
    run: () => run(native),
    beforeRetry: async (fault) => {
      // A lost race is lost again on the same version, which an object store's handle keeps for seconds.
      if (fault === "stale" || fault === "conflict") await native.checkoutLatest().catch(() => undefined);
    },
  });
}
