/** What this machine remembers of the store at the configured address, without opening it. */
import { peekSessionStore } from "../sessions/peek.ts";
import { Cursors, rememberedStore } from "../state/index.ts";
import type { Context } from "./context.ts";

export interface Remembered {
  /** Under which the state folder keeps what belongs to this store. */
  readonly name: string;
  readonly cursors: Cursors;
}

/** Undefined when the store was not synced from here, or is another one by now. */
export async function rememberedSync({ config, address }: Context): Promise<Remembered | undefined> {
  const { state } = config.paths;
  const name = rememberedStore(state, address, await peekSessionStore(address.url, address.namespace));
  return name === undefined ? undefined : { name, cursors: Cursors.open(state, name) };
}
