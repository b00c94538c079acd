/** A handler's context from a verb's: the settings in force, the machine, Ctrl-C. */
import type { Context } from "../handlers/index.ts";
import { createContext } from "../handlers/index.ts";
import type { VerbContext } from "./command.ts";

/** `await using context = await openContext(verb)`: the store closes with the verb. */
export async function openContext({
  config,
  env,
  out,
  signal,
}: Pick<VerbContext, "config" | "env" | "out" | "signal">): Promise<Context> {
  const onRepair = (message: string): void =>
    out.note(
      `note: the store was torn and went back to its last whole version (${message}); pond sync --verify reads every source again`,
    );
  const onTightened = (folder: string): void =>
    out.note(`note: other users of this machine could read ${folder}; it is private now`);
  return createContext({ config: await config(), machine: env, signal, onRepair, onTightened });
}
