/** What this machine remembers of the store at the configured address, without opening it (spec.md#sync-marks). */
import { readdir } from "node:fs/promises";
import { errnoOf } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { displayUrl, isInMemory, peekSessionStore } from "../../sessions/peek.ts";
import type { LastSync, StoreFacts } from "../../state/index.ts";
import { Cursors, knownCursors, knownReaderId, lastSync } from "../../state/index.ts";
import type { Context } from "./context.ts";

export interface Remembered {
  /** Under which the state folder keeps what belongs to this store. */
  readonly name: string;
  readonly cursors: Cursors;
  /** False where it is not known yet what of all that was stored at this address the store lacks. */
  readonly isSettled: boolean;
}

/** What a look tells of the store: undefined where there is none. */
export function inspectStore({ config }: Context): Promise<(StoreFacts & Marked) | undefined> {
  const { url, namespace, options } = config.values.storage;
  return peekSessionStore({ url, namespace, options }, knownReaderId(config.paths.state));
}

interface Marked {
  readonly marks: readonly string[];
}

/**
 * `none`: the store was not synced from here. `gone back`: it was, and lacks what was stored then. `gone`: one was synced
 * from here, and there is none. `unnamed`: there is one, and no identity to tell whether it is that one. What an earlier
 * look remembered is used again as long as nobody has written to it.
 */
export async function rememberedSync(
  context: Context,
  before?: Remembered,
): Promise<Remembered | "none" | "gone back" | "gone" | "unnamed"> {
  const { state } = context.config.paths;
  const facts = await inspectStore(context);
  if (facts === undefined) return await absenceOf(context);
  if (knownReaderId(state) === undefined) return "none";
  const known = knownCursors(state, context.address).filter(({ id }) => id === facts.id);
  if (known.length === 0) return "none";
  const opened = new Map<string, Cursors>();
  // Of a log with many sources the second reading costs as much as the first.
  if (before?.cursors.isCurrent() === true) opened.set(before.name, before.cursors);
  const heldIn = (look: StoreFacts & Marked): Remembered | undefined => {
    // A copy that was there before may be back: then the cursors of then hold.
    for (const { name, isSettled, isContinuedBy } of known) {
      if (!isContinuedBy(look)) continue;
      const cursors = opened.get(name) ?? Cursors.open(state, name);
      opened.set(name, cursors);
      if (isMarked(cursors, look)) return { name, cursors, isSettled };
    }
    return undefined;
  };
  const held = heldIn(facts);
  if (held !== undefined) return held;
  // Looked at again: another sync may have left its mark and moved the cursors between the first look and now.
  const again = await inspectStore(context);
  return (again && heldIn(again)) ?? "gone back";
}

/** Cursors of an older pond have no mark; a reader that has left one since has others. */
function isMarked({ mark, size }: Cursors, { marks }: Marked): boolean {
  return mark === undefined ? marks.length === 0 || size === 0 : marks.includes(mark);
}

/** True where a store was synced to at the address, and none is there. To be asked where none could be looked at. */
export async function isGone(context: Context): Promise<boolean> {
  return (await absenceOf(context)) === "gone";
}

/** Why nothing can be told of a store: tables without the one of its identity are a store that lost it. */
async function absenceOf({ config, address }: Context): Promise<"none" | "gone" | "unnamed"> {
  if (isInMemory(address.url) || knownCursors(config.paths.state, address).length === 0) return "none";
  if (address.folder === undefined) return "gone";
  try {
    const tables = (await readdir(address.folder)).filter((name) => name.endsWith(".lance"));
    if (tables.length === 0) return "gone";
    // One that is there and cannot be read is damaged.
    return tables.includes("pond_store.lance") ? "none" : "unnamed";
  } catch (error) {
    return errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR" ? "gone" : "none";
  }
}

export const goneMessage = ({ address }: Context): string =>
  `the store that was at ${displayUrl(address.url)} is gone: its disk is not mounted, or it was moved or deleted`;

export const GONE_FIX = sentence`mount it or move it back, or set storage.url to where it is now; ${{ do: "sync" }} makes a new one from the sources on this machine`;

/** The last sync to the store that is at the address, or was; to whatever copy of it. */
export function lastSyncHere({ config, address }: Context, id: string | undefined): LastSync | undefined {
  const { state } = config.paths;
  for (const known of knownCursors(state, address)) {
    const last = id === undefined || known.id === id ? lastSync(state, known.name) : undefined;
    if (last !== undefined) return last;
  }
  return undefined;
}
