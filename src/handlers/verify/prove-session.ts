/** Is all that is stored of a session what was read, by the digests of its states (spec.md#sources-state)? For repairs. */
import { clientNamed } from "../../adapters/registry.ts";
import type { SessionId } from "../../model/index.ts";
import type { StateViews } from "../../sessions/index.ts";
import type { Context } from "../context/context.ts";
import { changedRecords } from "./prove-lineage.ts";
import { proveState } from "./prove-state.ts";

/** Every row of it is of a state that restores with its recorded digests. `isAsked`: whether that is worth knowing. */
export async function isProven(
  context: Context,
  id: SessionId,
  isAsked: (views: StateViews) => boolean = () => true,
): Promise<boolean> {
  const views = await viewsOf(context, id);
  if (views === undefined || !views.history.isRecorded || !isAsked(views)) return false;
  if (views.everything().damage.length > 0) return false;
  const held = new Set<string>();
  for (const head of views.history.sources.flatMap(({ all }) => all)) {
    const adapter = clientNamed(context, head.adapter);
    if (adapter === undefined || !head.whole) return false;
    const view = views.view(head);
    if ((await proveState(adapter, head, view)).faults.length > 0) return false;
    for (const { message } of view.state.messages) held.add(message.id);
  }
  return views.everything().state.messages.every(({ message }) => held.has(message.id));
}

/** A state of it does not restore with its recorded digests. */
export async function isDisproven(context: Context, id: SessionId): Promise<boolean> {
  const views = await viewsOf(context, id);
  for (const head of views?.history.sources.flatMap(({ all }) => all) ?? []) {
    const adapter = clientNamed(context, head.adapter);
    if (views === undefined || adapter === undefined || !head.whole) continue;
    if ((await proveState(adapter, head, views.view(head))).faults.length > 0) return true;
  }
  return false;
}

/**
 * Its states (`source number`) that are not proven though every row that they name is there, and in a state that is; but for
 * those that later ones go on from.
 */
export async function redundantStates(context: Context, id: SessionId): Promise<ReadonlySet<string>> {
  const views = await viewsOf(context, id);
  const proven = new Set<string>();
  const unproven: { readonly name: string; readonly rows: readonly string[] }[] = [];
  for (const head of views?.history.sources.flatMap(({ all }) => all) ?? []) {
    const adapter = clientNamed(context, head.adapter);
    if (views === undefined || adapter === undefined) continue;
    const view = views.view(head);
    const rows = view.state.messages.map(({ message }) => message.id);
    const isSound = head.whole && (await proveState(adapter, head, view)).faults.length === 0;
    if (isSound) for (const row of rows) proven.add(row);
    else if (view.damage.length === 0 && !views.history.isBase(head))
      unproven.push({ name: `${head.source} ${head.state}`, rows });
  }
  return new Set(unproven.flatMap(({ name, rows }) => (rows.every((row) => proven.has(row)) ? [name] : [])));
}

/** Messages of its states that cannot be read, or do not restore with the hash that they were stored with. */
export async function changedMessages(context: Context, id: SessionId): Promise<readonly string[]> {
  const store = await context.store();
  const views = await store.views(id);
  if (views === undefined) return [];
  const changed = new Set(views.damagedMessages());
  for (const head of views.history.sources.flatMap(({ all }) => all)) {
    const adapter = clientNamed(context, head.adapter);
    if (adapter === undefined || !head.whole) continue;
    const { faults, hashes } = await proveState(adapter, head, views.view(head));
    if (faults.length === 0 || hashes === undefined) continue;
    const records = new Set(await changedRecords(store, id, hashes));
    for (const row of views.rowsOf(head)) if (records.has(row.record)) changed.add(row.id);
  }
  return [...changed];
}

/** A repair has the store open, and made what it had lost. */
async function viewsOf(context: Context, id: SessionId): Promise<StateViews | undefined> {
  return (await context.store()).views(id);
}
