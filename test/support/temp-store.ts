/** A real store in a folder of its own that goes away with the test. */
import { openStore } from "../../src/substrate/index.ts";
import { SessionStore } from "../../src/sessions/index.ts";
import { tempDir } from "./temp-dir.ts";

export interface TempStore extends AsyncDisposable {
  readonly sessions: SessionStore;
  readonly path: string;
}

export async function tempStore(): Promise<TempStore> {
  const folder = await tempDir();
  const sessions = await SessionStore.open(await openStore(folder.path));
  return {
    sessions,
    path: folder.path,
    [Symbol.asyncDispose]: async () => {
      await sessions[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
