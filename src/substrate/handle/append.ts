/**
 * Which tables may be appended to (spec.md#storage-append): those that everybody writes to under the table's lock. An
 * append is safe only beside nobody, because it does not notice what others commit.
 */
import { call, type Handle } from "./handle.ts";
import type { Arrow } from "../engine/lance.ts";
import type { TableSpec } from "../engine/spec.ts";

/**
 * When appends may begin, in milliseconds since 1970: in the schema's metadata of a table that was made by a pond that
 * takes the lock, on the first key column of one that was raised to such a version later, or NEVER. Without it: never.
 */
export const APPEND_FROM = "pond.append_from";
/** Somebody writes to it from where the lock does not reach. */
export const NEVER = "never";
/**
 * An older pond takes no lock, and refuses a table of a newer version only when it opens it. A process that had it open
 * before it was raised has ended by now: none runs for longer but servers, which older ponds have not.
 */
const OLDER_PROCESSES_END_MS = 24 * 3_600_000;

/** What a table says that is made now. */
export const appendFromTheStart = (): readonly [string, string] => [APPEND_FROM, "0"];

/** What a table says that is raised now to a version that older ponds refuse. */
export const appendAfterOlder = (now: number): string => String(now + OLDER_PROCESSES_END_MS);

export function appendFromOf(schema: Arrow.Schema, spec: TableSpec): string | undefined {
  const lead = schema.fields.find(({ name }) => name === spec.primaryKey[0]);
  return lead?.metadata.get(APPEND_FROM) ?? schema.metadata.get(APPEND_FROM);
}

/** Asked under the lock, at the newest version: someone may have said NEVER meanwhile. */
export async function mayAppend(handle: Handle): Promise<boolean> {
  const { value: schema } = await call(handle, "read", (table) => table.schema());
  const from = Number(appendFromOf(schema, handle.spec) ?? NaN);
  return handle.policy.clock.now() >= from;
}

/**
 * A local table that is reached over a network or a container's mount: others may have it on a disk of their own, and
 * would append beside these merges. Said once, before the first merge.
 */
export async function sayNever(handle: Handle): Promise<void> {
  const { value: schema } = await call(handle, "read", (table) => table.schema());
  const recorded = appendFromOf(schema, handle.spec);
  if (recorded === undefined || recorded === NEVER) return;
  const updates = [{ path: handle.spec.primaryKey[0], metadata: { [APPEND_FROM]: NEVER } }];
  await call(handle, "update", (table) => table.updateFieldMetadata(updates));
  await handle.settle();
}
