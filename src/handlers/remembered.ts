/** What this machine remembers of the store at the configured address, without opening it. */
import { peekSessionStore } from "../sessions/peek.ts";
import type { StoreFacts } from "../state/index.ts";
import { Cursors, isSeenBefore, knownReaderId, rememberedStore } from "../state/index.ts";
import type { Context } from "./context.ts";

export interface Remembered {
  /** Under which the state folder keeps what belongs to this store. */
  readonly name: string;
  readonly cursors: Cursors;
}

/** What a look tells of the store: undefined where there is none. */
export function lookAt({ config }: Context): Promise<(StoreFacts & Marked) | undefined> {
  const { url, namespace, options } = config.values.storage;
  return peekSessionStore({ url, namespace, options }, knownReaderId(config.paths.state));
}

interface Marked {
  readonly marks: readonly string[];
}

/** `none`: the store was not synced from here. `gone back`: it was, and lacks what was stored then. */
export async function rememberedSync(context: Context): Promise<Remembered | "none" | "gone back"> {
  const { address } = context;
  const { state } = context.config.paths;
  const facts = await lookAt(context);
  if (facts === undefined || knownReaderId(state) === undefined) return "none";
  const name = rememberedStore(state, address, facts);
  if (name === undefined) return isSeenBefore(state, address, facts.id) ? "gone back" : "none";
  const cursors = Cursors.open(state, name);
  // Looked at again: another sync may have left its mark and moved the cursors between the first look and now.
  const isHeld = isMarked(cursors, facts) || isMarked(cursors, (await lookAt(context)) ?? NO_MARKS);
  return isHeld ? { name, cursors } : "gone back";
}

const NO_MARKS: Marked = { marks: [""] };

/** Cursors of an older pond have no mark; a reader that has left one since has others. */
function isMarked({ mark, size }: Cursors, { marks }: Marked): boolean {
  return mark === undefined ? marks.length === 0 || size === 0 : marks.includes(mark);
}
