/** Takes away what no version of a local table needs (spec.md#storage-no-garbage), before it is maintained. */
import { toPondError } from "../../base/errors.ts";
import { mayAppend } from "../handle/append.ts";
import { call, type Handle } from "../handle/handle.ts";
import { hasGarbage, removeGarbage } from "../local/garbage.ts";

/** Nobody writes a file for longer than that; also the age of what another machine may be writing. */
export const ABANDONED_MS = 24 * 3_600_000;

/**
 * Bytes that were removed. All of it by one who is alone with the table, which is tried once; where there is no lock, or
 * where older ponds may write without it, only files that have been there for a day.
 */
export async function cleanUp(handle: Handle, retentionMs: number): Promise<number> {
  const { directory, lock, policy } = handle;
  const now = policy.clock.now();
  try {
    if (directory === undefined || !(await hasGarbage(directory, now - retentionMs))) return 0;
    const draftsBefore = now - ABANDONED_MS;
    const old = { versionsBefore: undefined, filesBefore: now - ABANDONED_MS, draftsBefore };
    if (lock === undefined) return await removeGarbage(directory, old);
    const alone = await lock.exclusive(policy.clock, 0, async () => {
      await call(handle, "read", (table) => table.checkoutLatest());
      if (!(await mayAppend(handle))) return removeGarbage(directory, old);
      // Whatever is to stay must be on the disk before what it replaced goes.
      await handle.settle();
      return removeGarbage(directory, {
        versionsBefore: now - retentionMs,
        filesBefore: undefined,
        draftsBefore,
      });
    });
    return alone?.value ?? 0;
  } catch (error) {
    throw toPondError(error);
  }
}
