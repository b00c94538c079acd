/**
 * Is what is stored of a recorded state what was read (spec.md#sources-state)? What native restore gives back of it, hashed
 * as its reader hashed the source, must have the recorded digests. No source is needed for that.
 */
import type { Adapter, RecordHashes, StateDigest } from "../../adapters/index.ts";
import { digestOf } from "../../adapters/index.ts";
import { toPondError } from "../../base/errors.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import type { StateAsRead } from "../../sessions/index.ts";

export interface Proof {
  /** What does not hold; empty where the state is proven. */
  readonly faults: readonly string[];
  /** Absent where it cannot be restored. */
  readonly hashes?: RecordHashes;
}

/** Of a state that is not whole the digests prove nothing: it must be there and restorable. */
export async function proveState(
  { restore }: Adapter,
  head: StateHead,
  { state, damage }: StateAsRead,
): Promise<Proof> {
  if (damage.length > 0) return { faults: damage };
  if (restore.kind === "unsupported") return { faults: [] };
  let hashes: RecordHashes;
  try {
    hashes = await restore.hashes(state, head.form);
  } catch (error) {
    const { message } = toPondError(error);
    return { faults: [`session ${head.session_id} cannot be restored: ${message}`] };
  }
  if (!head.whole) return { faults: [], hashes };
  const difference = differenceOf(head, digestOf(hashes));
  return { faults: difference === undefined ? [] : [`${nameOf(head)}: ${difference}`], hashes };
}

/** How a state that was restored differs from the recorded one; undefined where it does not. */
export function differenceOf(recorded: StateDigest, restored: StateDigest): string | undefined {
  if (restored.records !== recorded.records)
    return `${recorded.records} records were read, ${restored.records} restore`;
  if (restored.digest !== recorded.digest)
    return "its records do not restore as they were read: their digests differ";
  if (restored.side !== recorded.side)
    return "what is stored beside its records does not restore as it was read: the digests differ";
  return undefined;
}

export function nameOf({ session_id, path, state }: StateHead): string {
  return `session ${session_id}, state ${state} of ${path}`;
}
